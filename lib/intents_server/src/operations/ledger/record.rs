//! A holder's actions are appended to the ledger.

use coord_intents::ledger::ResultStatus;
use coord_protocol::{Action, Orchestration, RecordRequest, RecordResponse, Recorded};
use futures::FutureExt;

use super::entries::events;
use crate::config::Handshake;
use crate::registered::Intents;
use coord_auth::Caller;
use coord_domain::{Branch, RepoId};
use coord_intents_state::ledger::{Record, RecordOutcome, RecordStatus, RecordedEvent, RecordedKind};
use coord_server::admission::{Admission, Right};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::id_in;
use coord_server::operations::fields::{agent_of, in_field, require};

/// The branch of a request that names none.
const NO_BRANCH: &str = "main";

/// Records the entries of `sent` for `caller`. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors When a field is missing or invalid, the caller is denied, or the store does not respond. Even then the entries may
/// have been recorded; entries that are sent again are recorded once.
pub async fn record(
    app: &App,
    sent: &RecordRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<RecordResponse, ApiError> {
    let repo = RepoId::parse(require("repo_url", &sent.repo_url)?).map_err(in_field("repo_url"))?;
    let caller = caller.in_repository(&repo)?;
    let branch = Branch::parse(sent.branch.as_deref().unwrap_or(NO_BRANCH)).map_err(in_field("branch"))?;
    let intent = sent.intent_id.as_deref().map(|id| id_in("intent_id", id)).transpose()?;
    let agent_id = agent_of(sent.agent_id.as_deref(), agent)?;
    let events = events(require("entries", &sent.entries)?, &sent.session, agent_id.as_ref())?;
    let mut admission = Admission::begin(app, &repo, &branch, caller, agent_id, Right::Push, None).await?;
    let wanted = Record {
        intent,
        is_reset_by_prompts: Intents::of(app).config.handshake == Handshake::Prompt,
        events: &events,
    };
    let outcome = admission
        .run_plain(&wanted, |store, terms, wanted| {
            coord_intents_state::ledger::record(store, terms, wanted).boxed()
        })
        .await?;
    if outcome.has_lines {
        Intents::of(app).seal_later(&app.store, &repo);
    }
    Ok(respond(&events, intent, &outcome))
}

fn respond(events: &[RecordedEvent], intent: Option<&str>, outcome: &RecordOutcome) -> RecordResponse {
    let recorded = |recorded: &RecordStatus| match recorded {
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
    for (event, outcome) in events.iter().zip(&outcome.outcomes) {
        if let (RecordedKind::Mutation(mutation), RecordStatus::New(ResultStatus::Failure)) = (&event.kind, outcome)
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
        recorded: outcome.outcomes.iter().map(recorded).collect(),
        warnings,
        orchestration: Orchestration::new(Action::Proceed, reason),
    }
}
