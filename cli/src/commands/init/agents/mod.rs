//! The agents that `coord init` supports, a file each: configuration files, written entries, and hooks.

mod agent;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
pub mod handler;
mod opencode;
mod vscode;

#[cfg(test)]
pub use agent::mcp_server;
pub use agent::{Agent, Attempt, Event, Hooks, TargetFolders};
#[cfg(test)]
pub use codex::server as codex_server;
#[cfg(test)]
pub use copilot::plugin_server as copilot_server;

/// Every agent, in the order in which it is shown.
pub static AGENTS: [&Agent; 7] = [
    &claude_code::AGENT,
    &codex::AGENT,
    &cursor::AGENT,
    &gemini::AGENT,
    &copilot::AGENT,
    &opencode::AGENT,
    &vscode::AGENT,
];
