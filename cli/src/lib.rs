//! The binary `coord`: its command line ([`cli`]) and its [`commands`].

pub mod cli;
pub mod commands;
mod stdout;
