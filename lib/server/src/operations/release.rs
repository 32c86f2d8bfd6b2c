//! Releases files, after a push or without one.

use coord_protocol::plain_text::quote_line;
use coord_protocol::{Action, ErrorCode, Membership, Metadata, Orchestration, PostResponse};

use super::interfaces::{compare_interfaces, parse_notices};
use super::lock_views::memberships;
use super::policy_request::PolicyVerdict;
use super::sentences::{graph_warning, list_paths, unchanged_warning};
use super::work_request::{CLONE_MAY_LAG, WorkRequest};
use crate::admission::{Admission, AdmittedCall};
use crate::app::App;
use crate::error::ApiError;
use coord_domain::work::Shortfall;
use coord_domain::{CommitSha, FilePaths, LockEntry, LockReason};
use coord_sources::KnownHead;
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, AncestryQuestion, Question};
use coord_state::locks::{JudgedFile, ReleaseOutcome, Released};
use coord_store::{Store, StoreError};

/// The terms of a release, besides the files.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    pub reason: &'a LockReason,
    pub new_head: Option<&'a CommitSha>,
    /// Whether the work is abandoned.
    pub is_abandoned: bool,
}

/// Releases the files of `request`.
///
/// # Errors
/// When the pushed commit is missing, the caller is denied, or store or source do not respond.
pub async fn release(app: &App, request: &WorkRequest, release: &Release<'_>) -> Result<PostResponse, ApiError> {
    let result = try_release(app, request, release).await;
    match release.is_abandoned {
        true => result,
        false => result.map_err(suggest_abandoning),
    }
}

async fn try_release(app: &App, request: &WorkRequest, release: &Release<'_>) -> Result<PostResponse, ApiError> {
    let mut admission = request.begin_release(app, !release.is_abandoned).await?;
    let mut call = ReleaseCall {
        release,
        paths: &request.paths,
        work: ReleasedWork::new(&admission, request, release.new_head),
    };
    let outcome = admission.run(&mut call).await?;
    respond(app, request, &admission, release.new_head, outcome).await
}

/// The work that is released, and the source's verdicts on it, once the script has asked for them.
pub struct ReleasedWork<'a> {
    pub new_head: Option<&'a CommitSha>,
    pub agent_head: &'a CommitSha,
    /// Whether the source can still be asked: it is asked only once.
    pub can_ask: bool,
    pub judged_files: Vec<JudgedFile>,
}

impl<'a> ReleasedWork<'a> {
    pub fn new(admission: &Admission<'_>, request: &'a WorkRequest, new_head: Option<&'a CommitSha>) -> Self {
        ReleasedWork {
            new_head,
            agent_head: &request.agent_head,
            can_ask: admission.can_ask(),
            judged_files: Vec::new(),
        }
    }

    /// Has the source judge the work as the script asks.
    pub async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        match question {
            Question::Ancestry(AncestryQuestion::Work { head, etag, written }) => {
                let stored_head = KnownHead { commit: head, etag };
                let new_head = self.new_head.ok_or(ApiError::Internal)?;
                self.judged_files = admission
                    .judge_work(stored_head, new_head, self.agent_head, &written)
                    .await?;
                self.can_ask = false;
                Ok(())
            }
            question @ (Question::Head(_)
            | Question::Ancestry(AncestryQuestion::Commits { .. })
            | Question::Policy(_)
            | Question::Extension { .. }) => admission.answer(question).await,
        }
    }
}

/// The response to a release.
pub async fn respond(
    app: &App,
    request: &WorkRequest,
    admission: &Admission<'_>,
    new_head: Option<&CommitSha>,
    mut outcome: ReleaseOutcome,
) -> Result<PostResponse, ApiError> {
    let policy = match &mut outcome {
        ReleaseOutcome::Released(released) => {
            let mut policy = PolicyVerdict::of_release(app, request, &released.policy).await;
            policy.remove_ignored(&mut released.missing);
            policy
        }
        _ => PolicyVerdict::of_last_known(app, request),
    };
    if let (ReleaseOutcome::Released(released), Some(new_head)) = (&mut outcome, new_head) {
        let unchanged = admission.unchanged_since_claim(new_head, &released.by_store).await;
        released.unchanged.extend(unchanged);
    }
    let released = match &outcome {
        ReleaseOutcome::Released(released) => Some(released.clone()),
        _ => None,
    };
    let mut notes = Vec::new();
    if let Some(head) = outcome.head() {
        admission.report_head(head, &mut notes);
    }
    let your_teams = memberships(outcome.waiting());
    notes.extend(your_teams.iter().flat_map(Membership::warnings));
    let mut response = outcome_response(request, admission, new_head, outcome)?;
    notes.append(&mut response.warnings);
    response.warnings = notes;
    response.warnings.extend(policy.warnings());
    if let Some(released) = &released {
        for (file, text) in &released.notices {
            response.warnings.extend(parse_notices(file, text));
        }
        compare_interfaces(app, request, admission, new_head, released, &mut response).await;
    }
    response.your_teams = your_teams;
    response.repo_head_ref = admission.head_ref();
    Ok(response)
}

struct ReleaseCall<'a> {
    release: &'a Release<'a>,
    paths: &'a FilePaths,
    work: ReleasedWork<'a>,
}

impl AdmittedCall for ReleaseCall<'_> {
    type Outcome = ReleaseOutcome;

    async fn make(
        &self,
        store: &dyn Store,
        terms: &AdmissionTerms<'_>,
    ) -> Result<Admitted<ReleaseOutcome>, StoreError> {
        let (release, work) = (self.release, &self.work);
        let state_release = state::locks::Release {
            new_head: work.new_head,
            agent_head: work.agent_head,
            is_abandoned: release.is_abandoned,
            message: release.reason,
            paths: self.paths,
            can_ask: work.can_ask,
            judged_files: &work.judged_files,
        };
        state::locks::release(store, terms, &state_release).await
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        self.work.answer(admission, question).await
    }
}

/// Adds to an error about a deleted branch how to release locks there.
fn suggest_abandoning(mut error: ApiError) -> ApiError {
    if let ApiError::UnknownBranch { hint, .. } = &mut error {
        let fix = "to release your files there, abandon them";
        *hint = Some(match hint.take() {
            Some(hint) => format!("{hint}; {fix}"),
            None => fix.to_owned(),
        });
    }
    error
}

fn outcome_response(
    request: &WorkRequest,
    admission: &Admission<'_>,
    new_head: Option<&CommitSha>,
    outcome: ReleaseOutcome,
) -> Result<PostResponse, ApiError> {
    let head = outcome.head().map(|head| head.commit.to_string());
    let mut response = match outcome {
        ReleaseOutcome::NoNewHead { written } => {
            let problem = format!(
                "is required, because you hold {} for writing: push, and send the pushed commit, or abandon the work",
                list_paths(&written)
            );
            return Err(ApiError::invalid_field("new_repo_head", problem));
        }
        ReleaseOutcome::NotPushed { unpushed, .. } => {
            let mut shortfalls = unpushed.iter().map(|(_, shortfall)| *shortfall);
            let first = shortfalls.next().unwrap_or(Shortfall::Unknown);
            // Files that must be pushed come before those that must be checked again.
            let shortfall = match first {
                Shortfall::TooManyClaims => shortfalls.find(|other| *other != first).unwrap_or(first),
                first => first,
            };
            let files: Vec<String> = unpushed.into_iter().map(|(path, _)| path).collect();
            let fix = match shortfall {
                Shortfall::TooManyClaims => "release fewer files at once",
                _ => "push, then release again",
            };
            let mut reason = format!(
                "{} {} not pushed: {}. Your locks are kept: {fix}, or abandon the work",
                list_paths(&files),
                if files.len() == 1 { "is" } else { "are" },
                describe_shortfall(shortfall, request, &admission.expected_branch(), new_head),
            );
            if admission.head_is_from_clone()
                && matches!(
                    shortfall,
                    Shortfall::NotOnBranch | Shortfall::CopyAhead | Shortfall::Unknown
                )
            {
                reason = format!("{reason}. {CLONE_MAY_LAG}");
            }
            let metadata = Metadata {
                remote_head: head.clone(),
                unpushed: files,
                ..Metadata::default()
            };
            PostResponse::refusal(
                ErrorCode::NotPushed,
                Orchestration::new(Action::Push, reason).with(metadata),
            )
        }
        ReleaseOutcome::Lost { others, .. } => lost_response(&others),
        ReleaseOutcome::Released(released) => released_response(request, *released),
    };
    response.repo_head = head;
    Ok(response)
}

/// The shortfall as the second half of "... is not pushed: ".
fn describe_shortfall(
    shortfall: Shortfall,
    request: &WorkRequest,
    branch: &str,
    new_head: Option<&CommitSha>,
) -> String {
    let commit = new_head.map(CommitSha::short).unwrap_or_default();
    let copy = request.agent_head.short();
    match shortfall {
        Shortfall::SameCommit => {
            format!("{branch} is still at {commit}, as when you claimed")
        }
        Shortfall::NotOnBranch => format!("commit {commit} is not on {branch}"),
        Shortfall::BeforeClaim => format!("commit {commit} was already on {branch} when you claimed"),
        Shortfall::NotAfterClaim => {
            format!("commit {commit} of {branch} does not descend from the head at your claim")
        }
        Shortfall::CopyAhead => format!(
            "your working copy is at {copy}, which is not on {branch} (if its changes are there as another commit, \
             pull, and send the new agent_head)"
        ),
        Shortfall::TooManyClaims => {
            "the files were claimed at more heads of the branch than one request checks".to_owned()
        }
        Shortfall::Unknown => format!("Coord cannot confirm that commit {commit} brings your changes to {branch}"),
    }
}

fn lost_response(others: &[LockEntry]) -> PostResponse {
    let mut files: Vec<String> = others.iter().map(|entry| entry.file_path.clone()).collect();
    files.sort();
    files.dedup();
    let first = others.first();
    let owner = first.map(|entry| entry.user_id.clone()).unwrap_or_default();
    let message = first.map(|entry| quote_line(&entry.message)).unwrap_or_default();
    let reason = format!(
        "You do not hold {}; user '{owner}' does: {message}. Nothing was released",
        list_paths(&files)
    );
    let metadata = Metadata {
        lock_owner: Some(owner),
        lock_owner_agent: first.and_then(|entry| entry.agent_id.clone()),
        conflicts: files,
        ..Metadata::default()
    };
    PostResponse::refusal(
        ErrorCode::LockLost,
        Orchestration::new(Action::Stop, reason).with(metadata),
    )
}

fn released_response(request: &WorkRequest, released: Released) -> PostResponse {
    let reason = if !released.released.is_empty() {
        format!("Released {}", list_paths(&released.released))
    } else if request.paths.is_everything() {
        format!("You hold nothing on {}", request.branch)
    } else if !released.again.is_empty() && released.missing.is_empty() {
        "You had already released these files".to_owned()
    } else {
        "You held none of these files".to_owned()
    };
    let reason = match (released.pending.as_slice(), &request.work_branch) {
        (pending @ [_, ..], Some(work_branch)) => format!(
            "{reason}; until they are on {}, others see your changes of {} on {work_branch}",
            request.branch,
            list_paths(pending)
        ),
        _ => reason,
    };
    let mut response = PostResponse::new(true, Orchestration::new(Action::Proceed, reason));
    let warnings = &mut response.warnings;
    warnings.extend(unchanged_warning(&released.unchanged));
    for path in &released.missing {
        let readers: Vec<&str> = released
            .others
            .iter()
            .filter(|entry| &entry.file_path == path)
            .map(|entry| entry.user_id.as_str())
            .collect();
        let readers = if readers.is_empty() {
            String::new()
        } else {
            format!(" It is now being read by {}.", readers.join(", "))
        };
        warnings.push(format!(
            "LOCK_EXPIRED: You do not hold '{path}': your lock has expired, or you never claimed it. Nobody else \
             writes it.{readers}"
        ));
    }
    for (path, seconds) in &released.again {
        warnings.push(format!("ALREADY_RELEASED: You released '{path}' {seconds} s ago."));
    }
    if !released.pending_left_out.is_empty() {
        warnings.push(format!(
            "PENDING_FULL: Others do not see your changes of {}, because too many changes are pending: merge some.",
            list_paths(&released.pending_left_out)
        ));
    }
    for entry in &released.lost {
        warnings.push(format!(
            "LOCK_LOST: You do not hold '{}'; user '{}' writes it now: {}",
            entry.file_path,
            entry.user_id,
            quote_line(&entry.message)
        ));
    }
    if let Some(head) = &released.head {
        warnings.extend(graph_warning(&head.commit, released.graph_version.as_deref()));
    }
    if released.has_more_importers || released.importer_count > released.importers.len() as u64 {
        response.orphaned_dependencies_total = Some(released.importer_count);
    }
    response.orphaned_dependencies = released.importers;
    response
}
