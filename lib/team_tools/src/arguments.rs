//! The arguments of a call, read by the parser of HTTP bodies.

use coord_http::body::parse;
use coord_protocol::team_tools::{
    ClaimTaskCall, CreateTasksCall, ListTasksCall, MissingField, ReadMessagesCall, SendMessageCall, TeamCall,
    TeamToolCall, UpdateTaskCall,
};
use coord_protocol::tool_names;
use coord_server::error::ApiError;

/// The request that a call of the tool `name` with `arguments`, a JSON object, stands for. `None` if it is no tool of teams.
///
/// # Errors
/// When the arguments are not of the shape of the tool's request.
pub fn read_call(name: &str, arguments: &str) -> Option<Result<TeamCall, ApiError>> {
    let read: fn(&[u8]) -> Result<TeamCall, ApiError> = match name {
        tool_names::TEAM => |sent| parse::<TeamToolCall>(sent)?.into_call().map_err(is_required),
        tool_names::TASK_CREATE => |sent| Ok(parse::<CreateTasksCall>(sent)?.into_call()),
        tool_names::TASK_LIST => |sent| Ok(parse::<ListTasksCall>(sent)?.into_call()),
        tool_names::TASK_CLAIM => |sent| Ok(parse::<ClaimTaskCall>(sent)?.into_call()),
        tool_names::TASK_UPDATE => |sent| parse::<UpdateTaskCall>(sent)?.into_call().map_err(is_required),
        tool_names::MESSAGE_SEND => |sent| Ok(parse::<SendMessageCall>(sent)?.into_call()),
        tool_names::MESSAGE_READ => |sent| Ok(parse::<ReadMessagesCall>(sent)?.into_call()),
        _ => return None,
    };
    Some(read(arguments.as_bytes()))
}

fn is_required(MissingField(field): MissingField) -> ApiError {
    ApiError::InvalidField {
        field,
        problem: "is required".to_owned(),
    }
}
