//! `coord guard pre-commit` and `coord guard pre-push`: git hooks that block files which someone else holds. They catch
//! changes that no hook of an agent sees: those of scripts, editors and people. `coord guard commit-msg` adds the
//! intents of a commit to its message.

pub mod bypass;
mod change;
mod commit_msg;
mod pre_commit;
mod pre_push;
mod stale_index;
mod verdict;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use coord_agent::connection::Connection;
use coord_agent::local_server;
use coord_agent::options::AgentArgs;
use coord_agent::session::Session;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;

use super::hook::OnError;
use verdict::Verdict;

/// Exit status if the rules refuse.
const REFUSED: u8 = 3;

/// Exit status if the server does not answer.
const NO_ANSWER: u8 = 4;

/// The options of `coord guard`.
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// The hook of git
    #[command(subcommand)]
    hook: Hook,
    /// Whether a commit or push passes when the server does not answer
    #[arg(long, value_name = "WHAT", default_value = "allow", global = true)]
    on_error: OnError,
    #[command(flatten)]
    agent_args: AgentArgs,
}

/// The hooks.
#[derive(Debug, Subcommand)]
enum Hook {
    /// The files that are about to be committed
    PreCommit {
        /// Arguments from git: none today
        #[arg(hide = true)]
        rest: Vec<String>,
    },
    /// Name the intents and the ledger in the message of the commit that is being made; it never refuses one
    CommitMsg {
        /// The file of the message, as git hands it to the hook
        file: PathBuf,
    },
    /// The files of the commits that are about to be pushed; git's lines are read from standard input
    PrePush {
        /// The name of the remote, as git hands it to the hook
        remote: Option<String>,
        /// Its address
        url: Option<String>,
    },
}

impl Hook {
    fn name(&self) -> &'static str {
        match self {
            Hook::PreCommit { .. } => "pre-commit",
            Hook::CommitMsg { .. } => "commit-msg",
            Hook::PrePush { .. } => "pre-push",
        }
    }

    fn is_check(&self) -> bool {
        !matches!(self, Hook::CommitMsg { .. })
    }
}

impl GuardArgs {
    /// # Errors
    /// When git or the options fail, but not when the server does.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let folder = std::env::current_dir()?;
        let working_copy = WorkingCopy::containing(&folder)?;
        let name = self.hook.name();
        let agent_id = match self.agent_args.agent_id()? {
            Some(agent_id) => Some(agent_id),
            None => Session::existing(&working_copy).map(|session| session.agent_id),
        };
        if self.hook.is_check() && bypass::is_requested() {
            match &agent_id {
                None => {
                    bypass::note(&working_copy, name);
                    return Ok(ExitCode::SUCCESS);
                }
                Some(agent) => bypass::refuse(&working_copy, name, agent),
            }
        }
        let connection = match self.connect(&working_copy, agent_id.as_ref()) {
            Ok(connection) => connection,
            Err(status) => return Ok(status),
        };
        let changes = match &self.hook {
            Hook::CommitMsg { file } => {
                let file = std::path::absolute(file)?;
                let client = &connection.client;
                if let Err(error) = commit_msg::add_trailers(&working_copy, &self.agent_args, client, &file).await {
                    let _ = writeln!(std::io::stderr(), "coord guard {name}: no trailers: {error:#}");
                }
                return Ok(ExitCode::SUCCESS);
            }
            Hook::PreCommit { .. } => vec![pre_commit::changes(&working_copy, &self.agent_args).await?],
            Hook::PrePush { remote, url } => {
                pre_push::changes(&working_copy, &self.agent_args, remote.as_deref(), url.as_deref()).await?
            }
        };
        let mut verdict = Verdict::default();
        let reverted = match (&self.hook, changes.first()) {
            (Hook::PreCommit { .. }, Some(change)) => {
                stale_index::find_reverted_files(&working_copy, change, pre_commit::index()?.as_deref()).await?
            }
            _ => BTreeMap::new(),
        };
        let is_agent = agent_id.is_some();
        let mut work = Work {
            folder,
            branch: match changes.first() {
                Some(change) => change.branch.clone(),
                None => return Ok(ExitCode::SUCCESS),
            },
            work_branch: None,
            repo: self.agent_args.repo(&working_copy),
            working_copy,
            agent_id,
            is_hooked: false,
        };
        for change in changes {
            work.branch = change.branch;
            if let Err(error) = verdict.add(&connection.client, &work, change.names).await {
                return Ok(self.handle_no_answer(&error));
            }
        }
        verdict.add_reverted(reverted);
        let _ = write!(std::io::stderr(), "{}", verdict.describe(name, is_agent));
        Ok(match verdict.is_refusal() {
            true => ExitCode::from(REFUSED),
            false => ExitCode::SUCCESS,
        })
    }

    /// Connects to the running server. The error is the exit status of the hook without it.
    fn connect(&self, working_copy: &WorkingCopy, agent_id: Option<&AgentId>) -> Result<Connection, ExitCode> {
        let is_check = self.hook.is_check();
        match Connection::open_running(&self.agent_args, working_copy, agent_id, verdict::LIMIT) {
            Ok(Some(connection)) => Ok(connection),
            Ok(None) => match local_server::unreachable(working_copy) {
                Some(why) if is_check => Err(self.handle_no_answer(&why)),
                // Without a server there are no locks.
                _ => Err(ExitCode::SUCCESS),
            },
            Err(error) if is_check => Err(self.handle_no_answer(&format!("{error:#}"))),
            Err(_) => Err(ExitCode::SUCCESS),
        }
    }

    fn handle_no_answer(&self, why: &str) -> ExitCode {
        let hook = self.hook.name();
        let (outcome, status) = match self.on_error {
            OnError::Deny => ("refused, by --on-error deny", ExitCode::from(NO_ANSWER)),
            OnError::Allow => ("allowed without a check", ExitCode::SUCCESS),
        };
        let _ = writeln!(std::io::stderr(), "coord guard {hook}: {outcome}: {why}");
        status
    }
}
