//! The core tools of the plugin opencode-teams, by its names, parameters and results. Each is a few requests of HTTP, which a server
//! answers by its operations, and `coord mcp` by its server: no rule of teams is here.
//!
//! - `tools`: the tools, as they are registered; `call`: their arguments; `answer`, `tool_answer`: their answers
//! - `board`: requests and their caller; `teams`, `tasks`, `messages`: the requests of each tool
//! - `records`: answers of HTTP as the plugin's records; [`plugin_records`]: those of its files
//! - `refusal`: refusals, by the plugin's sentences and names of parameters

mod answer;
mod board;
mod call;
mod messages;
pub mod plugin_records;
mod records;
mod refusal;
mod tasks;
mod teams;
mod tool_answer;
mod tools;

pub use answer::{answer, refusal};
pub use board::{Defaults, Refused, Requests};
pub use call::OpenCodeCall;
pub use tool_answer::OpenCodeAnswer;
pub use tools::OPENCODE;
