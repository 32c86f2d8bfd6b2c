//! Appends a holder's actions to the ledger.

use coord_intents::ledger::ResultStatus;
use coord_protocol::{Action, Orchestration, RecordRequest, RecordResponse, Recorded};
use futures::FutureExt;

use super::entries::parse_entries;
use crate::config::Handshake;
use crate::operations::intents::IntentCaller;
use crate::registered::Intents;
use coord_auth::Caller;
use coord_intents_state::ledger::{Record, RecordOutcome, RecordStatus, RecordedEvent, RecordedKind};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{id_in, require};

/// Records the entries of `request` for `caller`. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors
/// When a field is missing or invalid, the caller is denied, or the store does not respond. In the last case the
/// entries may be recorded. Entries that are sent again are recorded once.
pub async fn record(
    app: &App,
    request: &RecordRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<RecordResponse, ApiError> {
    let (branch, agent_id) = (request.branch.as_deref(), request.agent_id.as_deref());
    let caller = IntentCaller::parse(&request.repo_url, branch, agent_id, caller, agent)?;
    let intent = request.intent_id.as_deref().map(|id| id_in("intent_id", id));
    let intent = intent.transpose()?;
    let entries = require("entries", &request.entries)?;
    let events = parse_entries(entries, &request.session, caller.agent_id.as_ref())?;
    let mut admission = caller.begin(app).await?;
    let ledger_record = Record {
        intent,
        is_reset_by_prompts: Intents::of(app).config.handshake == Handshake::Prompt,
        events: &events,
    };
    let outcome = admission
        .run_plain(&ledger_record, |store, terms, ledger_record| {
            coord_intents_state::ledger::record(store, terms, ledger_record).boxed()
        })
        .await?;
    if outcome.has_lines {
        Intents::of(app).seal_later(&app.store, &caller.repo);
    }
    Ok(respond(&events, intent, &outcome))
}

fn respond(events: &[RecordedEvent], intent: Option<&str>, outcome: &RecordOutcome) -> RecordResponse {
    let wire_status = |status: &RecordStatus| match status {
        RecordStatus::New(ResultStatus::Success) => Recorded::Success,
        RecordStatus::New(ResultStatus::Failure) => Recorded::Failure,
        RecordStatus::New(ResultStatus::Denied) => Recorded::Denied,
        RecordStatus::Repeated => Recorded::Repeated,
    };
    let mut warnings = Vec::new();
    if let Some(intent) = intent.filter(|_| outcome.is_unknown_intent) {
        warnings.push(format!(
            "UNKNOWN_INTENT: The repository has no intent {intent}; the lines are those of the intent that you have selected, or of \
             none."
        ));
    }
    for (event, status) in events.iter().zip(&outcome.outcomes) {
        if let (RecordedKind::Mutation(mutation), RecordStatus::New(ResultStatus::Failure)) = (&event.kind, status)
            && !mutation.has_failed
        {
            warnings.push(format!(
                "NO_LOCK: The change of '{}' is recorded as a failure, because you do not hold it for writing; claim a file before you \
                 change it.",
                mutation.path
            ));
        }
    }
    if outcome.without_room > 0 {
        warnings.push(format!(
            "CONTENT_NOT_KEPT: The repository has too many recorded files, so {} of these can be verified by the ledger alone.",
            outcome.without_room
        ));
    }
    let count = outcome.outcomes.len();
    let reason = match count {
        1 => "The event is in the ledger".to_owned(),
        _ => format!("The {count} events are in the ledger"),
    };
    RecordResponse {
        recorded: outcome.outcomes.iter().map(wire_status).collect(),
        warnings,
        orchestration: Orchestration::new(Action::Proceed, reason),
    }
}
