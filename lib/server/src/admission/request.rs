//! The admission of one request: its caller, the head of its branch, and the lookups that it may make.

use std::sync::Arc;

use super::denial::{cannot_push_error, denial_error, deny_renamed, rate_limit_error};
use super::identity::identify;
use crate::app::App;
use crate::error::ApiError;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, CommitSha, Holder, RepoId};
use coord_settings::Rates;
use coord_sources::{Source, SourceError, Tip};
use coord_state::admission::{
    AdmissionTerms, Admitted, HeadTerms, LimitSubject, Lookup, ReportedHead, RepositoryUses, count_lookups,
};
use coord_state::locks::{BrokenInterfacePromise, announce_interface_changes};
use coord_store::StoreError;

/// A webhook delivery that may have moved a head sets its time to 1970. Its age then exceeds this number of seconds.
const NEVER: u64 = 1_000_000_000;

/// The use that a request makes of the head of its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadNeed {
    /// No head: abandoned work can be released after the branch is gone.
    NoHead,
    /// The head, up to this age in seconds if that is limited. The request succeeds without the source.
    Head { max_age: Option<u32> },
    /// The head, and the source's facts about commits, on which a release depends.
    Proof,
}

/// Whether the caller's commits contain the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ancestry {
    /// Only the store was asked.
    NotChecked,
    /// The source was asked, too.
    Checked,
    /// According to the source, one of the caller's commits lacks the head.
    Behind,
    /// The source could not answer.
    Unknown,
}

/// The right that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Read,
    /// To claim and release.
    Push,
}

/// The admission of one request about a branch.
pub struct Admission<'a> {
    pub app: &'a App,
    pub repo: &'a RepoId,
    pub(super) branch: &'a Branch,
    pub(super) work_branch: Option<&'a Branch>,
    pub(super) holder: Holder,
    /// Whether the caller owns the repository.
    pub(super) is_owner: bool,
    /// Commits that the caller's working copy is known to contain.
    pub(super) known_commits: Vec<CommitSha>,
    /// The features that the repository is known to use.
    pub(super) uses: Arc<RepositoryUses>,
    /// The head, if it was fetched from a source.
    pub(super) fetched: Option<Tip>,
    /// The source, if it keeps its heads in the store.
    pub(super) stored_head_source: Option<&'a dyn Source>,
    pub(super) head_need: HeadNeed,
    pub(super) ancestry: Ancestry,
    /// The limits of the next run: a request counts once.
    pub(super) rates: Rates,
    pub(super) rounds: u32,
}

impl<'a> Admission<'a> {
    /// Verifies the caller, and fetches the head from the source, unless that is expensive. Without `known_commits`,
    /// the request needs no head.
    pub async fn begin(
        app: &'a App,
        repo: &'a RepoId,
        branch: &'a Branch,
        caller: CallerIdentity,
        agent_id: Option<AgentId>,
        right: Right,
        known_commits: Option<Vec<CommitSha>>,
    ) -> Result<Self, ApiError> {
        let head_need = match known_commits {
            Some(_) => HeadNeed::Head { max_age: None },
            None => HeadNeed::NoHead,
        };
        let member = identify(app, caller, repo).await?;
        let holder = Holder {
            user_id: member.user_id,
            user_name: member.user_name,
            agent_id,
        };
        if right == Right::Push && !member.can_push {
            return Err(cannot_push_error(app, repo, branch, &holder).await?);
        }
        let source = app.source.as_deref();
        let stored_head_source = source.filter(|source| source.keeps_heads_in_store(repo));
        if let Some(source) = stored_head_source
            && head_need != HeadNeed::NoHead
            && source.renamed_to(repo).is_some()
        {
            deny_renamed(app, source, repo, branch, &holder).await?;
        }
        let fetched = match source {
            Some(source) if stored_head_source.is_none() => match source.tip(repo, branch).await {
                Ok(tip) => Some(tip),
                Err(error @ SourceError::UnknownRepository { .. }) => return Err(error.into()),
                Err(_) if head_need == HeadNeed::NoHead => None,
                Err(error) => return Err(error.into()),
            },
            _ => None,
        };
        let mut admission = Admission {
            app,
            repo,
            branch,
            work_branch: None,
            holder,
            is_owner: member.is_owner,
            known_commits: known_commits.unwrap_or_default(),
            uses: app.uses.of(repo),
            stored_head_source,
            head_need,
            ancestry: if stored_head_source.is_none() {
                Ancestry::Checked
            } else {
                Ancestry::NotChecked
            },
            rates: app.rates,
            rounds: 0,
            fetched: None,
        };
        if let (Some(source), Some(tip)) = (source, &fetched) {
            admission.check_known_commits(source, &tip.commit).await?;
        }
        admission.fetched = fetched;
        Ok(admission)
    }

    /// Reads the head again if the store does not keep it: the branch may have moved while the request waited.
    pub async fn reread_head(&mut self) -> Result<(), ApiError> {
        let source = self.app.source.as_deref();
        let Some(source) = source.filter(|_| self.stored_head_source.is_none() && self.head_need != HeadNeed::NoHead)
        else {
            return Ok(());
        };
        let tip = source.tip(self.repo, self.branch).await?;
        self.ancestry = Ancestry::Checked;
        self.check_known_commits(source, &tip.commit).await?;
        self.fetched = Some(tip);
        Ok(())
    }

    /// The same for a claim to write, which limits the age of the head.
    pub fn for_writing(mut self) -> Self {
        self.head_need = HeadNeed::Head {
            max_age: Some(self.app.head_ages.for_writing),
        };
        self
    }

    /// The same for a caller that commits to `work_branch`.
    pub fn on_work_branch(mut self, work_branch: Option<&'a Branch>) -> Self {
        self.work_branch = work_branch;
        self
    }

    /// The same for a release.
    pub fn for_release(mut self) -> Self {
        if self.head_need != HeadNeed::NoHead {
            self.head_need = HeadNeed::Proof;
        }
        self
    }

    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Whether the caller may force-release others' locks: a person who owns the repository, or is an approver.
    pub fn may_force(&self) -> bool {
        let Holder { user_id, agent_id, .. } = &self.holder;
        agent_id.is_none() && (self.is_owner || self.app.approvers.lists(user_id))
    }

    /// Whether the source can judge the caller's work.
    pub fn can_ask(&self) -> bool {
        self.app.source.is_some() && self.head_need != HeadNeed::NoHead
    }

    /// Counts `amount` more lookups at the source before they run. Lookups at a source that is not expensive are free.
    ///
    /// # Errors
    /// When the caller has made too many in this minute.
    pub async fn count_lookups(&self, lookup: Lookup, amount: u32) -> Result<(), ApiError> {
        self.count_lookups_sparing(0, lookup, amount).await
    }

    /// Counts `amount` lookups of the caller in all repositories before they run, if `spared` more remain after them.
    ///
    /// # Errors
    /// When the caller has made too many in this minute.
    pub(super) fn take_lookups(&self, lookup: Lookup, (amount, spared): (u32, u32)) -> Result<(), ApiError> {
        let (rate, whose) = match lookup {
            Lookup::Commits => (self.app.rates.commit_lookups, LimitSubject::CommitLookups),
            Lookup::Branch => (self.app.rates.branch_lookups, LimitSubject::BranchLookups),
        };
        let lookups = &self.app.user_lookups;
        lookups
            .take(&self.holder.user_id, (lookup, amount, spared), rate)
            .map_err(|retry_after_seconds| rate_limit_error(retry_after_seconds, whose))
    }

    /// As [`Self::count_lookups`], for lookups that the request can do without: `spared` more must remain after them.
    pub(super) async fn count_lookups_sparing(&self, spared: u32, lookup: Lookup, amount: u32) -> Result<(), ApiError> {
        if self.stored_head_source.is_none() {
            return Ok(());
        }
        self.take_lookups(lookup, (amount, spared))?;
        match count_lookups(&*self.app.store, &self.terms(), lookup, (amount, spared)).await? {
            Admitted::Outcome(()) => Ok(()),
            Admitted::Denied(denial) => Err(denial_error(denial, self.repo, self.branch)),
        }
    }

    /// Whether, according to the source, one of the caller's commits lacks the head.
    pub fn is_known_behind(&self) -> bool {
        self.ancestry == Ancestry::Behind
    }

    /// The head, if it was fetched from a source.
    pub fn fetched_head(&self) -> Option<&CommitSha> {
        self.fetched.as_ref().map(|tip| &tip.commit)
    }

    /// The reference that the head is read from, if known.
    pub fn head_ref(&self) -> Option<String> {
        match (&self.fetched, self.stored_head_source) {
            (Some(tip), _) => Some(tip.reference.clone()),
            (None, Some(_)) => Some(format!("refs/heads/{}", self.branch)),
            (None, None) => None,
        }
    }

    /// The name of the branch in sentences: `upstream/main` for a remote-tracking branch, `main` for a local branch
    /// without one. A branch on GitHub is called `origin/main`, as in most clones.
    pub fn branch_name(&self) -> String {
        let reference = self.fetched.as_ref().map(|tip| tip.reference.as_str());
        let name = reference.and_then(|reference| {
            let remote = reference.strip_prefix("refs/remotes/");
            remote.or_else(|| reference.strip_prefix("refs/heads/"))
        });
        name.map_or_else(|| format!("origin/{}", self.branch), str::to_owned)
    }

    /// Whether the head is that of a remote-tracking branch, as a clone last fetched it.
    pub fn head_is_from_clone(&self) -> bool {
        let tip = self.fetched.as_ref();
        tip.is_some_and(|tip| tip.reference.starts_with("refs/remotes/"))
    }

    /// The branches, in sentences, that may have the caller's work: its work branch, and the branch that the work is
    /// for.
    pub fn expected_branch(&self) -> String {
        let branch = self.branch_name();
        let Some(work_branch) = self.work_branch else {
            return branch;
        };
        let remote = branch.strip_suffix(self.branch.as_str()).unwrap_or_default();
        format!("{remote}{work_branch} or {branch}")
    }

    pub(super) fn terms(&self) -> AdmissionTerms<'_> {
        let ages = self.app.head_ages;
        AdmissionTerms {
            repo: self.repo,
            branch: self.branch,
            work_branch: self.work_branch,
            holder: &self.holder,
            rates: self.rates,
            head: match (&self.fetched, self.stored_head_source, self.head_need) {
                (Some(tip), _, _) => HeadTerms::Fetched(&tip.commit),
                (None, _, HeadNeed::NoHead) => HeadTerms::Any,
                (None, None, _) => HeadTerms::Stored,
                (None, Some(_), need) => HeadTerms::Aged {
                    refresh_after: ages.refresh_after,
                    at_most: match need {
                        HeadNeed::Head { max_age } => max_age,
                        HeadNeed::NoHead | HeadNeed::Proof => None,
                    },
                    is_asked: self.ancestry != Ancestry::NotChecked,
                },
            },
            known_commits: &self.known_commits,
            uses: &self.uses,
        }
    }

    /// Announces interfaces that changed despite a promise to keep them, after an admitted release.
    pub async fn announce_interface_changes(&self, broken: &[BrokenInterfacePromise]) -> Result<u64, StoreError> {
        announce_interface_changes(&*self.app.store, &self.terms(), broken).await
    }

    /// Reports the head to the observer, and warns the caller if it is unconfirmed.
    pub fn report_head(&self, head: &ReportedHead, warnings: &mut Vec<String>) {
        if (self.fetched.is_some() || self.stored_head_source.is_some())
            && let Some(observer) = &self.app.head_observer
        {
            observer.saw_head(self.repo, self.branch, &head.commit);
        }
        if self.ancestry == Ancestry::Unknown {
            warnings.push(format!(
                "HEAD_UNCONFIRMED: GitHub cannot be queried now, so it is not known whether your commits contain {} \
                 of {}.",
                head.commit.short(),
                self.branch
            ));
        } else if let (true, Some(age)) = (head.is_unconfirmed, head.age) {
            let (commit, branch) = (head.commit.short(), self.branch);
            warnings.push(if age < NEVER {
                format!(
                    "HEAD_UNCONFIRMED: GitHub cannot be queried now; {commit} was the head of {branch} {age} s ago."
                )
            } else {
                format!(
                    "HEAD_UNCONFIRMED: GitHub cannot be queried now; it is not known whether {commit} is still the \
                     head of {branch}."
                )
            });
        }
    }

    /// Reports to the observer that the store has no graph of the branch at `head`.
    pub fn report_missing_graph(&self, head: &CommitSha) {
        if let Some(observer) = &self.app.head_observer {
            observer.report_missing_graph(self.repo, self.branch, head);
        }
    }
}
