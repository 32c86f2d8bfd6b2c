//! The selection of an intent. A PENDING intent begins with it.

use coord_intents::intent::Status;
use coord_intents::ledger::{
    ActionType, Event, Metadata as LineMetadata, Outcome, Payload, ResultStatus, State, ToolInput, TraceId,
};
use coord_protocol::{Action, ErrorCode, IntentResponse, tool_names};
use futures::FutureExt;
use serde_json::json;

use super::context::selected_context;
use super::intent_caller::IntentCaller;
use super::overlap::{ScopeOverlap, cannot_be_selected, check_breadth, first_overlap};
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
    let mut rounds = Rounds::begin();
    loop {
        let context = match RegistryContext::read(&admission, id).await {
            Err(error) if error.code() == ErrorCode::UnknownIntent => {
                deny(&mut admission, id, &error.to_string(), origin).await?;
                return Err(error);
            }
            context => context?,
        };
        let mut warnings = Vec::new();
        let mut refusal = None;
        if context.record.status == Status::Pending {
            match check_may_begin(app, caller, &context).await? {
                Ok(warning) => warnings.extend(warning),
                Err(begin_refusal) => refusal = Some(begin_refusal),
            }
        }
        if refusal.is_none() {
            let name = &context.stored.intent.name;
            let (payload, result) = selection_line(id, ResultStatus::Success, format!("Selected: {name}"), None)?;
            let selection = Selection {
                id,
                seen: &context.registry.version,
                payload: &payload,
                result: &result,
                origin,
            };
            let outcome = admission
                .run_plain(&selection, |store, terms, selection| {
                    select_intent(store, terms, selection).boxed()
                })
                .await?;
            refusal = match outcome {
                SelectOutcome::Selected(_) => {
                    let mut response = selected_response(app, caller, &admission, id).await?;
                    response.warnings = warnings;
                    return Ok(response);
                }
                SelectOutcome::Changed => {
                    rounds.wait().await?;
                    continue;
                }
                SelectOutcome::Unknown => return Err(unknown_intent(id)),
                SelectOutcome::NotActive(status) => {
                    let code = match status {
                        Status::Blocked => ErrorCode::IntentBlocked,
                        _ => ErrorCode::IntentNotActive,
                    };
                    let why = cannot_be_selected(status, Some(&context.record));
                    Some((code, Action::Stop, format!("Intent {id} {why}")))
                }
                SelectOutcome::LoginFull => Some(too_many_intents(
                    "your login has begun 50 of the 200 intents that may be active, which is its share; complete or \
                     abandon one first",
                )),
                SelectOutcome::Full => Some(too_many_intents(
                    "the repository has the maximum of active intents; complete or abandon one first",
                )),
            };
        }
        if let Some(refusal) = refusal {
            let (_, _, reason) = &refusal;
            deny(&mut admission, id, reason, origin).await?;
            return refusal_response(&admission, id, refusal).await;
        }
    }
}

async fn selected_response(
    app: &App,
    caller: &IntentCaller,
    admission: &Admission<'_>,
    id: &str,
) -> Result<IntentResponse, ApiError> {
    let mut response = intent_response(admission, id, format!("Intent {id} is selected")).await?;
    let holder = admission.holder();
    response.context = Some(selected_context(app, &caller.repo, holder, id, &caller.branch).await?);
    Ok(response)
}

fn too_many_intents(reason: &str) -> Refusal {
    (ErrorCode::TooManyIntents, Action::SwitchTask, reason.to_owned())
}

/// Checks whether a PENDING intent may begin. Gives a warning if something could not be checked.
async fn check_may_begin(
    app: &App,
    caller: &IntentCaller,
    context: &RegistryContext,
) -> Result<Result<Option<String>, Refusal>, ApiError> {
    let intent = &context.stored.intent;
    let id = &intent.id;
    if !intent.is_complete_enough_to_select() {
        let missing = intent.missing().join(", ");
        let reason = format!("Intent {id} cannot begin without a name and a scope; it lacks {missing}");
        return Ok(Err((ErrorCode::IntentTransition, Action::Stop, reason)));
    }
    let branch = context.record.branch.as_deref().map(Branch::parse).transpose();
    let branch = branch.map_err(|_| ApiError::Internal)?;
    let branch = branch.as_ref().unwrap_or(&caller.branch);
    let warning = match check_breadth(app, &caller.repo, branch, intent).await? {
        Ok(warning) => warning,
        Err(too_broad) => return Ok(Err((ErrorCode::ScopeTooBroad, Action::Stop, too_broad))),
    };
    Ok(
        match first_overlap(app, &caller.repo, &context.registry, intent, &context.record).await? {
            None => Ok(warning),
            Some(ScopeOverlap { id: other, overlap }) => {
                let reason = format!(
                    "The scope of intent {id} overlaps that of the active intent {other}: {overlap}; wait until that one \
                 has ended, or ask a person to allow the overlap"
                );
                Err((ErrorCode::ScopeOverlap, Action::SwitchTask, reason))
            }
        },
    )
}

/// Records that the selection was denied.
async fn deny(admission: &mut Admission<'_>, id: &str, reason: &str, origin: &str) -> Result<State, ApiError> {
    let (payload, result) = selection_line(
        id,
        ResultStatus::Denied,
        "Not selected".to_owned(),
        Some(reason.to_owned()),
    )?;
    let selection = Selection {
        id,
        seen: "",
        payload: &payload,
        result: &result,
        origin,
    };
    admission
        .run_plain(&selection, |store, terms, selection| {
            deny_selection(store, terms, selection).boxed()
        })
        .await
}

/// `payload` and `result` of the ledger line about a selection.
fn selection_line(
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
