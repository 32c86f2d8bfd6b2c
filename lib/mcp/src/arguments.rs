//! The arguments of a call, read by the parser of HTTP bodies.

use coord_protocol::team_tools::{
    ClaimTaskCall, CreateTasksCall, ListTasksCall, MissingField, ReadMessagesCall, SendMessageCall, TeamCall,
    TeamToolCall, UpdateTaskCall,
};
use coord_protocol::{CheckRequest, PostRequest, SelectIntentCall, UpdateIntentCall};

#[cfg(feature = "teams")]
use super::opencode::OpenCodeCall;
use super::tools::Tool;
use coord_http::body::{parse, parse_check, parse_post};
use coord_server::error::ApiError;

/// The request that a call of a tool stands for.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// Of `check_status`.
    Check(CheckRequest),
    /// Of `post_status`.
    Post(PostRequest),
    /// Of `select_active_intent`.
    Select(SelectIntentCall),
    /// Of `update_intent`.
    Update(Box<UpdateIntentCall>),
    /// Of the tools of teams.
    Team(Box<TeamCall>),
    /// Of the tools of the plugin opencode-teams.
    #[cfg(feature = "teams")]
    OpenCode(Box<OpenCodeCall>),
}

impl Arguments {
    /// Reads `arguments`, a JSON object.
    ///
    /// # Errors
    /// When they are not of the shape of the tool's request.
    pub fn read(tool: Tool, arguments: &str) -> Result<Arguments, ApiError> {
        match tool {
            Tool::CheckStatus => parse_check(arguments.as_bytes()).map(Arguments::Check),
            Tool::PostStatus => parse_post(arguments.as_bytes()).map(Arguments::Post),
            Tool::SelectActiveIntent => parse(arguments.as_bytes()).map(Arguments::Select),
            Tool::UpdateIntent => parse(arguments.as_bytes()).map(|sent| Arguments::Update(Box::new(sent))),
            #[cfg(feature = "teams")]
            Tool::OpenCode(tool) => {
                OpenCodeCall::read(tool, arguments.as_bytes()).map(|call| Arguments::OpenCode(Box::new(call)))
            }
            Tool::Team
            | Tool::TaskCreate
            | Tool::TaskList
            | Tool::TaskClaim
            | Tool::TaskUpdate
            | Tool::MessageSend
            | Tool::MessageRead => team_call(tool, arguments.as_bytes()).map(|call| Arguments::Team(Box::new(call))),
        }
    }
}

fn team_call(tool: Tool, arguments: &[u8]) -> Result<TeamCall, ApiError> {
    let call = match tool {
        Tool::Team => parse::<TeamToolCall>(arguments)?.into_call(),
        Tool::TaskList => Ok(parse::<ListTasksCall>(arguments)?.into_call()),
        Tool::TaskCreate => Ok(parse::<CreateTasksCall>(arguments)?.into_call()),
        Tool::TaskClaim => Ok(parse::<ClaimTaskCall>(arguments)?.into_call()),
        Tool::TaskUpdate => parse::<UpdateTaskCall>(arguments)?.into_call(),
        Tool::MessageSend => Ok(parse::<SendMessageCall>(arguments)?.into_call()),
        Tool::MessageRead => Ok(parse::<ReadMessagesCall>(arguments)?.into_call()),
        _ => return Err(ApiError::Internal),
    };
    call.map_err(|MissingField(field)| ApiError::InvalidField {
        field,
        problem: "is required".to_owned(),
    })
}
