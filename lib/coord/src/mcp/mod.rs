//! MCP (Model Context Protocol): the operations of agents as tools. One POST is one JSON-RPC request; nothing is remembered between two.
//!
//! - `serve`: one request, by the official SDK; `server`: what that asks of us
//! - `tools`: `check_status` and `post_status`; `schema`: their schemas, made of the HTTP types; `results`: their results
//! - `resources`: locks, activity and graph, by URI
//! - `instructions`: the rules that agents get when they connect, and the prompt `coordinate`
//!
//! `lib/coord/src/http/endpoint/mcp.rs` authenticates a request before it comes here, and gives the SDK no header that could hold a secret.

mod instructions;
mod resources;
mod results;
mod schema;
mod serve;
mod server;
mod tools;

pub use serve::Session;

use futures::FutureExt;

use crate::http::Protocol;

/// What answers `/api/mcp`, as an extension of the router.
pub fn protocol() -> Protocol {
    Protocol(|session, request| serve::serve(session, request).boxed())
}
