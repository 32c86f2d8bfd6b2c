//! The caller of one request over HTTP.

use std::sync::Arc;

use super::tools::ToolGroup;
use crate::app::App;
use crate::auth::Caller;

/// The caller of one request.
pub struct Session {
    /// The `App` of the operations.
    pub(crate) app: Arc<App>,
    /// The caller.
    pub(crate) caller: Caller,
    /// The header `X-Coord-Agent`.
    pub(crate) agent: Option<String>,
    /// The tools that it is offered.
    pub(crate) groups: Vec<ToolGroup>,
}
