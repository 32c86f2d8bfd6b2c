//! MCP (Model Context Protocol): the operations of agents as tools. One POST is one JSON-RPC request. The server keeps
//! nothing between two requests.
//!
//! - `server`: the SDK's requests; [`ToolHost`]: whether a deployment or `coord mcp` runs the tools
//! - `serve`: one request over HTTP
//! - [`ToolSet`]: the tools, resources and rules that an extension registers; `tools`: the tools of the core
//! - `tool_selection`: the tools that a caller selects
//! - `schema`: schemas from the HTTP types; [`Arguments`]; `operations`: calls
//! - `results`, `teams`: results; `order`: the order of their members
//! - `resource_list`, `resources`, `contents`: locks, activity and graph, by URI
//! - `instructions`: the rules that agents get when they connect, and the prompt `coordinate`
//!
//! `lib/http/src/endpoint/mcp.rs` authenticates a request first, and gives the SDK no header that may hold a secret.
//! `coord mcp` runs the same server over stdio, and calls a deployment.

mod arguments;
mod contents;
mod instructions;
mod operations;
mod order;
mod resource_list;
mod resources;
mod results;
mod schema;
mod serve;
mod server;
mod teams;
mod tool_host;
mod tool_selection;
mod tool_set;
mod tools;

pub use arguments::Arguments;
pub use contents::{as_json, parse_query};
pub use coord_http::Session;
pub use instructions::rules;
pub use operations::call_result;
pub use order::in_order;
pub use resource_list::{GRAPH, JSON, LOCKS};
pub use resources::{Resource, no_such_resource, to_json_rpc_error};
pub use results::Outcome;
pub use schema::{argument_schema, result_schema};
pub use serve::serve;
pub use server::{RulesFile, SdkRequest, Server, ToolSelection};
pub use teams::{author, message_line, missed_line};
pub use tool_host::ToolHost;
pub use tool_set::{CallResult, ResourceType, SelectableGroup, Tool, ToolGroup, ToolSet, ToolSets};
pub use tools::annotations;
