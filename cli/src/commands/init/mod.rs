//! `coord init`: writes what the agents of a repository need into their configuration, and takes it away again.
//!
//! - `args`, `run`: the options, and the order of things: plan, show, ask, write, check
//! - `agents`: each agent's files and hooks, a file each; `detect`: the agents that are used here
//! - `texts`: the rules for `AGENTS.md` and the like, and the skill; `guard`: the hooks of git; `settings`: `git config`
//! - `target`: a file and what is written there; `edit`: what that came to; by `json`, `table` (TOML), `block` (lines between markers) or `whole`
//! - `plan`: the files as they are and as they will be, a `change` each; `record`: what was made, for `--undo`
//! - `diff`, `files`: shows the plan; writes all of it or nothing
//! - `check`: runs each hook once, and sees whether a denial denies

mod agents;
mod args;
mod block;
mod change;
mod check;
mod detect;
mod diff;
mod edit;
mod files;
mod guard;
mod json;
mod plan;
mod record;
mod run;
mod settings;
mod table;
mod target;
mod texts;
mod whole;

pub use args::InitArgs;
pub use block::MARKDOWN_BEGIN as RULES_BEGIN;
