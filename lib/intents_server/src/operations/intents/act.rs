//! The acts on an intent: changes of its status, its overlaps or its files.

use coord_intents::intent::Status;
use coord_intents::ledger::blank_credentials;
use coord_protocol::plain_text::quoted_line;
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

/// Most characters of a reason.
const MOST_REASON_CHARS: usize = 500;

/// Does `act` with the intent `id`. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors
/// When a field is missing or not valid, there is no such intent, the act takes a person, the caller is denied, or the store
/// does not respond. A refusal by the rules is a response.
pub async fn act(
    app: &App,
    id: &str,
    act: &IntentAct,
    caller: Caller,
    agent: Option<&str>,
) -> Result<IntentResponse, ApiError> {
    let sent = act.caller();
    let (branch, agent_id) = (sent.branch.as_deref(), sent.agent_id.as_deref());
    let caller = IntentCaller::parse(&sent.repo_url, branch, agent_id, caller, agent)?;
    let id = id_in("id", id)?;
    let origin = origin(sent.session.as_ref())?;
    let change = match act {
        IntentAct::Select(_) => return select(app, &caller, id, &origin).await,
        IntentAct::Allow(sent) => return allow(app, &caller, id, sent, &origin).await,
        IntentAct::TakeOver(sent) => return take(app, &caller, id, sent, &origin).await,
        IntentAct::Complete(sent) => {
            let is_forced = sent.force == Some(true);
            let reason = if is_forced {
                Some(require("reason", &sent.reason)?)
            } else {
                sent.reason.as_ref()
            };
            Change {
                status: Status::Completed,
                is_forced,
                reason: clean_reason(reason)?,
            }
        }
        IntentAct::Abandon(sent) => Change {
            status: Status::Abandoned,
            is_forced: false,
            reason: clean_reason(Some(require("reason", &sent.reason)?))?,
        },
        IntentAct::Block(sent) => Change {
            status: Status::Blocked,
            is_forced: false,
            reason: clean_reason(Some(require("reason", &sent.reason)?))?,
        },
        IntentAct::Unblock(sent) => Change {
            status: Status::InProgress,
            is_forced: false,
            reason: clean_reason(sent.reason.as_ref())?,
        },
    };
    change_status(app, &caller, id, &change, &origin).await
}

/// A change of the status.
struct Change {
    status: Status,
    /// Although criteria are not met.
    is_forced: bool,
    /// Why; empty where it was not said.
    reason: String,
}

/// Why, without credentials: it goes into the record, the ledger and an event.
fn clean_reason(reason: Option<&String>) -> Result<String, ApiError> {
    let Some(reason) = reason else {
        return Ok(String::new());
    };
    let reason = line("reason", reason, MOST_REASON_CHARS)?;
    Ok(blank_credentials(&reason).into_owned())
}

async fn change_status(
    app: &App,
    caller: &IntentCaller,
    id: &str,
    change: &Change,
    origin: &str,
) -> Result<IntentResponse, ApiError> {
    let status = change.status;
    let mut admission = caller.begin(app).await?;
    let holder = admission.holder().clone();
    let is_person = is_person(app, &admission);
    let mut rounds = Rounds::begin();
    loop {
        let gathered = RegistryContext::read(app, &caller.repo, &holder, id).await?;
        let intent = &gathered.stored.intent;
        let wanted = Move {
            id,
            status,
            is_person,
            criteria: match intent.criteria_are_met() {
                true => Criteria::Met,
                false if change.is_forced => Criteria::Forced,
                false => Criteria::Unmet,
            },
            seen: &gathered.registry.version,
            reason: &change.reason,
            origin,
        };
        let moved = admission
            .run_plain(&wanted, |store, terms, wanted| {
                move_intent(store, terms, wanted).boxed()
            })
            .await?;
        let refusal = match moved {
            MoveOutcome::Moved(_) => {
                let done_reason = format!("Intent {id} is {}", status.as_str());
                return intent_response(app, &caller.repo, &holder, id, done_reason).await;
            }
            MoveOutcome::Changed => {
                rounds.again().await?;
                continue;
            }
            MoveOutcome::Unknown => return Err(unknown_intent(id)),
            MoveOutcome::Person(from) => return Err(person_required(app, &of_person(from, status))),
            MoveOutcome::NoWay(from) => {
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
                    quoted_line(unmet.first().unwrap_or(&""))
                );
                (ErrorCode::CriteriaUnmet, Action::Stop, reason)
            }
        };
        return refusal_response(app, &caller.repo, &holder, id, refusal).await;
    }
}

fn of_person(from: Status, to: Status) -> String {
    match (from, to) {
        (_, Status::Completed) => {
            "complete an intent of another login, or one whose criteria are not all met".to_owned()
        }
        (Status::InProgress, Status::Abandoned | Status::Blocked) => {
            "abandon or block an active intent of another login that is not assigned to you".to_owned()
        }
        (_, Status::InProgress) => "unblock an intent".to_owned(),
        _ => "end an intent that is blocked".to_owned(),
    }
}

async fn allow(
    app: &App,
    caller: &IntentCaller,
    id: &str,
    sent: &AllowOverlapRequest,
    origin: &str,
) -> Result<IntentResponse, ApiError> {
    let other = id_in("other", require("other", &sent.other)?)?;
    if other == id {
        return Err(ApiError::InvalidField {
            field: "other",
            problem: "must be another intent".to_owned(),
        });
    }
    let mut admission = caller.begin(app).await?;
    if !is_person(app, &admission) {
        return Err(person_required(app, "let two intents overlap"));
    }
    let outcome = admission
        .run_plain(&(id, other, origin), |store, terms, (id, other, origin)| {
            allow_overlap(store, terms, id, other, origin).boxed()
        })
        .await?;
    let holder = admission.holder();
    let refusal = match outcome {
        AllowOutcome::Allowed(_) => {
            let reason = format!("Intents {id} and {other} may overlap");
            return intent_response(app, &caller.repo, holder, id, reason).await;
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
    refusal_response(app, &caller.repo, holder, id, refusal).await
}

async fn take(
    app: &App,
    caller: &IntentCaller,
    id: &str,
    sent: &TakeOverRequest,
    origin: &str,
) -> Result<IntentResponse, ApiError> {
    let paths = require("file_paths", &sent.file_paths)?;
    let paths = FilePaths::parse(paths.iter().map(String::as_str)).map_err(in_field("file_paths"))?;
    let mut admission = caller.begin(app).await?;
    if !is_person(app, &admission) {
        return Err(person_required(app, "take files over"));
    }
    let outcome = admission
        .run_plain(&(id, origin, &paths), |store, terms, (id, origin, paths)| {
            take_over(store, terms, id, origin, paths).boxed()
        })
        .await?;
    let holder = admission.holder();
    let refusal = match outcome {
        TakeOutcome::Taken(_) => {
            let reason = format!("Intent {id} owns {} files more", paths.len());
            return intent_response(app, &caller.repo, holder, id, reason).await;
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
    refusal_response(app, &caller.repo, holder, id, refusal).await
}
