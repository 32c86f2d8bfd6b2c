//! The binary `coord`: its command line ([`cli`]) and its [`commands`]. The commands of the server, of hooks, teams and
//! intents are in separate crates.

pub mod cli;
pub mod commands;

/// Registers git as the reader of repositories that gix cannot read.
pub fn enable_git_fallback() {
    coord_git::register_git(coord_agent::git::ask);
}
