//! Someone who asks, and how.

use std::sync::Arc;

use coord_domain::orchestration::{Action, Facts, Operation, decide, first_refusal};
use coord_domain::work::{Shortfall, Verdict};
use coord_domain::{AgentId, Branch, CommitSha, FilePath, Holder, LockEntry, LockMode, LockReason, NeighborPolicy};
use coord_intents_state::intents::ScopeQuestion;
use coord_settings::policy::FileKind;
use coord_sources::Reachable;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, HeadTerms, Question, RepositoryUses};
use coord_state::locks::{
    ClaimOutcome, ClaimTerms, GateCode, JudgedFile, PolicyTerms, Release, ReleaseOutcome, Released, Survey,
};

use coord_protocol::{ErrorCode, InterfacePromise};

use super::about_intents::AboutIntents;
use super::about_policy::AboutPolicy;
use super::{NEXT, World, aged, answered, branch, granted, in_short, released, sha};

/// Someone who asks, and how.
#[derive(Clone)]
pub struct Agent<'w> {
    pub world: &'w World,
    pub holder: Holder,
    pub branch: Branch,
    pub head: CommitSha,
    pub work_branch: Option<Branch>,
    pub base: Option<CommitSha>,
    pub repo_head: Option<CommitSha>,
    pub has_aged_head: bool,
    pub policy: NeighborPolicy,
    pub message: String,
    pub ttl: u32,
    pub interface: Option<InterfacePromise>,
    pub changes_interface_of: Vec<String>,
    /// Seconds for which the server makes its claims again.
    pub wait: u32,
    pub about: AboutIntents,
    pub about_policy: AboutPolicy,
    pub uses: Arc<RepositoryUses>,
}

/// The blob of what waits on a work branch.
pub const BLOB: &str = "b10bb10bb10bb10bb10bb10bb10bb10bb10bb10b";

impl Agent<'_> {
    pub fn on_branch(mut self, name: &str) -> Self {
        self.branch = branch(name);
        self
    }

    /// Commits to another branch.
    pub fn working_on(mut self, name: &str) -> Self {
        self.work_branch = Some(branch(name));
        self
    }

    /// Its working copy is at `head`.
    pub fn at(mut self, head: &str) -> Self {
        self.head = sha(head);
        self
    }

    /// Its working copy contains `base`, too.
    pub fn based_on(mut self, base: &str) -> Self {
        self.base = Some(sha(base));
        self
    }

    /// Where the source says that the branch is at `head`.
    pub fn while_branch_is_at(mut self, head: &str) -> Self {
        self.repo_head = Some(sha(head));
        self
    }

    /// Where no source says where the branch is.
    pub fn without_source(mut self) -> Self {
        self.repo_head = None;
        self
    }

    /// Where heads are expensive, and so are taken from the store while they are young.
    pub fn with_aged_head(mut self) -> Self {
        self.has_aged_head = true;
        self
    }

    pub fn with_message(mut self, message: &str) -> Self {
        self.message = message.to_owned();
        self
    }

    pub fn for_seconds(mut self, ttl: u32) -> Self {
        self.ttl = ttl;
        self
    }

    fn known(&self) -> Vec<CommitSha> {
        [Some(self.head.clone()), self.base.clone()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Enters without limits; the head is the source's, or the stored one.
    pub fn entry<'a>(&'a self, known: &'a [CommitSha]) -> AdmissionTerms<'a> {
        let head = self.repo_head.as_ref();
        let mut entry = AdmissionTerms::of(&self.world.repo, &self.branch, &self.holder, head, known);
        entry.work_branch = self.work_branch.as_ref();
        entry.uses = &self.uses;
        if self.has_aged_head {
            entry.head = aged(3600, None);
        }
        entry
    }

    fn policy_terms(&self, paths: &[FilePath]) -> PolicyTerms {
        let mut terms = self.about_policy.terms(self.policy, paths);
        terms.interface.promise = self.interface;
        terms.interface.changed = file_paths(&self.changes_interface_of);
        terms
    }

    pub async fn claim(&self, wanted: LockMode, paths: &[impl AsRef<str>]) -> ClaimOutcome {
        answered(self.try_claim(wanted, paths).await)
    }

    pub async fn try_claim(&self, wanted: LockMode, paths: &[impl AsRef<str>]) -> Admitted<ClaimOutcome> {
        let message = LockReason::parse(&self.message).unwrap();
        let paths = file_paths(paths);
        loop {
            let (judgment, policy) = (self.about.judgment(&paths), self.policy_terms(&paths));
            let wanted = ClaimTerms {
                mode: wanted,
                policy: &policy,
                agent_head: &self.head,
                message: &message,
                ttl_seconds: self.ttl,
                wait_seconds: self.wait,
                claimed: &self.world.claimed,
                take_over: None,
                paths: &paths,
                gate: self.about.terms(judgment.as_ref()),
            };
            let admitted = state::locks::claim(&*self.world.store, &self.entry(&self.known()), &wanted)
                .await
                .unwrap();
            if let Some(admitted) = self.learn(admitted) {
                if let Admitted::Outcome(outcome) = &admitted {
                    assert_as_specified(&wanted, outcome);
                }
                return admitted;
            }
        }
    }

    /// Learns the policy or the intent about which a script asks; returns whatever else it answers.
    fn learn<T>(&self, admitted: Admitted<T>) -> Option<Admitted<T>> {
        match admitted {
            Admitted::Denied(Denial::Question(question @ Question::Extension { .. })) => {
                self.about.learn(question.of_extension(ScopeQuestion::NAME).unwrap());
            }
            Admitted::Denied(Denial::Question(Question::Policy(question))) => self.about_policy.learn(*question),
            admitted => return Some(admitted),
        }
        None
    }

    /// Claims for writing; it must be granted.
    pub async fn writes(&self, paths: &[impl AsRef<str>]) -> Survey {
        granted(self.claim(LockMode::Writing, paths).await)
    }

    /// Claims for reading; it must be granted.
    pub async fn reads(&self, paths: &[impl AsRef<str>]) -> Survey {
        granted(self.claim(LockMode::Reading, paths).await)
    }

    /// Claims; other locks must block it.
    pub async fn is_refused(&self, wanted: LockMode, paths: &[impl AsRef<str>]) -> Survey {
        match self.claim(wanted, paths).await {
            ClaimOutcome::Conflict(survey) => survey,
            other => panic!("{other:?}"),
        }
    }

    pub async fn checks(&self, intent: LockMode, paths: &[impl AsRef<str>]) -> Survey {
        answered(self.try_check(intent, paths).await)
    }

    pub async fn try_check(&self, intent: LockMode, paths: &[impl AsRef<str>]) -> Admitted<Survey> {
        let (paths, known) = (file_paths(paths), self.known());
        loop {
            let (judgment, policy) = (self.about.judgment(&paths), self.policy_terms(&paths));
            let gate = self.about.terms(judgment.as_ref());
            let (store, entry) = (&*self.world.store, self.entry(&known));
            let checked = state::locks::check_status(store, &entry, &paths, intent, &policy, &gate).await;
            if let Some(checked) = self.learn(checked.unwrap()) {
                return checked;
            }
        }
    }

    /// Checks; returns the findings in short.
    pub async fn finds(&self, intent: LockMode, paths: &[impl AsRef<str>]) -> Vec<String> {
        in_short(&self.checks(intent, paths).await.findings)
    }

    /// Claims for writing, which must be granted; returns the findings in short.
    pub async fn writes_beside(&self, paths: &[impl AsRef<str>]) -> Vec<String> {
        in_short(&self.writes(paths).await.findings)
    }

    /// Claims; other locks must block it. Returns the findings in short.
    pub async fn is_blocked_by(&self, wanted: LockMode, paths: &[impl AsRef<str>]) -> Vec<String> {
        in_short(&self.is_refused(wanted, paths).await.findings)
    }

    /// Releases after a push of `new_head`, if any; `reachable` is the source's answer about it.
    pub async fn release(
        &self,
        new_head: Option<&str>,
        reachable: Reachable,
        paths: &[impl AsRef<str>],
    ) -> ReleaseOutcome {
        self.release_or_abandon(new_head, reachable, false, paths).await
    }

    /// Releases after a push of [`NEXT`]; must succeed.
    pub async fn releases_pushed(&self, paths: &[impl AsRef<str>]) -> Released {
        released(self.release(Some(NEXT), Reachable::Yes, paths).await)
    }

    /// Releases files that were only read; must succeed.
    pub async fn releases_read(&self, paths: &[impl AsRef<str>]) -> Released {
        released(self.release(None, Reachable::Unknown, paths).await)
    }

    /// Releases without a push; must succeed.
    pub async fn abandons(&self, paths: &[impl AsRef<str>]) -> Released {
        released(self.release_or_abandon(None, Reachable::Unknown, true, paths).await)
    }

    pub async fn release_or_abandon(
        &self,
        new_head: Option<&str>,
        reachable: Reachable,
        is_abandoned: bool,
        paths: &[impl AsRef<str>],
    ) -> ReleaseOutcome {
        let verdict = match reachable {
            Reachable::Yes => Some(Verdict::Pushed),
            Reachable::No => Some(Verdict::Missing(Shortfall::NotOnBranch)),
            Reachable::Unknown => None,
        };
        answered(self.try_release(new_head, verdict, is_abandoned, paths).await)
    }

    /// Releases, where the source returns `verdict` for all written files.
    pub async fn try_release(
        &self,
        new_head: Option<&str>,
        verdict: Option<Verdict>,
        is_abandoned: bool,
        paths: &[impl AsRef<str>],
    ) -> Admitted<ReleaseOutcome> {
        let mut judged_files = Vec::new();
        for path in paths.iter().map(AsRef::as_ref).filter(|_| verdict.is_some()) {
            let entries = self.world.stored(path).await;
            let is_own = |entry: &&LockEntry| {
                entry.user_id == self.holder.user_id.as_str()
                    && entry.agent_id.as_deref() == self.holder.agent_id.as_ref().map(AgentId::as_str)
                    && entry.branch == self.branch.as_str()
            };
            if let (Some(entry), Some(verdict)) = (entries.iter().find(is_own), verdict) {
                judged_files.push(JudgedFile {
                    path: path.to_owned(),
                    claim_head: sha(&entry.agent_head),
                    blob: match verdict {
                        Verdict::Waiting => BLOB.to_owned(),
                        _ => String::new(),
                    },
                    verdict,
                });
            }
        }
        self.release_as_judged(new_head, &judged_files, is_abandoned, paths)
            .await
    }

    /// Releases, where the source has returned `judged_files`.
    pub async fn release_as_judged(
        &self,
        new_head: Option<&str>,
        judged_files: &[JudgedFile],
        is_abandoned: bool,
        paths: &[impl AsRef<str>],
    ) -> Admitted<ReleaseOutcome> {
        let (new_head, paths) = (new_head.map(sha), file_paths(paths));
        let message = LockReason::parse(&self.message).unwrap();
        let request = Release {
            new_head: new_head.as_ref(),
            agent_head: &self.head,
            is_abandoned,
            message: &message,
            paths: &paths,
            can_ask: self.has_aged_head && judged_files.is_empty(),
            judged_files,
        };
        let known = [];
        let mut entry = self.entry(&known);
        if is_abandoned && self.repo_head.is_none() {
            entry.head = HeadTerms::Any;
        }
        state::locks::release(&*self.world.store, &entry, &request)
            .await
            .unwrap()
    }
}

pub fn file_paths(paths: &[impl AsRef<str>]) -> Vec<FilePath> {
    paths
        .iter()
        .map(|path| FilePath::parse(path.as_ref()).unwrap())
        .collect()
}

/// Holds what the script decided against the decision table.
fn assert_as_specified(wanted: &ClaimTerms<'_>, outcome: &ClaimOutcome) {
    let survey = outcome.survey();
    // A claim that is granted shows what it holds now; what was written before is in `held`.
    let written = survey.held.iter().filter(|held| held.status == LockMode::Writing);
    let refusals = survey.gate.findings.iter().filter_map(|finding| match finding.code {
        GateCode::Refused(code) => Some(code),
        GateCode::OwnerIdle | GateCode::BudgetLow => None,
    });
    // In another order than that of the script.
    let mut refusals: Vec<ErrorCode> = refusals.collect();
    refusals.reverse();
    let kinds = wanted.policy.kinds.iter();
    let ignored = kinds.filter(|kind| **kind == FileKind::Ignored).count();
    let facts = Facts {
        is_behind: survey.is_behind,
        is_renewal: written.count() + ignored == wanted.paths.len(),
        is_blocked: survey.findings.iter().any(|finding| finding.blocks),
        refused: first_refusal(&refusals),
        ..Facts::default()
    };
    assert_eq!(survey.gate.refusal(), facts.refused, "the first in their order");
    let action = match outcome {
        ClaimOutcome::Refused(_) => facts.refused.and_then(ErrorCode::intent_action).unwrap(),
        ClaimOutcome::Claimed(_) => Action::Proceed,
        ClaimOutcome::Conflict(_) => Action::Wait,
        ClaimOutcome::Stale(_) => Action::Pull,
    };
    assert_eq!(action, decide(Operation::Claim(wanted.mode), facts), "{facts:?}");
}
