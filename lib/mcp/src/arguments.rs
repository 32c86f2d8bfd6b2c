//! The arguments of a call, read by the parser of HTTP bodies.

use coord_protocol::tool_names::{CHECK_STATUS, POST_STATUS};
use coord_protocol::{CheckRequest, PostRequest};

use coord_http::body::{parse_check, parse_post};
use coord_server::error::ApiError;

/// The request that a call of a tool of the heart stands for.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// Of `check_status`.
    Check(CheckRequest),
    /// Of `post_status`.
    Post(PostRequest),
}

impl Arguments {
    /// Reads the `arguments` of the tool `name`, a JSON object. `None` if it is none of these tools.
    ///
    /// # Errors
    /// When they are not of the shape of the tool's request.
    pub fn read(name: &str, arguments: &str) -> Option<Result<Arguments, ApiError>> {
        Some(match name {
            CHECK_STATUS => parse_check(arguments.as_bytes()).map(Arguments::Check),
            POST_STATUS => parse_post(arguments.as_bytes()).map(Arguments::Post),
            _ => return None,
        })
    }
}
