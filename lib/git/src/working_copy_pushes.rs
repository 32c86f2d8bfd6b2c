//! How a working copy relates to its branch and to pushed commits.

use coord_domain::{Branch, CommitSha};
use coord_files::FileError;
use gix::ObjectId;
use gix::state::InProgress;

use super::pushed::{self, RecordedPush};
use super::working_copy::WorkingCopy;

/// An unfinished operation of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedOperation {
    /// `git merge`
    Merge,
    /// `git rebase`, or `git am`
    Rebase,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
}

impl UnfinishedOperation {
    /// The command of git.
    pub fn command(self) -> &'static str {
        match self {
            UnfinishedOperation::Merge => "git merge",
            UnfinishedOperation::Rebase => "git rebase",
            UnfinishedOperation::CherryPick => "git cherry-pick",
            UnfinishedOperation::Revert => "git revert",
        }
    }
}

impl WorkingCopy {
    /// The unfinished operation of git, which has to end before a pull.
    pub fn unfinished_operation(&self) -> Option<UnfinishedOperation> {
        match self.handle().state()? {
            InProgress::Merge => Some(UnfinishedOperation::Merge),
            InProgress::Rebase
            | InProgress::RebaseInteractive
            | InProgress::ApplyMailbox
            | InProgress::ApplyMailboxRebase => Some(UnfinishedOperation::Rebase),
            InProgress::CherryPick | InProgress::CherryPickSequence => Some(UnfinishedOperation::CherryPick),
            InProgress::Revert | InProgress::RevertSequence => Some(UnfinishedOperation::Revert),
            InProgress::Bisect => None,
        }
    }

    /// The newest commit of `branch` that the working copy contains, as far as the remote had it at the last fetch.
    pub fn base_head(&self, branch: &Branch) -> Option<CommitSha> {
        let head = self.worktree.head_id()?;
        let tip = ObjectId::from_hex(self.tip(branch)?.commit.as_str().as_bytes()).ok()?;
        let base = if head == tip {
            head
        } else {
            self.handle().merge_base(head, tip).ok()??.detach()
        };
        CommitSha::parse(&base.to_string()).ok()
    }

    /// The branch that work for `branch` is pushed to first: the checked-out branch, if a remote has it, or `branch`
    /// itself.
    pub fn pushed_branch(&self, branch: &Branch) -> Branch {
        let checked_out = self.checked_out();
        let own = checked_out.as_ref().filter(|checked_out| *checked_out != branch);
        let own = own.filter(|own| self.tip(own).is_some()).cloned();
        own.or_else(|| self.branch_at_fork(checked_out.as_ref()?, branch))
            .unwrap_or_else(|| branch.clone())
    }

    /// The same as [`WorkingCopy::pushed_branch`], but also finds a commit that was pushed by another name.
    pub fn pushed_branch_at_head(&self, branch: &Branch) -> Branch {
        let pushed = self.pushed_branch(branch);
        let has_head = |pushed: &Branch| self.base_head(pushed).is_some() && self.base_head(pushed) == self.head();
        if has_head(&pushed) || has_head(branch) {
            return pushed;
        }
        let find_by_head = || {
            let (remote, head) = (self.push_remote()?, self.worktree.head_id()?);
            let references = &self.repository.references;
            let branch = self.repository.upstreams.branch_at(references, &remote, &head);
            branch.ok().flatten()
        };
        find_by_head().unwrap_or(pushed)
    }

    /// The branch at the remote that `checked_out` is pushed to, if that remote is a fork of the one that has `branch`.
    fn branch_at_fork(&self, checked_out: &Branch, branch: &Branch) -> Option<Branch> {
        let remote = self.push_remote()?;
        let reference = self.tip(branch)?.reference;
        let remote_branch = reference.strip_prefix("refs/remotes/")?;
        if remote_branch
            .strip_prefix(remote.as_str())
            .is_some_and(|rest| rest.starts_with('/'))
        {
            return None;
        }
        let fork = Branch::parse(&format!("{remote}/{checked_out}")).ok()?;
        self.tip(&fork).is_some().then_some(fork)
    }

    /// The remote that `git push` pushes to.
    pub fn push_remote(&self) -> Option<String> {
        let upstreams = &self.repository.upstreams;
        upstreams.push_remote(self.checked_out().as_ref()).ok().flatten()
    }

    /// The remote of the upstream of the checked-out branch, and the upstream there.
    pub fn upstream(&self) -> Option<(String, Branch)> {
        let checked_out = self.checked_out()?;
        let (remote, name) = self.repository.upstreams.upstream(&checked_out).ok()??;
        let name = name?;
        Some((remote, Branch::parse(name.strip_prefix("refs/heads/")?).ok()?))
    }

    /// Whether the `fetch` lines give `branch` at `remote` a reference here. In a single-branch clone, most branches
    /// have none.
    pub fn is_followed(&self, remote: &str, branch: &Branch) -> bool {
        let upstreams = &self.repository.upstreams;
        upstreams.is_followed(remote, branch).unwrap_or(true)
    }

    /// Recorded pushes, which no reference may show, the newest last.
    pub fn recorded_pushes(&self) -> Vec<RecordedPush> {
        pushed::read(self.shared_folder())
    }

    /// Records a push.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_push(&self, pushed: RecordedPush) -> Result<(), FileError> {
        pushed::record(self.shared_folder(), pushed)
    }

    /// Whether the object database has `commit`.
    pub fn has_commit(&self, commit: &CommitSha) -> bool {
        let id = ObjectId::from_hex(commit.as_str().as_bytes());
        id.is_ok_and(|id| self.handle().find_commit(id).is_ok())
    }
}
