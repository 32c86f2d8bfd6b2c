//! The selection of an intent, with which it begins.

use coord_intents::intent::Status;
use coord_intents::ledger::{
    ActionType, Event, Metadata as LineMetadata, Outcome, Payload, ResultStatus, State, ToolInput, TraceId,
};
use coord_protocol::tool_names;
use coord_protocol::{Action, ErrorCode, IntentResponse};
use futures::FutureExt;
use serde_json::json;

use super::context::selected_context;
use super::intent_caller::IntentCaller;
use super::overlap::{breadth, cannot_be_selected, first_meeting};
use super::registry_context::{RegistryContext, intent_response, refusal_response};
use super::rounds::Rounds;
use crate::registered::unknown_intent;
use coord_domain::Branch;
use coord_intents_state::intents::{SelectOutcome, Selection, deny_selection, select_intent};
use coord_server::admission::Admission;
use coord_server::app::App;
use coord_server::error::ApiError;

/// Why a selection is refused.
type Refusal = (ErrorCode, Action, String);

/// Selects the intent `id`.
pub(super) async fn select(
    app: &App,
    caller: &IntentCaller,
    id: &str,
    origin: &str,
) -> Result<IntentResponse, ApiError> {
    let mut admission = caller.begin(app).await?;
    let holder = admission.holder().clone();
    let mut rounds = Rounds::begin();
    loop {
        let gathered = match RegistryContext::read(app, &caller.repo, &holder, id).await {
            Err(error) if error.code() == ErrorCode::UnknownIntent => {
                deny(&mut admission, id, &error.to_string(), origin).await?;
                return Err(error);
            }
            gathered => gathered?,
        };
        let mut warnings = Vec::new();
        let mut refusal = None;
        if gathered.record.status == Status::Pending {
            match may_begin(app, caller, &gathered).await? {
                Ok(warning) => warnings.extend(warning),
                Err(why) => refusal = Some(why),
            }
        }
        if refusal.is_none() {
            let name = &gathered.stored.intent.name;
            let (payload, result) = line(id, ResultStatus::Success, format!("Selected: {name}"), None)?;
            let selection = Selection {
                id,
                seen: &gathered.registry.version,
                payload: &payload,
                result: &result,
                origin,
            };
            let selected = admission
                .run_plain(&selection, |store, terms, selection| {
                    select_intent(store, terms, selection).boxed()
                })
                .await?;
            refusal = match selected {
                SelectOutcome::Selected(_) => {
                    let reason = format!("Intent {id} is selected");
                    let mut response = intent_response(app, &caller.repo, &holder, id, reason).await?;
                    response.warnings = warnings;
                    response.context = Some(selected_context(app, &caller.repo, &holder, id, &caller.branch).await?);
                    return Ok(response);
                }
                SelectOutcome::Changed => {
                    rounds.again().await?;
                    continue;
                }
                SelectOutcome::Unknown => return Err(unknown_intent(id)),
                SelectOutcome::NotActive(status) => {
                    let code = match status {
                        Status::Blocked => ErrorCode::IntentBlocked,
                        _ => ErrorCode::IntentNotActive,
                    };
                    let why = cannot_be_selected(status, Some(&gathered.record));
                    Some((code, Action::Stop, format!("Intent {id} {why}")))
                }
                SelectOutcome::LoginFull => Some((
                    ErrorCode::TooManyIntents,
                    Action::SwitchTask,
                    "your login has begun 50 of the 200 intents that may be active, which is its share; complete or abandon one first".to_owned(),
                )),
                SelectOutcome::Full => Some((
                    ErrorCode::TooManyIntents,
                    Action::SwitchTask,
                    "the repository has the maximum of active intents; complete or abandon one first".to_owned(),
                )),
            };
        }
        if let Some(why) = refusal {
            deny(&mut admission, id, &why.2, origin).await?;
            return refusal_response(app, &caller.repo, &holder, id, why).await;
        }
    }
}

/// Whether a PENDING intent may begin; a warning where not all was found out.
async fn may_begin(
    app: &App,
    caller: &IntentCaller,
    gathered: &RegistryContext,
) -> Result<Result<Option<String>, Refusal>, ApiError> {
    let intent = &gathered.stored.intent;
    let id = &intent.id;
    if !intent.is_complete_enough_to_select() {
        let missing = intent.missing().join(", ");
        let reason = format!("Intent {id} cannot begin without a name and a scope; it lacks {missing}");
        return Ok(Err((ErrorCode::IntentTransition, Action::Stop, reason)));
    }
    let branch = gathered.record.branch.as_deref().map(Branch::parse).transpose();
    let branch = branch.map_err(|_| ApiError::Internal)?;
    let branch = branch.as_ref().unwrap_or(&caller.branch);
    let warning = match breadth(app, &caller.repo, branch, intent).await? {
        Ok(warning) => warning,
        Err(too_broad) => return Ok(Err((ErrorCode::ScopeTooBroad, Action::Stop, too_broad))),
    };
    let meeting = first_meeting(app, &caller.repo, &gathered.registry, intent, &gathered.record).await?;
    Ok(match meeting {
        None => Ok(warning),
        Some(meeting) => {
            let reason = format!(
                "The scope of intent {id} meets that of the active intent {}: {}; wait until that has ended, or ask a \
                 person to let them overlap",
                meeting.id, meeting.overlap
            );
            Err((ErrorCode::ScopeOverlap, Action::SwitchTask, reason))
        }
    })
}

async fn deny(admission: &mut Admission<'_>, id: &str, why: &str, origin: &str) -> Result<State, ApiError> {
    let (payload, result) = line(
        id,
        ResultStatus::Denied,
        "Not selected".to_owned(),
        Some(why.to_owned()),
    )?;
    let denied = Selection {
        id,
        seen: "",
        payload: &payload,
        result: &result,
        origin,
    };
    admission
        .run_plain(&denied, |store, terms, denied| {
            deny_selection(store, terms, denied).boxed()
        })
        .await
}

/// `payload` and `result` of the line about a selection.
fn line(
    id: &str,
    status: ResultStatus,
    output_summary: String,
    error_message: Option<String>,
) -> Result<(String, String), ApiError> {
    let event = Event {
        action_type: ActionType::IntentSelection,
        payload: Payload {
            tool_name: Some(tool_names::SELECT_ACTIVE_INTENT.to_owned()),
            tool_input: Some(ToolInput::record(&json!({ "intent_id": id }))),
            ..Payload::default()
        },
        result: Outcome {
            status,
            output_summary,
            error_message,
        },
        metadata: LineMetadata::default(),
        trace_id: TraceId::parse("later").map_err(|_| ApiError::Internal)?,
    };
    let prepared = event.prepare(None).map_err(|_| ApiError::Internal)?;
    Ok((prepared.payload, prepared.result))
}
