//! An agent that calls the scripts of locks itself, without a server: benches measure what its calls cost a store.

use std::sync::Arc;

use anyhow::{Result, bail};
use coord_domain::{Branch, CommitSha, FilePath, Holder, LockMode, LockReason, NeighborPolicy, RepoId, UserId};
use coord_state::admission::{AdmissionTerms, Admitted, RepositoryUses};
use coord_state::locks::{
    self, ClaimOutcome, ClaimTerms, ClaimedRepositories, GateTerms, Judgment, PolicyTerms, Release, ReleaseOutcome,
    Survey,
};
use coord_store::Store;

/// The head that every agent is at.
pub const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

pub struct ScriptAgent {
    pub repo: RepoId,
    pub branch: Branch,
    pub head: CommitSha,
    pub holder: Holder,
    pub policy: PolicyTerms,
    /// The intent's verdict on the files, if the agent works on an intent.
    pub judgment: Option<Judgment>,
    /// The extensions that are known to be in use; all of them, where this is none.
    pub uses: Option<Arc<RepositoryUses>>,
    message: LockReason,
    claimed: ClaimedRepositories,
}

impl ScriptAgent {
    /// ann, on the branch `main` of `repo`.
    ///
    /// # Errors
    /// When `repo` names no repository.
    pub fn new(repo: &str) -> Result<Self> {
        coord_extensions::register_state();
        Ok(ScriptAgent {
            repo: RepoId::parse(repo)?,
            branch: Branch::parse("main")?,
            head: CommitSha::parse(HEAD)?,
            holder: Holder {
                user_id: UserId::parse("ann")?,
                user_name: "Ann".to_owned(),
                agent_id: None,
            },
            policy: PolicyTerms::of(NeighborPolicy::Block),
            judgment: None,
            uses: None,
            message: LockReason::parse("Rework the session handling so that it uses tokens")?,
            claimed: ClaimedRepositories::default(),
        })
    }

    /// Admission with the commits that its server knows.
    pub fn admission<'a>(&'a self, known: &'a [CommitSha]) -> AdmissionTerms<'a> {
        let terms = AdmissionTerms::of(&self.repo, &self.branch, &self.holder, Some(&self.head), known);
        match &self.uses {
            Some(uses) => AdmissionTerms { uses, ..terms },
            None => terms,
        }
    }

    fn gate(&self) -> GateTerms<'_> {
        GateTerms {
            cited: self.judgment.as_ref().map(|judgment| judgment.intent.as_str()),
            judgment: self.judgment.as_ref(),
            ..GateTerms::NONE
        }
    }

    /// # Errors
    /// When the store fails, or admission denies it.
    pub async fn check(&self, store: &dyn Store, paths: &[FilePath]) -> Result<Survey> {
        let (mode, gate) = (LockMode::Writing, &self.gate());
        let terms = self.admission(std::slice::from_ref(&self.head));
        let admitted = locks::check_status(store, &terms, paths, mode, &self.policy, gate).await?;
        outcome(admitted)
    }

    /// A claim to write.
    ///
    /// # Errors
    /// The same.
    pub async fn claim(&self, store: &dyn Store, paths: &[FilePath]) -> Result<ClaimOutcome> {
        let terms = ClaimTerms {
            mode: LockMode::Writing,
            policy: &self.policy,
            agent_head: &self.head,
            message: &self.message,
            ttl_seconds: 300,
            wait_seconds: 0,
            claimed: &self.claimed,
            take_over: None,
            paths,
            gate: self.gate(),
        };
        let known = std::slice::from_ref(&self.head);
        outcome(locks::claim(store, &self.admission(known), &terms).await?)
    }

    /// A release; without paths, of everything.
    ///
    /// # Errors
    /// The same.
    pub async fn release(&self, store: &dyn Store, paths: &[FilePath], is_abandoned: bool) -> Result<ReleaseOutcome> {
        let release = Release {
            new_head: None,
            agent_head: &self.head,
            is_abandoned,
            message: &self.message,
            paths,
            can_ask: false,
            judged_files: &[],
        };
        outcome(locks::release(store, &self.admission(&[]), &release).await?)
    }
}

fn outcome<T>(admitted: Admitted<T>) -> Result<T> {
    match admitted {
        Admitted::Outcome(outcome) => Ok(outcome),
        Admitted::Denied(denial) => bail!("{denial:?}"),
    }
}
