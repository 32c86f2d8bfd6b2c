//! The arguments of a call, read by the parser of HTTP bodies.

use coord_protocol::{CheckRequest, PostRequest, SelectIntentCall, UpdateIntentCall};

use super::tools::Tool;
use crate::error::ApiError;
use crate::http::body::parse;

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
}

impl Arguments {
    /// Reads `arguments`, a JSON object.
    ///
    /// # Errors
    /// When they are not of the shape of the tool's request.
    pub fn read(tool: Tool, arguments: &str) -> Result<Arguments, ApiError> {
        match tool {
            Tool::CheckStatus => parse(arguments.as_bytes()).map(Arguments::Check),
            Tool::PostStatus => parse(arguments.as_bytes()).map(Arguments::Post),
            Tool::SelectActiveIntent => parse(arguments.as_bytes()).map(Arguments::Select),
            Tool::UpdateIntent => parse(arguments.as_bytes()).map(|sent| Arguments::Update(Box::new(sent))),
        }
    }
}
