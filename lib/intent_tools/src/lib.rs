//! The tools and resources of intents and their ledger, for agents that speak MCP.
//!
//! - `tools`: their definitions; `calls`: their operations

mod calls;
mod tools;

pub use calls::IntentCall;
pub use tools::{INTENT_TOOLS, INTENTS};
