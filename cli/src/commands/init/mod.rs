//! `coord init`: writes the configuration that the agents of a repository need, and removes it again.
//!
//! - `args`, `run`: the options, and the steps: plan, show, ask, write, check; `next_steps`: those of the user
//! - `agents`: each agent's files and hooks, a file each; `detect`: the agents that are used here
//! - `texts`: the rules for `AGENTS.md` and the like, and the skill; `settings`: `git config`
//! - `guard`: the hooks of git, with the files of their `managers`
//! - `target`: a file and its content: `json`, `table` (TOML), `block` (lines between markers) or `whole_file`
//! - `edit`: the outcome of adding or removing the content
//! - `plan`: the files before and after; `record`: the parts that were created, for `--undo`
//! - `diff`, `files`: shows the plan; writes all of it or nothing; `shared`: which files others get
//! - `plugins`: the same values as plugins of the agents, in `packaging/plugins`
//! - `check`: runs each hook once, in a throw-away repository, and checks that it denies an edit of a locked file

mod agents;
mod args;
mod block;
mod check;
mod detect;
mod diff;
mod edit;
mod files;
mod guard;
mod json;
mod managers;
mod next_steps;
mod plan;
#[cfg(test)]
mod plugins;
mod record;
mod run;
mod settings;
mod shared;
mod table;
mod target;
mod texts;
mod whole_file;

pub(super) use agents::{Attempt, handler};
pub use args::InitArgs;
pub(super) use block::MARKDOWN_BEGIN as RULES_BEGIN;
pub(super) use check::{HookTest, command_of, denial, hooks_of, run as run_hook, test_hooks};
pub(super) use detect::is_on_path;
