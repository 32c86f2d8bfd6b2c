//! The files of a task: what a request says of them, and what they say to it.

use std::collections::BTreeMap;

use coord_protocol::tasks::{TaskResponse, TaskWork};
use coord_protocol::{AgentError, ErrorCode, Metadata, PostResponse, Waiting};

use super::caller::TeamAgent;
use super::calls::run;
use super::chosen::ChosenTeam;
use crate::admission::{Admission, AdmittedCall, Right};
use crate::app::App;
use crate::domain::team::TaskId;
use crate::domain::{Branch, CommitSha, LockMode};
use crate::error::ApiError;
use crate::operations::fields::in_field;
use crate::operations::gate_request::GateRequest;
use crate::operations::policy_request::PolicyRequest;
use crate::operations::tool_use::ToolUse;
use crate::operations::work_request::WorkRequest;
use crate::operations::{claim, release};
use crate::state::admission::{AdmissionTerms, Admitted, PolicyQuestion, ScopeQuestion};
use crate::state::locks::{ClaimOutcome, Judged, ReleaseOutcome, Survey};
use crate::state::tasks::{
    self, ClaimedTask, CompletedTask, FilesOfClaim, FilesOfRelease, NextTask, ReleasedTask, WithFiles,
};
use crate::state::teams::{RequestKey, Told};
use crate::store::{Store, StoreError};

/// What a request says of the files of its task.
#[derive(Debug)]
pub(super) struct FilesAsked {
    /// Whether they are left alone.
    is_left_alone: bool,
    /// Where the work on them is done, if the request says so.
    work: Option<WorkRequest>,
    /// The commit that was pushed.
    new_head: Option<CommitSha>,
    /// Whether the work is discarded.
    is_abandoned: bool,
}

impl FilesAsked {
    /// Those of a claim.
    pub fn of_claim(agent: &TeamAgent, sent: &TaskWork) -> Result<Self, ApiError> {
        Self::parse(agent, sent, None, None)
    }

    /// Those of a completion or a release.
    pub fn of_release(
        agent: &TeamAgent,
        sent: &TaskWork,
        new_head: Option<&str>,
        abandon: Option<bool>,
    ) -> Result<Self, ApiError> {
        Self::parse(agent, sent, new_head, abandon)
    }

    fn parse(
        agent: &TeamAgent,
        sent: &TaskWork,
        new_head: Option<&str>,
        abandon: Option<bool>,
    ) -> Result<Self, ApiError> {
        let commit = |field, text: Option<&str>| text.map(CommitSha::parse).transpose().map_err(in_field(field));
        let branch = sent.branch.as_deref().map(Branch::parse).transpose();
        let branch = branch.map_err(in_field("branch"))?;
        let work_branch = sent.work_branch.as_deref().map(Branch::parse).transpose();
        let work_branch = work_branch.map_err(in_field("work_branch"))?;
        let agent_head = commit("agent_head", sent.agent_head.as_deref())?;
        let base_head = commit("base_head", sent.base_head.as_deref())?;
        let new_head = commit("new_repo_head", new_head)?;
        let is_abandoned = abandon == Some(true);
        let work = match (branch, agent_head) {
            (Some(branch), Some(agent_head)) => {
                let heads = (agent_head, base_head);
                Some(WorkRequest::of_task(
                    agent.repo.clone(),
                    (branch, work_branch),
                    heads,
                    agent.identity(),
                    sent.interface,
                ))
            }
            (None, Some(_)) => {
                return Err(ApiError::InvalidField {
                    field: "branch",
                    problem: "is required with agent_head".to_owned(),
                });
            }
            _ => None,
        };
        if is_abandoned && work.is_none() {
            return Err(ApiError::InvalidField {
                field: "agent_head",
                problem: "is required with abandon, and so is branch".to_owned(),
            });
        }
        Ok(FilesAsked {
            is_left_alone: sent.claim_files == Some(false),
            work,
            new_head,
            is_abandoned,
        })
    }

    /// Where the work on the files is done, unless they are left alone.
    fn work(&self) -> Option<&WorkRequest> {
        self.work.as_ref().filter(|_| !self.is_left_alone)
    }

    /// Begins the admission. Where the branch cannot be read now, the files have no head, and only a task without files can be had.
    pub async fn begin<'a>(
        &'a self,
        app: &'a App,
        agent: &'a TeamAgent,
        is_claim: bool,
    ) -> Result<(Admission<'a>, Head), ApiError> {
        let Some(work) = self.work() else {
            return Ok((agent.begin(app, Right::Push).await?, Head::NotSent));
        };
        let began = match is_claim {
            true => work.begin(app, Right::Push).await.map(Admission::for_writing),
            false => work.begin_release(app, !self.is_abandoned).await,
        };
        match began {
            Ok(admission) => Ok((admission, Head::Found)),
            Err(error) if error.is_of_source() || matches!(error, ApiError::UnknownBranch { .. }) => {
                Ok((agent.begin(app, Right::Push).await?, Head::NotFound(error)))
            }
            Err(error) => Err(error),
        }
    }

    /// What intents and the policy of the branch have to do with a claim of files.
    pub fn said<'a>(&'a self, app: &'a App, admission: &Admission<'_>, tool_use: &'a ToolUse) -> Option<Said<'a>> {
        let work = self.work()?;
        Some(Said {
            gate: GateRequest::new(app, work, admission, tool_use),
            policy: PolicyRequest::new(app, work),
        })
    }

    fn of_ended<'a>(&'a self, head: &Head, can_ask: bool, judged: &'a [Judged]) -> FilesOfRelease<'a> {
        match (self.work(), head) {
            (None, _) if self.is_left_alone => FilesOfRelease::LeftAlone,
            (Some(_), Head::Found) if self.is_abandoned => FilesOfRelease::Abandoned,
            (Some(work), Head::Found) => FilesOfRelease::GivenBack {
                new_head: self.new_head.as_ref(),
                agent_head: &work.agent_head,
                can_ask,
                judged,
            },
            _ => FilesOfRelease::NoHead,
        }
    }

    /// For a release: without a pushed commit nobody can tell which files may be given back, and their locks stay.
    pub fn keep_without_new_head(&mut self) {
        if self.new_head.is_none() && !self.is_abandoned {
            self.work = None;
        }
    }
}

/// What a claim of files says of intents, and what the policy of the branch says of it.
pub(super) struct Said<'a> {
    gate: GateRequest<'a>,
    policy: PolicyRequest<'a>,
}

/// The head of the branch that the files are of.
pub(super) enum Head {
    /// The request names none, or leaves the files alone.
    NotSent,
    /// It is found, or found by the script.
    Found,
    /// It cannot be.
    NotFound(ApiError),
}

impl Head {
    /// `error`; or why there is no head, where it is that one is missing.
    pub fn explain(self, error: ApiError) -> ApiError {
        let misses_head = matches!(
            error,
            ApiError::InvalidField {
                field: "agent_head" | "new_repo_head",
                ..
            }
        );
        match self {
            Head::NotFound(cause) if misses_head => cause,
            _ => error,
        }
    }
}

/// A claim of one task, or of the next.
pub(super) struct ClaimCall<'a> {
    pub team: &'a ChosenTeam<'a>,
    pub seconds: u32,
    pub files: &'a FilesAsked,
    pub head: &'a Head,
    pub said: Option<&'a Said<'a>>,
    pub what: What<'a>,
}

/// What is claimed.
pub(super) enum What<'a> {
    /// This task.
    Task(&'a TaskId),
    /// The next one, except for those that intents do not let in.
    Next { key: RequestKey<'a>, skipped: &'a [String] },
}

/// A claim of one task, or of the next.
pub(super) enum Claimed {
    Task(Box<ClaimedTask>),
    Next(NextTask),
}

impl AdmittedCall for ClaimCall<'_> {
    type Outcome = Told<WithFiles<Claimed, ClaimOutcome>>;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<Self::Outcome>, StoreError> {
        let terms = self.team.terms(terms);
        let judgement = self.said.and_then(|said| said.gate.judgement());
        let policy = self.said.map(|said| said.policy.terms()).unwrap_or_default();
        let files = match (self.files.work(), self.said, self.head) {
            _ if self.files.is_left_alone => FilesOfClaim::LeftAlone,
            (Some(work), Some(said), Head::Found) => FilesOfClaim::Claimed {
                policy: &policy,
                agent_head: &work.agent_head,
                gate: said.gate.terms(judgement.as_ref()),
            },
            _ => FilesOfClaim::NoHead,
        };
        Ok(match self.what {
            What::Task(id) => tasks::claim_task(store, &terms, id, self.seconds, &files)
                .await?
                .map(|told| told.map(|claimed| claimed.map(|task| Claimed::Task(Box::new(task))))),
            What::Next { key, skipped } => tasks::next_task(store, &terms, key, self.seconds, skipped, &files)
                .await?
                .map(|told| told.map(|claimed| claimed.map(Claimed::Next))),
        })
    }

    fn judge(&self, question: ScopeQuestion) {
        if let Some(said) = self.said {
            said.gate.judge(question);
        }
    }

    fn judge_by_policy(&self, question: PolicyQuestion) {
        if let Some(said) = self.said {
            said.policy.judge(&question);
        }
    }

    fn choose_team(&self, handles: &BTreeMap<String, String>) -> Result<(), ApiError> {
        self.team.choose(handles)
    }
}

/// The end of the claim of a task.
pub(super) struct End<'a> {
    pub team: &'a ChosenTeam<'a>,
    pub id: &'a TaskId,
    pub token: Option<i64>,
    /// Result or note.
    pub text: &'a str,
    pub is_completed: bool,
}

struct EndCall<'a> {
    end: &'a End<'a>,
    files: FilesOfRelease<'a>,
}

/// A task whose claim has ended.
pub(super) enum Ended {
    Completed(CompletedTask),
    Released(ReleasedTask),
}

impl AdmittedCall for EndCall<'_> {
    type Outcome = Told<WithFiles<Ended, ReleaseOutcome>>;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<Self::Outcome>, StoreError> {
        let terms = self.end.team.terms(terms);
        let End { id, token, text, .. } = *self.end;
        let files = &self.files;
        Ok(if self.end.is_completed {
            let completed = tasks::complete_task(store, &terms, id, token, text, files).await?;
            completed.map(|told| told.map(|ended| ended.map(Ended::Completed)))
        } else {
            let released = tasks::release_task(store, &terms, id, token, text, files).await?;
            released.map(|told| told.map(|ended| ended.map(Ended::Released)))
        })
    }

    fn choose_team(&self, handles: &BTreeMap<String, String>) -> Result<(), ApiError> {
        self.end.team.choose(handles)
    }
}

/// Ends the claim of a task; returns what waits for the caller as well. It asks the source about the work where the store cannot tell.
pub(super) async fn end(
    app: &App,
    admission: &mut Admission<'_>,
    end: &End<'_>,
    files: &FilesAsked,
    head: &Head,
) -> Result<(Ended, Waiting), ApiError> {
    let mut judged = Vec::new();
    loop {
        let call = EndCall {
            end,
            files: files.of_ended(head, admission.can_ask(), &judged),
        };
        let (outcome, waits) = run(admission, &call).await?;
        let outcome = match outcome {
            WithFiles::Done(ended) => return Ok((ended, waits)),
            WithFiles::NotDone { because, .. } => because,
        };
        let work = files.work().ok_or(ApiError::Internal)?;
        match release::ask(admission, work, files.new_head.as_ref(), outcome).await? {
            Ok(verdicts) => judged = verdicts,
            Err(outcome) => {
                let response = release::respond(app, work, admission, files.new_head.as_ref(), outcome).await?;
                return Err(refused(response, end.id.as_str(), waits));
            }
        }
    }
}

/// The refusal of a claim because of the files of the task `id`.
pub(super) fn refused_claim(
    app: &App,
    admission: &Admission<'_>,
    files: &FilesAsked,
    said: Option<Said<'_>>,
    outcome: &ClaimOutcome,
    id: &str,
    waits: Waiting,
) -> ApiError {
    let (Some(work), Some(Said { gate, policy })) = (files.work(), said) else {
        return ApiError::Internal;
    };
    let judged = gate.end(&outcome.survey().gate);
    let response = claim::respond(app, work, admission, LockMode::Writing, outcome, judged, &policy.end());
    refused(response, id, waits)
}

fn refused(response: PostResponse, id: &str, waiting: Waiting) -> ApiError {
    let Some(mut error) = response.error else {
        return ApiError::Internal;
    };
    let mut orchestration = response.orchestration;
    let hint = match error.error {
        ErrorCode::LockLost => "; \"claim_files\": false leaves the files of the task alone",
        _ => "",
    };
    orchestration.reason = format!("Task {id}: {}{hint}", orchestration.reason);
    error.message.clone_from(&orchestration.reason);
    let metadata = orchestration.metadata.take().unwrap_or_default();
    orchestration.metadata = Some(Metadata {
        task_id: Some(id.to_owned()),
        ..metadata
    });
    ApiError::TaskFiles(Box::new(AgentError {
        error,
        orchestration,
        waiting,
    }))
}

/// Adds to `response` what the claim of the files of its task found.
pub(super) fn add_claimed(
    response: &mut TaskResponse,
    app: &App,
    admission: &Admission<'_>,
    files: &FilesAsked,
    said: Option<Said<'_>>,
    survey: Option<Survey>,
) {
    let (Some(work), Some(survey), Some(Said { gate, policy })) = (files.work(), survey, said) else {
        return;
    };
    let judged = gate.end(&survey.gate);
    let outcome = ClaimOutcome::Claimed(survey);
    let granted = claim::respond(app, work, admission, LockMode::Writing, &outcome, judged, &policy.end());
    response.locks = granted.locks.unwrap_or_default();
    response.warnings.extend(granted.warnings);
}

/// Adds to `response` what came of the files that were given back with its task.
pub(super) async fn add_released(
    response: &mut TaskResponse,
    app: &App,
    admission: &Admission<'_>,
    files: &FilesAsked,
    released: Option<crate::state::locks::Released>,
) -> Result<(), ApiError> {
    let (Some(work), Some(released)) = (files.work(), released) else {
        return Ok(());
    };
    let outcome = ReleaseOutcome::Released(Box::new(released));
    let given_back = release::respond(app, work, admission, files.new_head.as_ref(), outcome).await?;
    response.warnings.extend(given_back.warnings);
    response.orphaned_dependencies = given_back.orphaned_dependencies;
    Ok(())
}
