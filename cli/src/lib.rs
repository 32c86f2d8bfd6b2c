//! The binary `coord`: its command line ([`cli`]) and its [`commands`], of which those of agents share
//! [`agent`]; `terminal` is what people see.

pub mod agent;
mod announcement;
pub mod cli;
pub mod commands;
mod git;
mod private_folder;
mod stdout;
mod store_place;
mod terminal;
