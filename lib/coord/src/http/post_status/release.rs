//! OPEN: files are given back, after a push or without one.

use coord_protocol::{ErrorCode, Metadata, Orchestration, PostResponse};

use super::super::ApiError;
use super::super::entrance::Right;
use super::super::question::{Question, graph_warning, named};
use crate::app::App;
use crate::domain::orchestration::{self, Action, Facts, Operation};
use crate::domain::work::Shortfall;
use crate::domain::{CommitSha, LockEntry, LockReason};
use crate::source::KnownHead;
use crate::store::scripts::{self, Release, ReleaseOutcome, Released};

/// Gives files back.
pub(super) async fn release(
    state: &App,
    question: &Question,
    message: &LockReason,
    new_head: Option<CommitSha>,
    is_abandoned: bool,
) -> Result<PostResponse, ApiError> {
    let entering = question.enter_release(state, Right::Push, !is_abandoned).await;
    let mut entrance = entering.map_err(|error| without_branch(error, is_abandoned))?;
    let mut judged = Vec::new();
    let outcome = loop {
        let release = Release {
            new_head: new_head.as_ref(),
            agent_head: &question.agent_head,
            is_abandoned,
            message,
            paths: &question.paths,
            can_ask: entrance.can_ask() && judged.is_empty(),
            judged: &judged,
        };
        let entered = scripts::release(&*state.store, &entrance.entry(), &release).await?;
        let passed = entrance.pass(entered).await;
        match passed.map_err(|error| without_branch(error, is_abandoned))? {
            None => {}
            Some(ReleaseOutcome::AskWork { head, etag, written }) => {
                let Some(new_head) = &new_head else {
                    return Err(ApiError::Internal);
                };
                let known = KnownHead {
                    commit: head.commit,
                    etag,
                };
                let judging = entrance
                    .judge_work(known, new_head, &question.agent_head, &written)
                    .await;
                judged = judging.map_err(|error| without_branch(error, is_abandoned))?;
            }
            Some(outcome) => break outcome,
        }
    };
    let mut notes = Vec::new();
    if let Some(head) = outcome.head() {
        entrance.note(head, &mut notes);
    }
    let mut response = respond(question, &entrance.branch_name(), new_head.as_ref(), outcome)?;
    notes.append(&mut response.warnings);
    response.warnings = notes;
    response.repo_head_ref = entrance.head_ref();
    Ok(response)
}

/// Says how to give back what is held on a branch that is gone.
fn without_branch(error: ApiError, is_abandoned: bool) -> ApiError {
    match error {
        ApiError::UnknownBranch {
            repo,
            branch,
            near,
            is_empty,
            hint,
        } if !is_abandoned => {
            let way_out = "what you hold there is given back by \"abandon\": true";
            ApiError::UnknownBranch {
                repo,
                branch,
                near,
                is_empty,
                hint: Some(hint.map_or_else(|| way_out.to_owned(), |hint| format!("{hint}; {way_out}"))),
            }
        }
        error => error,
    }
}

fn respond(
    question: &Question,
    branch: &str,
    new_head: Option<&CommitSha>,
    outcome: ReleaseOutcome,
) -> Result<PostResponse, ApiError> {
    let facts = Facts {
        is_unpushed: matches!(outcome, ReleaseOutcome::NotPushed { .. }),
        is_lost: matches!(outcome, ReleaseOutcome::Lost { .. }),
        ..Facts::default()
    };
    let action = orchestration::decide(Operation::Release, facts);
    let head = outcome.head().map(|head| head.commit.to_string());
    let mut response = match outcome {
        ReleaseOutcome::NoNewHead { written } => {
            return Err(ApiError::InvalidField {
                field: "new_repo_head",
                problem: format!(
                    "is required, because you have written {}: push, and send the commit that you pushed \
                     (or \"abandon\": true, if you throw the work away)",
                    named(&written)
                ),
            });
        }
        ReleaseOutcome::AskWork { .. } => return Err(ApiError::Internal),
        ReleaseOutcome::NotPushed { unpushed, .. } => {
            let why = unpushed.first().map_or(Shortfall::Unknown, |(_, shortfall)| *shortfall);
            let files: Vec<String> = unpushed.into_iter().map(|(path, _)| path).collect();
            let reason = format!(
                "You have written {}, and {}; push first, the locks are kept (or send \"abandon\": true, if you throw the \
                 work away)",
                named(&files),
                shortfall(why, question, branch, new_head)
            );
            let metadata = Metadata {
                remote_head: head.clone(),
                unpushed: files,
                ..Metadata::default()
            };
            PostResponse::refusal(ErrorCode::NotPushed, Orchestration::new(action, reason).with(metadata))
        }
        ReleaseOutcome::Lost { others, .. } => lost(action, &others),
        ReleaseOutcome::Released(released) => released_response(action, question, released),
    };
    response.repo_head = head;
    Ok(response)
}

/// What is missing, as the second half of a sentence.
fn shortfall(why: Shortfall, question: &Question, branch: &str, new_head: Option<&CommitSha>) -> String {
    let commit = new_head.map(CommitSha::short).unwrap_or_default();
    let copy = question.agent_head.short();
    match why {
        Shortfall::SameCommit => {
            format!("commit {commit} is what {branch} was at when you claimed: nothing was committed since")
        }
        Shortfall::NotOnBranch => format!("commit {commit} is not on {branch}"),
        Shortfall::NotAfterClaim => {
            format!("commit {commit} of {branch} does not come after the one at which you claimed")
        }
        Shortfall::CopyAhead => format!(
            "your working copy is at {copy}, which is not on {branch} (where its work got there in another form, pull, and \
             send the agent_head that you have then)"
        ),
        Shortfall::Unknown => format!("it cannot be seen that commit {commit} brings that to {branch}"),
    }
}

fn lost(action: Action, others: &[LockEntry]) -> PostResponse {
    let mut files: Vec<String> = others.iter().map(|entry| entry.file_path.clone()).collect();
    files.sort();
    files.dedup();
    let owner = others.first().map(|entry| entry.user_id.clone()).unwrap_or_default();
    let message = others.first().map(|entry| entry.message.clone()).unwrap_or_default();
    let reason = format!(
        "Nothing was released, because you do not hold {} any more; user '{owner}' has it now: {message}",
        named(&files)
    );
    let metadata = Metadata {
        lock_owner: Some(owner),
        lock_owner_agent: others.first().and_then(|entry| entry.agent_id.clone()),
        conflicts: files,
        ..Metadata::default()
    };
    PostResponse::refusal(ErrorCode::LockLost, Orchestration::new(action, reason).with(metadata))
}

fn released_response(action: Action, question: &Question, released: Released) -> PostResponse {
    let reason = if !released.released.is_empty() {
        format!("Released {}", named(&released.released))
    } else if question.paths.is_everything() {
        format!("You hold nothing on {}", question.branch)
    } else if !released.again.is_empty() && released.missing.is_empty() {
        "You had given these files back already".to_owned()
    } else {
        "You held none of these files".to_owned()
    };
    let mut response = PostResponse::new(true, Orchestration::new(action, reason));
    let warnings = &mut response.warnings;
    if !released.unchanged.is_empty() {
        warnings.push(format!(
            "UNCHANGED: At that commit {} as when you claimed; if you have changed something there, it was not pushed.",
            match released.unchanged.as_slice() {
                [one] => format!("{} is", named(&[one])),
                several => format!("{} are", named(several)),
            }
        ));
    }
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
            "LOCK_EXPIRED: You no longer held '{path}', and nobody else writes it.{readers}"
        ));
    }
    for (path, seconds) in &released.again {
        warnings.push(format!("ALREADY_RELEASED: You gave '{path}' back {seconds} s ago."));
    }
    for entry in &released.lost {
        warnings.push(format!(
            "LOCK_LOST: You no longer held '{}'; user '{}' writes it now: {}",
            entry.file_path, entry.user_id, entry.message
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
