//! The caller of an authenticated request of MCP.

use std::sync::Arc;

use coord_auth::Caller;
use coord_server::app::App;

/// The caller of one request, and what the request works with.
pub struct Session {
    /// The `App` of the operations.
    pub app: Arc<App>,
    pub caller: Caller,
    /// The header `X-Coord-Agent`.
    pub agent: Option<String>,
}
