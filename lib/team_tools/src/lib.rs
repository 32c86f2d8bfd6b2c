//! The tools and resources of teams, for agents that speak MCP.
//!
//! - `tools`: their definitions; [`read_call`]: their arguments; `calls`: their operations

mod arguments;
mod calls;
mod tools;

pub use arguments::read_call;
pub use calls::answer;
pub use tools::{MESSAGES, TASKS, TEAMS};
