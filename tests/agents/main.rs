//! Tests of an agent's machine: the working copy, the session, and the commands that ask a server.

mod clones;
mod commands;
mod eight_agents;
mod eight_with_intents;
mod eight_with_tasks;
mod files;
mod gone;
mod guard;
mod hook;
mod idle;
mod init;
mod mcp;
mod message_costs;
mod named_commands;
mod other_place;
mod other_store;
mod pushed;
mod read_by_git;
mod removed_folder;
mod served_name;
mod session;
mod taken_address;
mod team_files;
mod working_copy;
mod worktree_agent;
