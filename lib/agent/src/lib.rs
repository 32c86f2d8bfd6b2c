//! Shared by the commands on a machine: `coord mcp`, `coord hook`, `coord claim` and the like, which run in a working copy and call
//! a server.
//!
//! - [`options`]: which server, with which token, for which branch, as whom
//! - [`local_server`]: the `coord serve` of a repository, started if none runs
//! - [`connection`]: the client of the server; [`rivals`]: other clones with their own servers
//! - [`work`]: requests, with everything filled in that git knows
//! - [`session`]: the `agent_id` that all processes of one conversation of an agent share; [`conversations`]: which conversations there
//!   are, and in which processes; `ancestors`: the processes above this one; [`holder_ids`], [`process_sessions`]: ids, and the files
//!   of sessions without a conversation
//! - [`session_notes`]: the session's task, and its working copies
//! - [`workplace`]: a working copy and its server, for commands of people and scripts; [`files`]: the files that they name;
//!   [`exit_status`]: how they end
//! - [`changes`]: changes that are not pushed; [`pushed`]: pushes that a remote reports; [`next_command`]: the command of PULL or
//!   PUSH that works here
//! - [`contents`]: hashes of the files that git would commit, and of committed ones
//! - [`intents`]: intents of the wire as those of the files, and changes of one as a request
//! - [`ledger`]: the ledger that a server gives, page by page
//! - [`person`]: acts that take a person, at a terminal
//! - [`file_content`]: hashes of files; [`seen_content`]: content that the session has read and written
//! - [`mail_notes`]: the session's teams, and the messages that its model has
//! - [`tree_state`]: all files of a working copy at one time, for a comparison
//! - [`spool`]: records that were not sent yet
//! - [`interfaces`]: the interface of a file, on the branch and here; [`hot_files`]: files that many agents change
//! - [`git`]: runs git; [`git_hooks`]: the hooks that git runs, and their managers
//! - [`announcement`]: the file by which a server is found; [`store_location`], [`clone_list`]: where the locks of a clone are kept, and the
//!   other clones of its repository; [`machine`]: the machine, container or sandbox that this process runs in
//! - [`private_folder`], [`user_state`]: files that other users cannot change, and the folder of the user's own
//! - [`terminal`], [`stdout`], [`outcome`]: output; [`signals`]: what ends a process

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
pub mod machine;
pub mod mail_notes;
pub mod next_command;
pub mod options;
pub mod outcome;
pub mod person;
pub mod private_folder;
pub mod process_sessions;
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
