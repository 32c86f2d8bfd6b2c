//! The arguments of a call. The parser of HTTP bodies reads them.

use coord_http::body::parse;
use coord_protocol::team_tools::{
    ClaimTaskCall, CreateTasksCall, ListTasksCall, MissingField, ReadMessagesCall, SendMessageCall, TeamCall,
    TeamToolCall, UpdateTaskCall,
};
use coord_protocol::tool_names;
use coord_server::error::ApiError;

/// Reads the `arguments` of the tool `name`, a JSON object. `None` if no tool of teams has this name.
///
/// # Errors
/// When the arguments do not have the shape of the tool's request.
pub fn read_call(name: &str, arguments: &str) -> Option<Result<TeamCall, ApiError>> {
    let read: fn(&[u8]) -> Result<TeamCall, ApiError> = match name {
        tool_names::TEAM => |json| parse::<TeamToolCall>(json)?.into_call().map_err(missing_field),
        tool_names::TASK_CREATE => |json| Ok(parse::<CreateTasksCall>(json)?.into_call()),
        tool_names::TASK_LIST => |json| Ok(parse::<ListTasksCall>(json)?.into_call()),
        tool_names::TASK_CLAIM => |json| Ok(parse::<ClaimTaskCall>(json)?.into_call()),
        tool_names::TASK_UPDATE => |json| parse::<UpdateTaskCall>(json)?.into_call().map_err(missing_field),
        tool_names::MESSAGE_SEND => |json| Ok(parse::<SendMessageCall>(json)?.into_call()),
        tool_names::MESSAGE_READ => |json| Ok(parse::<ReadMessagesCall>(json)?.into_call()),
        _ => return None,
    };
    Some(read(arguments.as_bytes()))
}

fn missing_field(MissingField(field): MissingField) -> ApiError {
    ApiError::invalid_field(field, "is required")
}
