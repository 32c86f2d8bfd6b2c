//! Shared by the commands that run in a working copy and call a server: `coord mcp`, `coord hook`, `coord claim` and
//! the like.
//!
//! - [`options`]: the server, token, branch and agent of a command
//! - [`local_server`]: the `coord serve` of a repository, started if none runs
//! - [`connection`]: the client of the server; [`rivals`]: other clones with their own servers
//! - [`work`]: requests, filled in with data from git
//! - [`session`]: the `agent_id` that all processes of one conversation of an agent share; [`conversations`]: the
//!   conversations, and their processes; [`ancestors`]: the processes above this one; [`holder_ids`],
//!   [`process_sessions`]: ids, and the files of sessions without a conversation
//! - [`session_notes`]: the session's task, and its working copies
//! - [`workplace`]: a working copy and its server, for commands of people and scripts; [`files`]: the files that a
//!   person names; [`exit_status`]: exit statuses
//! - [`changes`]: changes that are not pushed; [`pushed`]: pushes that a remote reports; [`next_command`]: the git
//!   command for PULL or PUSH
//! - [`contents`]: hashes of the files that git would commit, and of committed files
//! - [`intents`]: converts intents between responses, files and requests
//! - [`ledger`]: reads the ledger of a server, page by page
//! - [`person`]: actions that only a person may take, at a terminal
//! - [`file_content`]: hashes of files; [`seen_content`]: content that the session has read and written
//! - [`mail_notes`]: the session's teams, and the messages that its model has received
//! - [`tree_state`]: the state of all files of a working copy, for a comparison
//! - [`spool`]: records that were not sent yet
//! - [`interfaces`]: the interface of a file, on the branch and in the working copy; [`hot_files`]: files that many
//!   agents change
//! - [`git`]: runs git; [`git_hooks`]: the hooks that git runs, and their managers
//! - [`announcement`]: the file by which a server is found; [`store_location`], [`clone_list`]: where the locks of a
//!   clone are stored, and the other clones of its repository; [`machine`]: the machine, container or sandbox in which
//!   this process runs
//! - [`private_folder`], [`user_state`]: files that other users cannot change, and the user's own folder for state
//! - [`terminal`], [`stdout`], [`outcome`]: output; [`signals`]: signals that end a process; [`waiter`]: the process
//!   that waits for a session

pub mod ancestors;
pub mod announcement;
pub mod changes;
pub mod clone_list;
pub mod confirmed;
pub mod connection;
pub mod contents;
pub mod conversations;
pub mod exit_status;
pub mod file_content;
pub mod files;
pub mod git;
pub mod git_hooks;
pub mod holder_ids;
pub mod hot_files;
pub mod intents;
pub mod interfaces;
pub mod ledger;
pub mod local_server;
mod machine;
pub mod mail_notes;
pub mod next_command;
pub mod options;
pub mod outcome;
pub mod person;
pub mod private_folder;
mod process_sessions;
pub mod pushed;
pub mod rivals;
pub mod seen_content;
pub mod session;
pub mod session_notes;
pub mod signals;
pub mod spool;
pub mod stdout;
pub mod store_location;
pub mod terminal;
pub mod tree_state;
pub mod user_state;
pub mod waiter;
pub mod work;
pub mod workplace;
