//! MCP (Model Context Protocol): the operations of agents as tools. One POST is one JSON-RPC request; nothing is remembered between two.
//!
//! - `server`: what the SDK asks of us; [`Offer`]: what it offers, by a deployment or by `coord mcp`
//! - `serve`: one request over HTTP
//! - [`ToolSet`]: the tools, resources and rules that an extension registers; `tools`: those of the heart
//! - `schema`: schemas, made of the HTTP types; [`Arguments`]; `operations`: calls; `results`, `teams`: results; `order`: of their members
//! - `resource_list`, `resources`, `contents`: locks, activity and graph, by URI
//! - `instructions`: the rules that agents get when they connect, and the prompt `coordinate`
//!
//! `lib/http/src/endpoint/mcp.rs` authenticates a request before it comes here, and gives the SDK no header that could hold a secret.
//! `coord mcp` answers the same server over stdio, by calls of a deployment.

mod arguments;
mod contents;
mod instructions;
mod offer;
mod operations;
mod order;
mod resource_list;
mod resources;
mod results;
mod schema;
mod serve;
mod server;
mod teams;
mod tool_set;
mod tools;

pub use arguments::Arguments;
pub use contents::{as_json, query};
pub use coord_http::{Session, ToolGroup};
pub use instructions::rules;
pub use offer::Offer;
pub use operations::result_of;
pub use order::in_order;
pub use resource_list::{GRAPH, JSON, LOCKS};
pub use resources::{Resource, as_json_rpc, no_such_resource};
pub use results::Outcome;
pub use schema::{arguments_of, of_results};
pub use serve::serve;
pub use server::{RulesFile, SdkRequest, Server, ToolSelection};
pub use teams::{author, message_line, missed_line, only_team};
pub use tool_set::{CallResult, ResourceType, Tool, ToolSet, ToolSets};
pub use tools::annotations;
