//! The MCP tools for teams, tasks and messages: their arguments, the HTTP request of each call, and the responses.

mod answer;
mod arguments;
mod call;

pub use answer::TeamCallResponse;
pub use arguments::*;
pub use call::{HistoryCall, MissingField, TeamCall};
