//! The binary `coord`: its command line ([`cli`]) and its [`commands`], of which those of agents share [`agent`];
//! `terminal` is the output for people.

pub mod agent;
mod announcement;
pub mod cli;
mod clone_list;
pub mod commands;
mod git;
mod machine;
mod private_folder;
mod stdout;
mod store_location;
mod terminal;
mod user_state;

/// Lets repositories be read by git where nothing else can.
pub fn read_with_git() {
    coord_git::set_git(git::ask);
}
