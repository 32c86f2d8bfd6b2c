//! The files of a task: how a request claims and releases them, and how they affect its response.

use coord_protocol::tasks::{TaskResponse, TaskWork};
use coord_protocol::{AgentError, ErrorCode, Metadata, PostResponse, Waiting};

use super::caller::TeamAgent;
use super::calls::run;
use super::team_selection::{SelectedTeam, is_about_team};
use coord_domain::team::TaskId;
use coord_domain::{Branch, CommitSha, LockMode};
use coord_server::admission::{Admission, AdmittedCall, Right};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::extension::ToolUse;
use coord_server::operations::WorkRequest;
use coord_server::operations::claim_rules::ClaimRules;
use coord_server::operations::fields::parse_optional;
use coord_server::operations::release::ReleasedWork;
use coord_server::operations::{claim, release};
use coord_state::admission::{AdmissionTerms, Admitted, Question};
use coord_state::locks::{ClaimOutcome, ReleaseOutcome, Released, Survey};
use coord_store::{Store, StoreError};
use coord_teams_state::tasks::{self, ClaimedFiles, ReleasedFiles, TaskClaim, TaskEnd};
use coord_teams_state::teams::{RequestKey, TeamCallResponse};

/// How a request handles the files of its task.
#[derive(Debug)]
pub(super) struct FileTerms {
    is_left_alone: bool,
    /// The branch and commit of the work on the files, if the request has that.
    work: Option<WorkRequest>,
    /// The commit that was pushed.
    new_head: Option<CommitSha>,
    /// Whether the work is discarded.
    is_abandoned: bool,
}

impl FileTerms {
    /// A claim has neither `new_head` nor `abandon`.
    pub fn parse(
        agent: &TeamAgent,
        task_work: &TaskWork,
        new_head: Option<&str>,
        abandon: Option<bool>,
    ) -> Result<Self, ApiError> {
        let branch = parse_optional("branch", task_work.branch.as_deref(), Branch::parse)?;
        let work_branch = parse_optional("work_branch", task_work.work_branch.as_deref(), Branch::parse)?;
        let agent_head = parse_optional("agent_head", task_work.agent_head.as_deref(), CommitSha::parse)?;
        let base_head = parse_optional("base_head", task_work.base_head.as_deref(), CommitSha::parse)?;
        let new_head = parse_optional("new_repo_head", new_head, CommitSha::parse)?;
        let is_abandoned = abandon == Some(true);
        let work = match (branch, agent_head) {
            (Some(branch), Some(agent_head)) => Some(WorkRequest::of_task(
                agent.repo.clone(),
                (branch, work_branch),
                (agent_head, base_head),
                agent.identity(),
                task_work.interface,
            )),
            (None, Some(_)) => return Err(ApiError::invalid_field("branch", "is required with agent_head")),
            _ => None,
        };
        if is_abandoned && work.is_none() {
            let problem = "is required with abandon, and so is branch";
            return Err(ApiError::invalid_field("agent_head", problem));
        }
        Ok(FileTerms {
            is_left_alone: task_work.claim_files == Some(false),
            work,
            new_head,
            is_abandoned,
        })
    }

    /// The branch and commit of the work on the files, unless they are left alone.
    fn work(&self) -> Option<&WorkRequest> {
        self.work.as_ref().filter(|_| !self.is_left_alone)
    }

    /// Begins the admission. If the branch cannot be read now, the files have no head, and the caller can claim only a
    /// task without files.
    pub async fn begin<'a>(
        &'a self,
        app: &'a App,
        agent: &'a TeamAgent,
        is_claim: bool,
    ) -> Result<(Admission<'a>, Head), ApiError> {
        let Some(work) = self.work() else {
            return Ok((agent.begin(app, Right::Push).await?, Head::NotSent));
        };
        let admission = match is_claim {
            true => work.begin(app, Right::Push).await.map(Admission::for_writing),
            false => work.begin_release(app, !self.is_abandoned).await,
        };
        match admission {
            Ok(admission) => Ok((admission, Head::Found)),
            Err(error) if error.is_of_source() || matches!(error, ApiError::UnknownBranch { .. }) => {
                Ok((agent.begin(app, Right::Push).await?, Head::NotFound(error)))
            }
            Err(error) => Err(error),
        }
    }

    /// The rules for the files of a claim.
    pub fn rules<'a>(
        &'a self,
        app: &'a App,
        admission: &Admission<'_>,
        tool_use: &'a ToolUse,
    ) -> Option<ClaimRules<'a>> {
        Some(ClaimRules::new(app, self.work()?, admission, tool_use))
    }

    pub fn released_work<'a>(&'a self, admission: &Admission<'_>) -> Option<ReleasedWork<'a>> {
        Some(ReleasedWork::new(admission, self.work()?, self.new_head.as_ref()))
    }

    /// Keeps the locks in a release without a pushed commit, because it is unknown which files may be released.
    pub fn keep_without_new_head(&mut self) {
        if self.new_head.is_none() && !self.is_abandoned {
            self.work = None;
        }
    }
}

/// The head of the files' branch.
pub(super) enum Head {
    /// The request names none, or leaves the files alone.
    NotSent,
    /// Admission or the script finds it.
    Found,
    NotFound(ApiError),
}

impl Head {
    /// If `error` says that a head is missing, returns why. Otherwise, returns `error`.
    pub fn explain(&self, error: ApiError) -> ApiError {
        let is_head_missing = matches!(
            error,
            ApiError::InvalidField {
                field: "agent_head" | "new_repo_head",
                ..
            }
        );
        match self {
            Head::NotFound(cause) if is_head_missing => cause.clone(),
            _ => error,
        }
    }
}

/// A claim of a given task, or of the next one.
pub(super) struct ClaimCall<'a> {
    pub team: SelectedTeam,
    pub seconds: u32,
    pub files: &'a FileTerms,
    pub head: &'a Head,
    pub rules: Option<ClaimRules<'a>>,
    pub target: ClaimTarget<'a>,
    /// Tasks that intents refuse.
    pub skipped: Vec<String>,
}

/// The task to claim.
pub(super) enum ClaimTarget<'a> {
    Task(&'a TaskId),
    /// The next one that is not skipped.
    Next(RequestKey<'a>),
}

impl AdmittedCall for ClaimCall<'_> {
    type Outcome = TeamCallResponse<TaskClaim>;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<Self::Outcome>, StoreError> {
        let terms = self.team.terms(terms);
        let files = match (self.files.work(), &self.rules, self.head) {
            _ if self.files.is_left_alone => ClaimedFiles::Unchanged,
            (Some(work), Some(rules), Head::Found) => ClaimedFiles::Claimed {
                policy: rules.policy_terms(),
                agent_head: &work.agent_head,
                gate: rules.gate_terms(),
            },
            _ => ClaimedFiles::NoHead,
        };
        match self.target {
            ClaimTarget::Task(id) => tasks::claim_task(store, &terms, id, self.seconds, &files).await,
            ClaimTarget::Next(key) => tasks::next_task(store, &terms, key, self.seconds, &self.skipped, &files).await,
        }
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        match (question, &mut self.rules) {
            (question, Some(rules)) if !is_about_team(&question) => rules.answer(admission, question).await,
            (question, _) => self.team.answer(admission, question).await,
        }
    }
}

/// The end of the claim of a task.
pub(super) struct EndCall<'a> {
    pub team: SelectedTeam,
    pub id: &'a TaskId,
    pub token: Option<i64>,
    /// Result or note.
    pub text: &'a str,
    pub is_completed: bool,
    pub files: &'a FileTerms,
    pub head: &'a Head,
    pub work: Option<ReleasedWork<'a>>,
}

impl AdmittedCall for EndCall<'_> {
    type Outcome = TeamCallResponse<TaskEnd>;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<Self::Outcome>, StoreError> {
        let terms = self.team.terms(terms);
        let files = match (&self.work, self.head) {
            _ if self.files.is_left_alone => ReleasedFiles::Unchanged,
            (Some(_), Head::Found) if self.files.is_abandoned => ReleasedFiles::Abandoned,
            (Some(work), Head::Found) => ReleasedFiles::Released {
                new_head: work.new_head,
                agent_head: work.agent_head,
                can_ask: work.can_ask,
                judged_files: &work.judged_files,
            },
            _ => ReleasedFiles::NoHead,
        };
        match self.is_completed {
            true => tasks::complete_task(store, &terms, self.id, self.token, self.text, &files).await,
            false => tasks::release_task(store, &terms, self.id, self.token, self.text, &files).await,
        }
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        match (question, &mut self.work) {
            (question @ Question::Ancestry(_), Some(work)) => work.answer(admission, question).await,
            (question, _) => self.team.answer(admission, question).await,
        }
    }
}

/// Ends the claim of a task. Also returns the caller's pending items.
pub(super) async fn end(
    app: &App,
    admission: &mut Admission<'_>,
    mut call: EndCall<'_>,
) -> Result<(TaskEnd, Waiting), ApiError> {
    let (task_end, waiting) = run(admission, &mut call).await?;
    let TaskEnd::Files(outcome) = task_end else {
        return Ok((task_end, waiting));
    };
    let work = call.files.work().ok_or(ApiError::Internal)?;
    let response = release::respond(app, work, admission, call.files.new_head.as_ref(), outcome).await?;
    Err(claim_error(response, call.id.as_str(), waiting))
}

/// The refusal of a claim because of the files of the task `id`.
pub(super) fn refused_claim(
    app: &App,
    admission: &Admission<'_>,
    files: &FileTerms,
    rules: Option<ClaimRules<'_>>,
    outcome: &ClaimOutcome,
    id: &str,
    waiting: Waiting,
) -> ApiError {
    let (Some(work), Some(rules)) = (files.work(), rules) else {
        return ApiError::Internal;
    };
    let response = claim::respond(app, work, admission, LockMode::Writing, outcome, rules);
    claim_error(response, id, waiting)
}

fn claim_error(response: PostResponse, id: &str, waiting: Waiting) -> ApiError {
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
    ApiError::Extension(Box::new(AgentError {
        error,
        orchestration,
        waiting,
    }))
}

/// Adds to `response` the findings of the claim of the task's files.
pub(super) fn add_claimed(
    response: &mut TaskResponse,
    app: &App,
    admission: &Admission<'_>,
    files: &FileTerms,
    rules: Option<ClaimRules<'_>>,
    survey: Option<Survey>,
) {
    let (Some(work), Some(survey), Some(rules)) = (files.work(), survey, rules) else {
        return;
    };
    let outcome = ClaimOutcome::Claimed(survey);
    let claim = claim::respond(app, work, admission, LockMode::Writing, &outcome, rules);
    response.locks = claim.locks.unwrap_or_default();
    response.warnings.extend(claim.warnings);
}

/// Adds to `response` the findings of the release of the task's files.
pub(super) async fn add_released(
    response: &mut TaskResponse,
    app: &App,
    admission: &Admission<'_>,
    files: &FileTerms,
    released: Option<Released>,
) -> Result<(), ApiError> {
    let (Some(work), Some(released)) = (files.work(), released) else {
        return Ok(());
    };
    let outcome = ReleaseOutcome::Released(Box::new(released));
    let release = release::respond(app, work, admission, files.new_head.as_ref(), outcome).await?;
    response.warnings.extend(release.warnings);
    response.orphaned_dependencies = release.orphaned_dependencies;
    Ok(())
}
