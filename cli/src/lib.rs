//! The binary `coord`: its command line ([`cli`]) and its [`commands`]. The commands of the server, of hooks, teams and
//! intents are in separate crates.

pub mod cli;
pub mod commands;
