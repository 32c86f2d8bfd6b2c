//! The acts on an intent: changes of its status, its overlaps or its files.

use coord_intents::intent::Status;
use coord_intents::ledger::blank_credentials;
use coord_protocol::plain_text::quote_line;
use coord_protocol::{Action, AllowOverlapRequest, ErrorCode, IntentAct, IntentResponse, TakeOverRequest};
use futures::FutureExt;

use super::intent_caller::{IntentCaller, id_in, is_person, person_required};
use super::origin::origin;
use super::registry_context::{RegistryContext, intent_response, refusal_response};
use super::rounds::Rounds;
use super::select::select;
use crate::registered::unknown_intent;
use coord_auth::Caller;
use coord_domain::FilePaths;
use coord_intents_state::intents::{
    AllowOutcome, Criteria, Move, MoveOutcome, TakeOutcome, allow_overlap, move_intent, take_over,
};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, line, require};

/// The most characters of a reason.
const MAX_REASON_CHARS: usize = 500;

/// Performs `act` on the intent `id`. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors
/// When a field is missing or invalid, there is no such intent, the act takes a person, the caller is denied, or the
/// store does not respond. A refusal by the rules is a response.
pub async fn act(
    app: &App,
    id: &str,
    act: &IntentAct,
    caller: Caller,
    agent: Option<&str>,
) -> Result<IntentResponse, ApiError> {
    let fields = act.caller();
    let (branch, agent_id) = (fields.branch.as_deref(), fields.agent_id.as_deref());
    let caller = IntentCaller::parse(&fields.repo_url, branch, agent_id, caller, agent)?;
    let id = id_in("id", id)?;
    let origin = origin(fields.session.as_ref())?;
    let (status, is_forced, reason) = match act {
        IntentAct::Select(_) => return select(app, &caller, id, &origin).await,
        IntentAct::Allow(request) => return allow(app, &caller, id, request, &origin).await,
        IntentAct::TakeOver(request) => return take(app, &caller, id, request, &origin).await,
        IntentAct::Complete(request) if request.force == Some(true) => {
            (Status::Completed, true, Some(require("reason", &request.reason)?))
        }
        IntentAct::Complete(request) => (Status::Completed, false, request.reason.as_ref()),
        IntentAct::Abandon(request) => (Status::Abandoned, false, Some(require("reason", &request.reason)?)),
        IntentAct::Block(request) => (Status::Blocked, false, Some(require("reason", &request.reason)?)),
        IntentAct::Unblock(request) => (Status::InProgress, false, request.reason.as_ref()),
    };
    let change = StatusChange {
        status,
        is_forced,
        reason: clean_reason(reason)?,
    };
    change_status(app, &caller, id, &change, &origin).await
}

struct StatusChange {
    status: Status,
    /// Whether to complete the intent although criteria are not met.
    is_forced: bool,
    /// Empty if none was sent.
    reason: String,
}

/// The reason without credentials, because it is stored in the record, the ledger and an event.
fn clean_reason(reason: Option<&String>) -> Result<String, ApiError> {
    let Some(reason) = reason else {
        return Ok(String::new());
    };
    let reason = line("reason", reason, MAX_REASON_CHARS)?;
    Ok(blank_credentials(&reason).into_owned())
}

async fn change_status(
    app: &App,
    caller: &IntentCaller,
    id: &str,
    change: &StatusChange,
    origin: &str,
) -> Result<IntentResponse, ApiError> {
    let status = change.status;
    let mut admission = caller.begin(app).await?;
    let is_person = is_person(&admission);
    let mut rounds = Rounds::begin();
    loop {
        let context = RegistryContext::read(&admission, id).await?;
        let intent = &context.stored.intent;
        let transition = Move {
            id,
            status,
            is_person,
            criteria: match intent.criteria_are_met() {
                true => Criteria::Met,
                false if change.is_forced => Criteria::Forced,
                false => Criteria::Unmet,
            },
            seen: &context.registry.version,
            reason: &change.reason,
            origin,
        };
        let outcome = admission
            .run_plain(&transition, |store, terms, transition| {
                move_intent(store, terms, transition).boxed()
            })
            .await?;
        let refusal = match outcome {
            MoveOutcome::Moved(_) => {
                let reason = format!("Intent {id} is {}", status.as_str());
                return intent_response(&admission, id, reason).await;
            }
            MoveOutcome::Changed => {
                rounds.wait().await?;
                continue;
            }
            MoveOutcome::Unknown => return Err(unknown_intent(id)),
            MoveOutcome::Person(from) => return Err(person_required(app, reserved_act(from, status))),
            MoveOutcome::NoTransition(from) => {
                let reason = format!("Intent {id} is {} and cannot become {}", from.as_str(), status.as_str());
                (ErrorCode::IntentTransition, Action::Stop, reason)
            }
            MoveOutcome::Criteria => {
                let unmet = intent.acceptance_criteria.iter();
                let unmet: Vec<&str> = unmet
                    .filter(|criterion| criterion.met.is_none())
                    .map(|criterion| criterion.text.as_str())
                    .collect();
                let reason = format!(
                    "{} of {} criteria of intent {id} are not marked as met, the first: {}; mark them with evidence, or \
                     ask a person to complete it by force",
                    unmet.len(),
                    intent.acceptance_criteria.len(),
                    quote_line(unmet.first().unwrap_or(&""))
                );
                (ErrorCode::CriteriaUnmet, Action::Stop, reason)
            }
        };
        return refusal_response(&admission, id, refusal).await;
    }
}

/// The act that this transition is, if it is reserved for people.
fn reserved_act(from: Status, to: Status) -> &'static str {
    match (from, to) {
        (_, Status::Completed) => "complete an intent of another login, or one whose criteria are not all met",
        (Status::InProgress, Status::Abandoned | Status::Blocked) => {
            "abandon or block an active intent of another login that is not assigned to you"
        }
        (_, Status::InProgress) => "unblock an intent",
        _ => "end an intent that is blocked",
    }
}

async fn allow(
    app: &App,
    caller: &IntentCaller,
    id: &str,
    request: &AllowOverlapRequest,
    origin: &str,
) -> Result<IntentResponse, ApiError> {
    let other = id_in("other", require("other", &request.other)?)?;
    if other == id {
        return Err(ApiError::invalid_field("other", "must be another intent"));
    }
    let mut admission = caller.begin(app).await?;
    if !is_person(&admission) {
        return Err(person_required(app, "let two intents overlap"));
    }
    let outcome = admission
        .run_plain(&(id, other, origin), |store, terms, (id, other, origin)| {
            allow_overlap(store, terms, id, other, origin).boxed()
        })
        .await?;
    let refusal = match outcome {
        AllowOutcome::Allowed(_) => {
            let reason = format!("Intents {id} and {other} may overlap");
            return intent_response(&admission, id, reason).await;
        }
        AllowOutcome::Unknown(unknown) => return Err(unknown_intent(&unknown)),
        AllowOutcome::Ended(status) => {
            let reason = format!("One of intents {id} and {other} is {}", status.as_str());
            (ErrorCode::IntentNotActive, Action::Stop, reason)
        }
        AllowOutcome::Full => {
            let reason = format!("One of intents {id} and {other} may overlap with too many");
            (ErrorCode::TooManyIntents, Action::Stop, reason)
        }
    };
    refusal_response(&admission, id, refusal).await
}

async fn take(
    app: &App,
    caller: &IntentCaller,
    id: &str,
    request: &TakeOverRequest,
    origin: &str,
) -> Result<IntentResponse, ApiError> {
    let paths = require("file_paths", &request.file_paths)?;
    let paths = FilePaths::parse(paths.iter().map(String::as_str)).map_err(in_field("file_paths"))?;
    let mut admission = caller.begin(app).await?;
    if !is_person(&admission) {
        return Err(person_required(app, "take files over"));
    }
    let outcome = admission
        .run_plain(&(id, origin, &paths), |store, terms, (id, origin, paths)| {
            take_over(store, terms, id, origin, paths).boxed()
        })
        .await?;
    let refusal = match outcome {
        TakeOutcome::Taken(_) => {
            let reason = format!("Intent {id} now owns {} more files", paths.len());
            return intent_response(&admission, id, reason).await;
        }
        TakeOutcome::Unknown => return Err(unknown_intent(id)),
        TakeOutcome::NotActive(status) => {
            let reason = format!("Intent {id} is {}, and only an active one owns files", status.as_str());
            (ErrorCode::IntentNotActive, Action::Stop, reason)
        }
        TakeOutcome::Full => {
            let reason = "the intents of the repository own the maximum of files; complete or abandon one first";
            (ErrorCode::TooManyIntents, Action::Stop, reason.to_owned())
        }
    };
    refusal_response(&admission, id, refusal).await
}
