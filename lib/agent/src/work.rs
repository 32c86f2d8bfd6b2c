//! Requests of an agent, with everything filled in that git knows.

use std::path::{Path, PathBuf};

use anyhow::Context;
use coord_domain::{AgentId, Branch, FilePath, RepoId};
use coord_git::WorkingCopy;
use coord_protocol::tasks::TaskWork;
use coord_protocol::{CheckRequest, InterfacePromise, LockMode, LockStatus, PostRequest};

use super::conversations;
use super::interfaces::Interfaces;
use super::options::AgentArgs;

/// A working copy, the agent that works in it, and the branch of the work.
pub struct Work {
    pub working_copy: WorkingCopy,
    /// The repository, as [`AgentArgs::repo`] has it.
    pub repo: RepoId,
    /// The folder that relative paths begin in.
    pub folder: PathBuf,
    /// The branch that the work is for.
    pub branch: Branch,
    /// The branch that is committed to, where it is another one.
    pub work_branch: Option<Branch>,
    pub agent_id: Option<AgentId>,
    /// Whether the hooks of the session see its edits: then a claim keeps the interfaces until an edit shows otherwise.
    pub is_hooked: bool,
}

impl Work {
    /// The work in `folder`.
    ///
    /// # Errors When the folder is in no working copy, or the branch of the work is unknown.
    pub fn in_folder(folder: &Path, args: &AgentArgs) -> anyhow::Result<Work> {
        let folder = std::path::absolute(folder).context("the folder has no path")?;
        let working_copy = WorkingCopy::containing(&folder)?;
        let (branch, work_branch) = args.branches(&working_copy)?;
        Ok(Work {
            agent_id: args.agent_id()?,
            repo: args.repo(&working_copy),
            working_copy,
            folder,
            branch,
            work_branch,
            is_hooked: false,
        })
    }

    /// The same for `agent_id`, whose hooks may see its edits.
    pub fn of_agent(self, agent_id: Option<AgentId>) -> Work {
        let is_hooked = agent_id
            .as_ref()
            .is_some_and(|agent| conversations::is_hooked(&self.working_copy, agent));
        Work {
            agent_id,
            is_hooked,
            ..self
        }
    }

    /// The interface terms of a claim of `paths`: the word, and the files whose interface differs from the branch.
    fn interface(&self, paths: &[String], is_writing: bool) -> (Option<InterfacePromise>, Option<Vec<String>>) {
        if !(is_writing && self.is_hooked) {
            return (None, None);
        }
        let compared = Interfaces::of(&self.working_copy, &self.branch).compare_disk(paths);
        let changed: Vec<String> = compared.into_keys().collect();
        (
            Some(InterfacePromise::Keeps),
            Some(changed).filter(|changed| !changed.is_empty()),
        )
    }

    /// The repository, as requests name it.
    pub fn repo_url(&self) -> String {
        format!("https://{}", self.repo)
    }

    /// `path`, as an agent or a person writes it, as a path of the repository.
    ///
    /// # Errors
    /// A sentence, when it is outside of the working copy or no file path.
    pub fn path(&self, path: &str) -> Result<FilePath, String> {
        self.working_copy.repo_path(&self.folder, Path::new(path))
    }

    /// A check of `paths`, which are paths of the repository.
    pub fn check(&self, paths: Vec<String>, intent: Option<LockMode>) -> CheckRequest {
        let (interface, interface_changes) = self.interface(&paths, intent != Some(LockMode::Reading));
        CheckRequest {
            repo_url: Some(self.repo_url()),
            branch: Some(self.branch.to_string()),
            work_branch: self.work_branch(),
            file_paths: Some(paths),
            agent_head: self.head(),
            base_head: self.claim_base(),
            interface,
            interface_changes,
            intent_id: None,
            agent_id: self.agent(),
            intent,
            unknown_fields: Vec::new(),
        }
    }

    /// A claim of `paths`, which are paths of the repository.
    pub fn claim(&self, paths: Vec<String>, mode: LockMode, message: String) -> PostRequest {
        let status = match mode {
            LockMode::Reading => LockStatus::Reading,
            LockMode::Writing => LockStatus::Writing,
        };
        self.post(paths, status, message)
    }

    /// A release of `paths`, whose changes were pushed.
    pub fn release(&self, paths: Vec<String>, message: String) -> PostRequest {
        let pushed_to = self.working_copy.pushed_branch_at_head(&self.branch);
        PostRequest {
            new_repo_head: self.pushed_head(),
            base_head: self.base_head(),
            work_branch: Some(pushed_to)
                .filter(|pushed_to| *pushed_to != self.branch)
                .map(|pushed_to| pushed_to.to_string())
                .or_else(|| self.work_branch()),
            ..self.post(paths, LockStatus::Open, message)
        }
    }

    /// A release of `paths`, whose changes were thrown away or never made.
    pub fn abandon(&self, paths: Vec<String>, message: String) -> PostRequest {
        PostRequest {
            abandon: Some(true),
            ..self.post(paths, LockStatus::Open, message)
        }
    }

    /// A release of others' locks on `paths`.
    pub fn force(&self, paths: Vec<String>, reason: String) -> PostRequest {
        PostRequest {
            force: Some(true),
            ..self.post(paths, LockStatus::Open, reason)
        }
    }

    fn post(&self, paths: Vec<String>, status: LockStatus, message: String) -> PostRequest {
        let (interface, interface_changes) = self.interface(&paths, status == LockStatus::Writing);
        PostRequest {
            repo_url: Some(self.repo_url()),
            branch: Some(self.branch.to_string()),
            work_branch: self.work_branch(),
            file_paths: Some(paths),
            status: Some(status),
            message: Some(message),
            agent_head: self.head(),
            base_head: self.claim_base(),
            interface,
            interface_changes,
            new_repo_head: None,
            intent_id: None,
            tool_call: None,
            session: None,
            agent_id: self.agent(),
            // A writer that needs its lead's files takes them over.
            take_over: self
                .agent_id
                .as_ref()
                .and_then(AgentId::lead)
                .filter(|_| status != LockStatus::Open)
                .map(|lead| lead.as_str().to_owned()),
            abandon: None,
            force: None,
            wait_seconds: None,
            unknown_fields: Vec::new(),
        }
    }

    /// The commit that is checked out.
    pub fn head(&self) -> Option<String> {
        self.working_copy.head().map(|head| head.to_string())
    }

    /// The newest commit of the branch that the working copy contains.
    pub fn base_head(&self) -> Option<String> {
        let base = self.working_copy.base_head(&self.branch);
        base.map(|base| base.to_string())
    }

    /// The newest commit of the branch that the working copy will contain: while git merges, rebases, picks or reverts, nothing can be
    /// pulled, and the merged commits are about to arrive. Git still refuses a push that lacks the head.
    fn claim_base(&self) -> Option<String> {
        let tip = || Some(self.working_copy.tip(&self.branch)?.commit.to_string());
        match self.working_copy.under_way() {
            Some(_) => tip(),
            None => self.base_head(),
        }
    }

    /// Fills in where the work on the files of a task is done, and the pushed commit, where they are not sent.
    pub fn fill(&self, sent: &mut TaskWork, new_head: Option<&mut Option<String>>) {
        if let Some(new_head) = new_head
            && new_head.is_none()
        {
            *new_head = self.pushed_head();
        }
        if self.is_hooked && sent.interface.is_none() {
            sent.interface = Some(InterfacePromise::Keeps);
        }
        if sent.branch.is_none() {
            sent.branch = Some(self.branch.to_string());
            sent.work_branch = sent.work_branch.take().or_else(|| self.work_branch());
        }
        if sent.agent_head.is_none() {
            sent.agent_head = self.head();
            sent.base_head = sent.base_head.take().or_else(|| self.claim_base());
        }
    }

    /// The commit of the branch that has the pushed work: the newest that this clone knows, if it contains the checked-out
    /// one; otherwise that one, which may have reached the branch without this clone.
    pub fn pushed_head(&self) -> Option<String> {
        let (head, base) = (self.head()?, self.base_head());
        if base.as_ref() != Some(&head) {
            return Some(head);
        }
        let tip = self.working_copy.tip(&self.branch);
        tip.map(|tip| tip.commit.to_string()).or(Some(head))
    }

    /// The branch that is committed to, where it is another than the one that the work is for.
    pub fn work_branch(&self) -> Option<String> {
        self.work_branch.as_ref().map(Branch::to_string)
    }

    fn agent(&self) -> Option<String> {
        self.agent_id.as_ref().map(|agent| agent.as_str().to_owned())
    }
}
