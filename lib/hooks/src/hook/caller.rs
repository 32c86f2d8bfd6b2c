//! The agent that calls a hook, and the data that the parts of a hook share: event, options, and holder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use coord_agent::conversations::{self, ConversationEvent};
use coord_agent::holder_ids;
use coord_agent::options::AgentArgs;
use coord_agent::session::Session;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use parking_lot::Mutex;

use super::agents::Agent;
use super::event::{HookCall, Moment, Tool};
use super::shell::{self, Effects};

/// Time limit of a request before a tool runs: agents give a hook about 30 seconds.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// Time limit of other requests.
pub(super) const SHORT_LIMIT: Duration = Duration::from_secs(2);

/// Leaves the folder of this process if it was removed, as with a worktree: git finds nothing from a missing folder.
/// Returns whether it was removed.
pub(super) fn leave_removed_folder() -> bool {
    let is_gone = std::env::current_dir().is_err();
    is_gone && std::env::set_current_dir("/").is_ok()
}

/// Which tool calls are recorded in the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Trace {
    /// Only calls that may change something
    #[default]
    Changes,
    /// Calls that only read, too
    All,
}

/// The agent that calls a hook, with its event and options.
pub(super) struct Caller<'a> {
    /// Whether neither the call nor the process names an existing folder.
    pub(super) has_no_folder: bool,
    pub(super) agent: Agent,
    pub(super) event: &'a str,
    pub(super) args: &'a AgentArgs,
    pub(super) trace: Trace,
    pub(super) keep_going: bool,
    pub(super) call: HookCall,
    /// The holder of the conversation, by the shared folder of the repository.
    pub(super) leads: Mutex<HashMap<PathBuf, AgentId>>,
}

impl Caller<'_> {
    /// The folder in which the agent works.
    pub(super) fn folder(&self) -> PathBuf {
        let call_folder = self
            .call
            .folder
            .as_ref()
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute());
        call_folder.or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    /// The folder in which the command of the call runs. Without a command, that of the agent.
    pub(super) fn command_folder(&self) -> PathBuf {
        match &self.call.tool {
            Tool::Shell {
                folder: Some(folder), ..
            } => self.folder().join(folder),
            _ => self.folder(),
        }
    }

    /// The effects of the call's command, if it has one.
    pub(super) fn command_effects(&self) -> Effects {
        match &self.call.tool {
            Tool::Shell { command, .. } => shell::effects(command, &self.command_folder()),
            _ => Effects::default(),
        }
    }

    /// The holder of locks in the repository of `working_copy`: the conversation of the input and, if the input names
    /// one, its writer. An agent named by the environment takes precedence over the conversation.
    ///
    /// # Errors
    /// When the named agent is not a valid `agent_id`, or the conversation's file cannot be written.
    pub(super) fn holder(&self, working_copy: &WorkingCopy) -> anyhow::Result<AgentId> {
        let lead = self.lead(working_copy)?;
        Ok(match &self.call.writer {
            Some(writer) => holder_ids::below(&lead, writer),
            None => lead,
        })
    }

    /// The holder of the conversation.
    ///
    /// # Errors
    /// As [`Caller::holder`].
    pub(super) fn lead(&self, working_copy: &WorkingCopy) -> anyhow::Result<AgentId> {
        let repository = working_copy.shared_folder();
        if let Some(lead) = self.leads.lock().get(repository) {
            return Ok(lead.clone());
        }
        let lead = self.find_lead(working_copy)?;
        self.leads.lock().insert(repository.to_owned(), lead.clone());
        Ok(lead)
    }

    fn find_lead(&self, working_copy: &WorkingCopy) -> anyhow::Result<AgentId> {
        let event = match (self.call.moment, &self.call.writer) {
            (Moment::SessionStart, None) => ConversationEvent::Start,
            (Moment::SessionEnd, None) => ConversationEvent::End,
            _ => ConversationEvent::Work,
        };
        let name = self.agent.name();
        match (self.args.agent_id()?, &self.call.conversation) {
            (Some(agent_id), _) => Ok(agent_id),
            (None, Some(conversation)) => conversations::note_event(working_copy, name, conversation, event),
            (None, None) => Ok(Session::of_this_process(working_copy, name)?.agent_id),
        }
    }

    /// The work in `working_copy`, and its holder.
    ///
    /// # Errors
    /// When the branch of the work or the agent is unknown.
    pub(super) fn work(&self, working_copy: WorkingCopy) -> anyhow::Result<(Work, AgentId)> {
        let (branch, work_branch) = self.args.branches(&working_copy)?;
        let holder = self.holder(&working_copy)?;
        let work = Work {
            folder: working_copy.root().to_owned(),
            repo: self.args.repo(&working_copy),
            working_copy,
            branch,
            work_branch,
            agent_id: Some(holder.clone()),
            // Hooks declare interface changes themselves.
            is_hooked: false,
        };
        Ok((work, holder))
    }

    /// The working copy in which the agent works.
    pub(super) fn working_copy(&self) -> Option<WorkingCopy> {
        find(&self.folder())
    }
}

/// The working copy that contains `folder`.
pub(super) fn find(folder: &Path) -> Option<WorkingCopy> {
    match WorkingCopy::find(folder) {
        Ok(working_copy) => working_copy,
        Err(error) => {
            tracing::debug!(%error, "the working copy cannot be read");
            None
        }
    }
}
