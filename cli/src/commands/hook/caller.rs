//! A call of a hook, with all that its parts need: agent, event, options, and who the caller is in a repository.

use std::path::{Path, PathBuf};
use std::time::Duration;

use coord::domain::AgentId;
use coord_git::WorkingCopy;

use crate::agent::options::AgentArgs;
use crate::agent::session::Session;
use crate::agent::work::Work;

use super::Trace;
use super::agents::Agent;
use super::event::{HookCall, Tool};
use super::shell::{self, Effects};

/// Time limit of a request before a tool runs: agents give a hook some 30 seconds.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// Time limit of other requests.
pub(super) const SHORT_LIMIT: Duration = Duration::from_secs(2);

/// A call.
pub(super) struct Caller<'a> {
    pub(super) agent: Agent,
    pub(super) event: &'a str,
    pub(super) args: &'a AgentArgs,
    pub(super) trace: Trace,
    pub(super) keep_going: bool,
    pub(super) call: HookCall,
}

impl Caller<'_> {
    /// The folder that the agent works in.
    pub(super) fn folder(&self) -> PathBuf {
        let named = self
            .call
            .folder
            .as_ref()
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute());
        named.or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    /// The folder that the command of the call runs in, or that of the agent.
    pub(super) fn command_folder(&self) -> PathBuf {
        match &self.call.tool {
            Tool::Shell {
                folder: Some(folder), ..
            } => self.folder().join(folder),
            _ => self.folder(),
        }
    }

    /// What the command of the call does; nothing where it has none.
    pub(super) fn command_effects(&self) -> Effects {
        match &self.call.tool {
            Tool::Shell { command, .. } => shell::effects(command, &self.command_folder()),
            _ => Effects::default(),
        }
    }

    /// The holder of the session's locks in the repository of `working_copy`.
    ///
    /// # Errors
    /// When the agent that is named is no `agent_id`, or the session's file cannot be written.
    pub(super) fn holder(&self, working_copy: &WorkingCopy) -> anyhow::Result<AgentId> {
        if let Some(named) = self.args.agent_id()? {
            return Ok(named);
        }
        let name = self.agent.name();
        let session = match &self.call.conversation {
            Some(conversation) if self.agent.has_many_conversations() => {
                Session::in_conversation(working_copy, name, conversation)?
            }
            Some(conversation) => {
                let session = Session::of_this_process(working_copy, name)?;
                match session.is_shared() {
                    true => session,
                    // The process of the agent is not known, and the conversation is what its hooks have in common.
                    false => Session::of_conversation(name, conversation)?,
                }
            }
            None => Session::of_this_process(working_copy, name)?,
        };
        Ok(session.agent_id)
    }

    /// The work in the working copy that `folder` is in.
    ///
    /// # Errors
    /// When it cannot be told which branch the work is for, or who works.
    pub(super) fn work(&self, working_copy: WorkingCopy) -> anyhow::Result<Work> {
        let (branch, work_branch) = self.args.branches(&working_copy)?;
        let agent_id = Some(self.holder(&working_copy)?);
        Ok(Work {
            folder: working_copy.root().to_owned(),
            repo: self.args.repo(&working_copy),
            working_copy,
            branch,
            work_branch,
            agent_id,
        })
    }

    /// The working copy that the agent works in, where it works in one.
    pub(super) fn working_copy(&self) -> Option<WorkingCopy> {
        find(&self.folder())
    }
}

/// The working copy that `folder` is in.
pub(super) fn find(folder: &Path) -> Option<WorkingCopy> {
    match WorkingCopy::find(folder) {
        Ok(found) => found,
        Err(error) => {
            tracing::debug!(%error, "the working copy cannot be read");
            None
        }
    }
}
