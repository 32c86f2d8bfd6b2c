//! What runs on an agent's machine: the working copy, the session, and the commands that ask a server.

mod commands;
mod eight_agents;
mod eight_with_intents;
mod files;
mod guard;
mod hook;
mod idle;
mod init;
mod mcp;
mod session;
mod team_files;
mod working_copy;
mod world;
