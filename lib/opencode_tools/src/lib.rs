//! The core tools of the plugin opencode-teams, with its names, parameters and results. Each tool makes a few HTTP
//! requests. A server runs its own operations for them, and `coord mcp` asks its server. No rule of teams is here.
//!
//! - `tools`: the tool definitions; `call`: their arguments; `answer`, `tool_answer`: their answers
//! - `team_client`: requests and their caller; `teams`, `tasks`, `messages`: the requests of each tool
//! - `records`: HTTP responses as the plugin's records; [`plugin_records`]: records for its files
//! - `refusal`: refusals, in the plugin's sentences and with its parameter names

mod answer;
mod call;
mod messages;
pub mod plugin_records;
mod records;
mod refusal;
mod tasks;
mod team_client;
mod teams;
mod tool_answer;
mod tools;

pub use answer::{answer, refusal};
pub use call::OpenCodeCall;
pub use team_client::{Defaults, Refused, Requests};
pub use tool_answer::OpenCodeAnswer;
pub use tools::OPENCODE;
