//! A member of a team that works on the files of its tasks.

use coord_domain::work::Verdict;
use coord_domain::{CommitSha, LockEntry, NeighborPolicy};
use coord_intents_state::intents::ScopeQuestion;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, HeadTerms, Question};
use coord_state::locks::{ClaimOutcome, JudgedFile};
use coord_teams_state::tasks::{
    self, ClaimedFiles, ClaimedTask, CompletedTask, ReleasedFiles, ReleasedTask, TaskClaim, TaskEnd,
};
use coord_teams_state::teams::{RequestKey, TeamCallResponse, TeamTerms};

use super::team::{Answer, Mate, claimed, completed, refused_or, released_task, task_id};
use super::{AboutIntents, AboutPolicy, HEAD, NEXT, World, aged, answered, branch, sha};

/// A member whose working copy is at `head`, where a source says that the branch is at `repo_head`.
#[derive(Clone)]
pub struct Worker<'w> {
    pub mate: Mate<'w>,
    pub branch: &'static str,
    pub head: CommitSha,
    pub repo_head: CommitSha,
    pub about: AboutIntents,
    pub about_policy: AboutPolicy,
    /// Where a source can be asked about work.
    pub can_ask: bool,
}

impl World {
    /// `ann` or `ann/agent` of team `alpha`, whose working copy is at [`HEAD`], as the branch is.
    pub fn worker(&self, name: &str) -> Worker<'_> {
        Worker {
            mate: self.mate(name, "alpha"),
            branch: "main",
            head: sha(HEAD),
            repo_head: sha(HEAD),
            about: AboutIntents::default(),
            about_policy: AboutPolicy::default(),
            can_ask: false,
        }
    }
}

impl Worker<'_> {
    pub fn at(mut self, head: &str) -> Self {
        self.head = sha(head);
        self
    }

    pub fn while_branch_is_at(mut self, head: &str) -> Self {
        self.repo_head = sha(head);
        self
    }

    /// The same member after a push of [`NEXT`].
    pub fn pushed(&self) -> Self {
        self.clone().while_branch_is_at(NEXT).at(NEXT)
    }

    pub fn on_branch(mut self, name: &'static str) -> Self {
        self.branch = name;
        self
    }

    pub fn with_source(mut self) -> Self {
        self.can_ask = true;
        self
    }

    /// Returns the answer to a claim, once the intents that it asks about are judged.
    async fn judging(
        &self,
        claim: impl AsyncFn(&TeamTerms<'_>, &ClaimedFiles<'_>) -> Admitted<TeamCallResponse<TaskClaim>>,
    ) -> Admitted<Answer<TaskClaim>> {
        let (branch, known) = (branch(self.branch), [self.head.clone()]);
        let mate = &self.mate;
        loop {
            let admission = AdmissionTerms::of(&mate.world.repo, &branch, &mate.holder, Some(&self.repo_head), &known);
            let terms = TeamTerms {
                admission,
                team: &mate.team,
                is_assumed: false,
            };
            let judgment = self.about.last_judgment();
            let policy = self.about_policy.terms(NeighborPolicy::Block, &[]);
            let files = ClaimedFiles::Claimed {
                policy: &policy,
                agent_head: &self.head,
                gate: self.about.terms(judgment.as_ref()),
            };
            match claim(&terms, &files).await {
                Admitted::Denied(Denial::Question(question @ Question::Extension { .. })) => {
                    self.about.learn(question.of_extension(ScopeQuestion::NAME).unwrap());
                }
                Admitted::Denied(Denial::Question(Question::Policy(question))) => self.about_policy.learn(*question),
                admitted => return refused_or(admitted),
            }
        }
    }

    pub async fn try_claim(&self, id: &str, seconds: u32) -> Admitted<Answer<TaskClaim>> {
        let (store, id) = (&*self.mate.world.store, task_id(id));
        self.judging(async |terms, files| tasks::claim_task(store, terms, &id, seconds, files).await.unwrap())
            .await
    }

    pub async fn claims(&self, id: &str) -> Answer<TaskClaim> {
        answered(self.try_claim(id, 900).await)
    }

    /// Claims a task with its files, which must be granted.
    pub async fn takes(&self, id: &str) -> ClaimedTask {
        claimed(self.claims(id).await.unwrap())
    }

    /// Claims a task, which its files must not let be.
    pub async fn is_refused(&self, id: &str) -> ClaimOutcome {
        match self.claims(id).await.unwrap() {
            TaskClaim::Files { because, .. } => *because,
            claim => panic!("{claim:?}"),
        }
    }

    pub async fn next_except(&self, skipped: &[String]) -> Answer<TaskClaim> {
        answered(self.try_next(skipped).await)
    }

    pub async fn try_next(&self, skipped: &[String]) -> Admitted<Answer<TaskClaim>> {
        let store = &*self.mate.world.store;
        self.judging(async |terms, files| {
            tasks::next_task(store, terms, RequestKey::NONE, 900, skipped, files)
                .await
                .unwrap()
        })
        .await
    }

    /// Returns the next task that nothing blocks; or `None`, and the skipped tasks: id, reason, who, what.
    pub async fn next(&self) -> (Option<String>, Vec<String>) {
        let passed = |passed: Vec<tasks::SkippedTask>| {
            let text = |task: tasks::SkippedTask| {
                let who = task.user.or(task.handle).unwrap_or_default();
                format!("{} {:?} {who} {}", task.id, task.reason, task.what.unwrap_or_default())
            };
            passed.into_iter().map(text).collect()
        };
        match self.next_except(&[]).await.unwrap() {
            TaskClaim::Claimed(claimed) => (Some(claimed.task.task.id), passed(claimed.passed)),
            TaskClaim::Nothing(nothing) => (None, passed(nothing.passed)),
            claim => panic!("{claim:?}"),
        }
    }

    /// Completes a task, or releases it.
    async fn end(&self, id: &str, is_completed: bool, files: &ReleasedFiles<'_>) -> Admitted<Answer<TaskEnd>> {
        let (branch, mate) = (branch(self.branch), &self.mate);
        let mut admission = AdmissionTerms::of(&mate.world.repo, &branch, &mate.holder, Some(&self.repo_head), &[]);
        if !matches!(files, ReleasedFiles::Released { .. }) {
            admission.head = HeadTerms::Any;
        } else if self.can_ask {
            admission.head = aged(3600, None);
        }
        let terms = TeamTerms {
            admission,
            team: &mate.team,
            is_assumed: false,
        };
        let (store, id) = (&*mate.world.store, task_id(id));
        let ended = match is_completed {
            true => tasks::complete_task(store, &terms, &id, None, "", files).await,
            false => tasks::release_task(store, &terms, &id, None, "", files).await,
        };
        refused_or(ended.unwrap())
    }

    pub fn released_files<'a>(
        &'a self,
        new_head: Option<&'a CommitSha>,
        judged_files: &'a [JudgedFile],
    ) -> ReleasedFiles<'a> {
        ReleasedFiles::Released {
            new_head,
            agent_head: &self.head,
            can_ask: self.can_ask && judged_files.is_empty(),
            judged_files,
        }
    }

    /// Completes a task after a push of `new_head`, where the source returned `judged_files`.
    pub async fn completes(&self, id: &str, new_head: Option<&str>, judged_files: &[JudgedFile]) -> Answer<TaskEnd> {
        let new_head = new_head.map(sha);
        let files = self.released_files(new_head.as_ref(), judged_files);
        self.completes_with(id, &files).await
    }

    /// Completes a task after a push of [`NEXT`], which must be done.
    pub async fn completes_pushed(&self, id: &str) -> CompletedTask {
        completed(self.pushed().completes(id, Some(NEXT), &[]).await.unwrap())
    }

    pub async fn completes_with(&self, id: &str, files: &ReleasedFiles<'_>) -> Answer<TaskEnd> {
        answered(self.end(id, true, files).await)
    }

    pub async fn releases(&self, id: &str, files: &ReleasedFiles<'_>) -> Answer<TaskEnd> {
        answered(self.end(id, false, files).await)
    }

    /// Completes a task, or releases it, from a working copy at the head.
    pub async fn try_end(&self, id: &str, is_completed: bool) -> Admitted<Answer<TaskEnd>> {
        let files = self.released_files(Some(&self.head), &[]);
        self.end(id, is_completed, &files).await
    }

    /// Releases a task after a push of `new_head`, where the source returned `judged_files`.
    pub async fn releases_pushed(&self, id: &str, new_head: &str, judged_files: &[JudgedFile]) -> ReleasedTask {
        let new_head = sha(new_head);
        let files = self.released_files(Some(&new_head), judged_files);
        released_task(self.releases(id, &files).await.unwrap())
    }
}

/// Returns the source's verdict on the work on a file that was claimed at [`HEAD`].
pub fn judged_file(path: &str, verdict: Verdict) -> JudgedFile {
    JudgedFile {
        path: path.to_owned(),
        claim_head: sha(HEAD),
        blob: String::new(),
        verdict,
    }
}

/// Holders of locks: `ann`, or `ann/agent`.
pub fn holders(entries: &[LockEntry]) -> Vec<String> {
    let name = |entry: &LockEntry| match &entry.agent_id {
        Some(agent) => format!("{}/{agent}", entry.user_id),
        None => entry.user_id.clone(),
    };
    entries.iter().map(name).collect()
}
