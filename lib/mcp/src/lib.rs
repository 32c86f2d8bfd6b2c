//! MCP (Model Context Protocol): the operations of agents as tools. One POST is one JSON-RPC request; nothing is remembered between two.
//!
//! - `server`: what the SDK asks of us; [`Offer`]: what it offers, by a deployment or by `coord mcp`
//! - `serve`: one request over HTTP
//! - `tools`: `check_status` and `post_status`; `schema`: their schemas, made of the HTTP types; [`Arguments`]; `operations`: their
//!   calls, of extensions `intent_calls` and `team_calls`; `results`, `teams`: their results; `order`: of their members
//! - [`opencode`]: the tools of the plugin opencode-teams, in place of those of teams
//! - `resource_list`, `resources`: locks, activity and graph, by URI
//! - `instructions`: the rules that agents get when they connect, and the prompt `coordinate`
//!
//! `lib/http/src/endpoint/mcp.rs` authenticates a request before it comes here, and gives the SDK no header that could hold a secret.
//! `coord mcp` answers the same server over stdio, by calls of a deployment.

mod arguments;
mod instructions;
#[cfg(feature = "intents")]
mod intent_calls;
mod offer;
#[cfg(feature = "teams")]
pub mod opencode;
mod operations;
mod order;
#[cfg(feature = "teams")]
pub mod plugin_records;
mod resource_list;
mod resources;
mod results;
mod schema;
mod serve;
mod server;
#[cfg(feature = "teams")]
mod team_calls;
mod teams;
mod tools;

pub use arguments::Arguments;
pub use instructions::rules;
pub use offer::Offer;
pub use order::in_order;
pub use resource_list::JSON;
pub use resources::{Resource, as_json_rpc, no_such_resource};
pub use results::Outcome;
pub use server::{RulesFile, SdkRequest, Server, ToolSelection};
pub use teams::{author, message_line, missed_line, only_team};
pub use tools::Tool;

use futures::FutureExt;

use coord_http::Protocol;
pub use coord_http::{Session, ToolGroup};

/// The handler of `/api/mcp`, as an extension of the router.
pub fn protocol() -> Protocol {
    Protocol(|session, request| serve::serve(session, request).boxed())
}
