//! The tools of MCP for teams, tasks and messages: their arguments, the request of HTTP for which each call stands, and what is
//! answered.

mod answer;
mod arguments;
mod call;

pub use answer::TeamAnswer;
pub use arguments::*;
pub use call::{HistoryCall, MissingField, TeamCall};
