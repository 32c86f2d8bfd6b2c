//! The tools of the plugin opencode-teams, as `coord mcp --tools opencode` offers them.

mod board;
mod replay;
#[path = "../../../../lib/teams/tests/files/runs/mod.rs"]
mod runs;
mod session;
