//! The arguments of a call. The parser of HTTP bodies reads them.

use coord_protocol::tool_names::{CHECK_STATUS, POST_STATUS};
use coord_protocol::{CheckRequest, PostRequest};

use coord_http::body::{parse_check, parse_post};
use coord_server::error::ApiError;

/// The arguments of a tool of the core.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// Arguments of `check_status`.
    Check(CheckRequest),
    /// Arguments of `post_status`.
    Post(PostRequest),
}

impl Arguments {
    /// Reads the `arguments` of the tool `name`, a JSON object. `None` if the core has no such tool.
    ///
    /// # Errors
    /// When the arguments do not have the shape of the tool's request.
    pub fn read(name: &str, arguments: &str) -> Option<Result<Arguments, ApiError>> {
        Some(match name {
            CHECK_STATUS => parse_check(arguments.as_bytes()).map(Arguments::Check),
            POST_STATUS => parse_post(arguments.as_bytes()).map(Arguments::Post),
            _ => return None,
        })
    }
}
