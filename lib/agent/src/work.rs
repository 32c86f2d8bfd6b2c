//! Requests of an agent, filled in with data from git.

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
    /// The repository, from [`AgentArgs::repo`].
    pub repo: RepoId,
    /// The folder for relative paths.
    pub folder: PathBuf,
    /// The branch that the work is for.
    pub branch: Branch,
    /// The branch that is committed to, if it is another branch.
    pub work_branch: Option<Branch>,
    pub agent_id: Option<AgentId>,
    /// Whether the hooks of the session see its edits. Then a claim promises to keep the interfaces, until an edit
    /// changes one.
    pub is_hooked: bool,
}

impl Work {
    /// The work in `folder`.
    ///
    /// # Errors
    /// When the folder is in no working copy, or the branch of the work is unknown.
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

    /// The same work for `agent_id`.
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

    /// The promise of a claim of `paths`, and the files whose interface differs from the branch.
    fn promise(&self, paths: &[String], is_writing: bool) -> (Option<InterfacePromise>, Option<Vec<String>>) {
        if !(is_writing && self.is_hooked) {
            return (None, None);
        }
        let changes = Interfaces::of(&self.working_copy, &self.branch).compare_disk(paths);
        let changed: Vec<String> = changes.into_keys().collect();
        (
            Some(InterfacePromise::Keeps),
            Some(changed).filter(|changed| !changed.is_empty()),
        )
    }

    /// The repository's URL in requests.
    pub fn repo_url(&self) -> String {
        format!("https://{}", self.repo)
    }

    /// The path in the repository of `path`, as an agent or a person writes it.
    ///
    /// # Errors
    /// A sentence, when `path` is outside of the working copy or not a file path.
    pub fn path(&self, path: &str) -> Result<FilePath, String> {
        self.working_copy.repo_path(&self.folder, Path::new(path))
    }

    /// A check of `paths`, which are paths of the repository.
    pub fn check(&self, paths: Vec<String>, intent: Option<LockMode>) -> CheckRequest {
        let (interface, interface_changes) = self.promise(&paths, intent != Some(LockMode::Reading));
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

    /// A release of `paths`, whose changes were discarded or never made.
    pub fn abandon(&self, paths: Vec<String>, message: String) -> PostRequest {
        PostRequest {
            abandon: Some(true),
            ..self.post(paths, LockStatus::Open, message)
        }
    }

    /// A forced release of other holders' locks on `paths`.
    pub fn force(&self, paths: Vec<String>, reason: String) -> PostRequest {
        PostRequest {
            force: Some(true),
            ..self.post(paths, LockStatus::Open, reason)
        }
    }

    fn post(&self, paths: Vec<String>, status: LockStatus, message: String) -> PostRequest {
        let (interface, interface_changes) = self.promise(&paths, status == LockStatus::Writing);
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

    /// The newest commit of the branch that the working copy will contain. While git merges, rebases, picks or
    /// reverts, that is the tip: nothing can be pulled, and the merged commits are about to arrive. Git still refuses a
    /// push that lacks the head.
    fn claim_base(&self) -> Option<String> {
        match self.working_copy.unfinished_operation() {
            Some(_) => self.tip(),
            None => self.base_head(),
        }
    }

    /// The newest commit of the branch that this clone knows.
    fn tip(&self) -> Option<String> {
        Some(self.working_copy.tip(&self.branch)?.commit.to_string())
    }

    /// Fills in the branch and commits of the work on a task's files, and the pushed commit, unless the caller has set
    /// them.
    pub fn fill(&self, task_work: &mut TaskWork, new_head: Option<&mut Option<String>>) {
        if let Some(new_head) = new_head
            && new_head.is_none()
        {
            *new_head = self.pushed_head();
        }
        if self.is_hooked && task_work.interface.is_none() {
            task_work.interface = Some(InterfacePromise::Keeps);
        }
        if task_work.branch.is_none() {
            task_work.branch = Some(self.branch.to_string());
            task_work.work_branch = task_work.work_branch.take().or_else(|| self.work_branch());
        }
        if task_work.agent_head.is_none() {
            task_work.agent_head = self.head();
            task_work.base_head = task_work.base_head.take().or_else(|| self.claim_base());
        }
    }

    /// The commit of the branch that has the pushed work: the newest that this clone knows, if that contains the
    /// checked-out commit. Otherwise the checked-out commit, which may have reached the branch without this clone.
    pub fn pushed_head(&self) -> Option<String> {
        let (head, base) = (self.head()?, self.base_head());
        if base.as_ref() != Some(&head) {
            return Some(head);
        }
        self.tip().or(Some(head))
    }

    /// The branch that is committed to, if it is not the branch that the work is for.
    pub fn work_branch(&self) -> Option<String> {
        self.work_branch.as_ref().map(Branch::to_string)
    }

    fn agent(&self) -> Option<String> {
        self.agent_id.as_ref().map(|agent| agent.as_str().to_owned())
    }
}
