//! The tools of the plugin opencode-teams, as `coord mcp --tools opencode` offers them.

mod board;
mod replay;
mod session;

pub use board::without_times;
