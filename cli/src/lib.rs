//! The binary `coord`: its command line ([`cli`]) and its [`commands`]. Those of the server, of hooks, teams and intents are separate crates.

pub mod cli;
pub mod commands;

/// Lets repositories be read by git where nothing else can.
pub fn read_with_git() {
    coord_git::set_git(coord_agent::git::ask);
}
