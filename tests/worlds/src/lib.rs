//! Worlds in which tests and benches run agents.
//!
//! - [`world`]: a developer's machine: a clone with a remote, worktrees, and the binary `coord`; [`hook_forms`]: the events of each
//!   agent program; [`fake_server`]: a server that notes the requests of hooks
//! - [`contest`]: an hour of agents that contend for files, by the scripts and a simulated clock
//! - [`script_agent`]: an agent that calls the scripts itself
//! - [`replay`]: a real history, replayed by agents against the handlers, by a simulated clock

pub mod contest;
pub mod fake_server;
pub mod hook_forms;
pub mod replay;
pub mod script_agent;
pub mod world;
