//! New intents, and changes of intents.

use coord_intents::intent::{CriterionProof, Intent, MAX_INTENTS};
use coord_intents::ledger::blank_credentials;
use coord_protocol::{Action, EditIntentRequest, ErrorCode, IntentResponse, NewIntentRequest};
use futures::FutureExt;

use super::edit::{EditRefusal, edit};
use super::intent_caller::{IntentCaller, id_in, is_person, person_required};
use super::members;
use super::origin::origin;
use super::registry_context::{RegistryContext, intent_response, refusal_response};
use super::rounds::Rounds;
use super::view::format_millis;
use crate::registered::unknown_intent;
use coord_auth::Caller;
use coord_domain::{Holder, RepoId};
use coord_intents_state::intents::{StoredIntent, WriteOutcome, WrittenIntent, intent_texts, write_intent};
use coord_server::admission::Admission;
use coord_server::app::App;
use coord_server::error::ApiError;

/// Writes a new intent. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors
/// When a field is not valid, the caller is denied, or the store does not respond. A refusal by the rules is a response.
pub async fn new_intent(
    app: &App,
    request: &NewIntentRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<IntentResponse, ApiError> {
    let caller = IntentCaller::parse(&request.repo_url, None, request.agent_id.as_deref(), caller, agent)?;
    let mut intent = Intent {
        id: match &request.id {
            Some(id) => id_in("id", id)?.to_owned(),
            None => uuid::Uuid::now_v7().hyphenated().to_string(),
        },
        ..Intent::default()
    };
    members::apply_fields(&mut intent, &request.fields)?;
    let mut admission = caller.begin(app).await?;
    check_supplemented(app, &caller.repo, &intent).await?;
    let change = if intent.name.is_empty() {
        "Written".to_owned()
    } else {
        format!("Written: {}", blank_credentials(&intent.name))
    };
    let id = intent.id.clone();
    let stored = check_size(StoredIntent {
        created_by: actor(admission.holder()),
        changed_by: None,
        intent,
    })?;
    let written = WrittenIntent {
        seen: None,
        stored: &stored,
        digest: &members::digest_of(&stored.intent)?,
        is_for_holders: true,
        change: &change,
        origin: &origin(None)?,
        is_person: is_person(&admission),
    };
    let outcome = admission
        .run_plain(&written, |store, terms, written| {
            write_intent(store, terms, written).boxed()
        })
        .await?;
    let (code, reason) = match outcome {
        WriteOutcome::Written(_) => {
            let reason = format!("Intent {id} is written");
            return intent_response(&admission, &id, reason).await;
        }
        WriteOutcome::Exists => (
            ErrorCode::IntentExists,
            format!("an intent with the id {id} exists; send another id, or none"),
        ),
        WriteOutcome::LoginFull => (
            ErrorCode::TooManyIntents,
            format!(
                "your login has written a quarter of the {MAX_INTENTS} intents of the repository, which is its share; \
                 those that ended make room a day later"
            ),
        ),
        WriteOutcome::Full => (
            ErrorCode::TooManyIntents,
            format!("the repository has {MAX_INTENTS} intents, which is the maximum"),
        ),
        WriteOutcome::Unknown | WriteOutcome::Changed | WriteOutcome::Person => return Err(ApiError::Internal),
    };
    refusal_response(&admission, &id, (code, Action::Stop, reason)).await
}

/// Changes the intent `id`.
///
/// # Errors
/// Those of [`new_intent`]; also when there is no such intent, or a change takes a person.
pub async fn edit_intent(
    app: &App,
    id: &str,
    request: &EditIntentRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<IntentResponse, ApiError> {
    let caller = IntentCaller::parse(&request.repo_url, None, request.agent_id.as_deref(), caller, agent)?;
    let id = id_in("id", id)?;
    let mut admission = caller.begin(app).await?;
    let mut rounds = Rounds::begin();
    loop {
        let context = RegistryContext::read(&admission, id).await?;
        match try_edit(&mut admission, &context, request).await? {
            EditOutcome::Done(reason) => return intent_response(&admission, id, reason).await,
            EditOutcome::Frozen(member) => {
                let status = context.record.status.as_str();
                let reason = format!(
                    "{member} is frozen, because intent {id} is {status}; write a new intent that supplements it"
                );
                let refusal = (ErrorCode::ScopeFrozen, Action::Stop, reason);
                return refusal_response(&admission, id, refusal).await;
            }
            EditOutcome::Changed => rounds.wait().await?,
        }
    }
}

enum EditOutcome {
    /// The change, in a sentence.
    Done(String),
    /// This member is frozen.
    Frozen(&'static str),
    /// The registry has changed meanwhile.
    Changed,
}

async fn try_edit(
    admission: &mut Admission<'_>,
    context: &RegistryContext,
    request: &EditIntentRequest,
) -> Result<EditOutcome, ApiError> {
    let (app, repo) = (admission.app, admission.repo);
    let RegistryContext {
        registry,
        record,
        stored,
    } = context;
    let met = CriterionProof {
        by: actor(admission.holder()),
        at: format_millis(registry.now_ms),
        evidence: String::new(),
    };
    // The record has the consumption of a budget.
    let edited = match edit(&stored.intent, record.status, request, is_person(admission), &met) {
        Ok(edited) => edited,
        Err(EditRefusal::Invalid(error)) => return Err(error),
        Err(EditRefusal::Frozen(member)) => return Ok(EditOutcome::Frozen(member)),
        Err(EditRefusal::Person) => {
            let act = "raise or remove a limit of the budget of an intent that has begun";
            return Err(person_required(app, act));
        }
    };
    let id = edited.intent.id.clone();
    if edited.changed.is_empty() {
        return Ok(EditOutcome::Done(format!("Intent {id} already has these values")));
    }
    if edited.changed.contains(&"supplements") {
        check_supplemented(app, repo, &edited.intent).await?;
    }
    let change = format!("Changed: {}", edited.changed.join(", "));
    let stored = check_size(StoredIntent {
        intent: edited.intent,
        created_by: stored.created_by.clone(),
        changed_by: Some(actor(admission.holder())),
    })?;
    let written = WrittenIntent {
        seen: Some(&registry.version),
        stored: &stored,
        digest: &members::digest_of(&stored.intent)?,
        is_for_holders: edited.is_for_holders,
        change: &change,
        origin: &origin(None)?,
        is_person: is_person(admission),
    };
    match admission
        .run_plain(&written, |store, terms, written| {
            write_intent(store, terms, written).boxed()
        })
        .await?
    {
        WriteOutcome::Written(_) => Ok(EditOutcome::Done(format!("Intent {id} is changed"))),
        WriteOutcome::Changed => Ok(EditOutcome::Changed),
        WriteOutcome::Person => Err(person_required(
            app,
            "change an active intent of another login that is not assigned to you",
        )),
        WriteOutcome::Unknown => Err(unknown_intent(&id)),
        WriteOutcome::Exists | WriteOutcome::Full | WriteOutcome::LoginFull => Err(ApiError::Internal),
    }
}

/// The login; if there is an agent id, a slash and the id follow.
fn actor(holder: &Holder) -> String {
    match &holder.agent_id {
        None => holder.user_id.to_string(),
        Some(agent) => format!("{}/{}", holder.user_id, agent.as_str()),
    }
}

/// Checks that the intent that `intent` supplements exists, and is a different one.
async fn check_supplemented(app: &App, repo: &RepoId, intent: &Intent) -> Result<(), ApiError> {
    let Some(supplemented) = &intent.supplements else {
        return Ok(());
    };
    let is_other = *supplemented != intent.id;
    if is_other && !intent_texts(&*app.store, repo, &[supplemented]).await?.is_empty() {
        return Ok(());
    }
    let problem = format!("names {supplemented}, which is no other intent of the repository");
    Err(ApiError::invalid_field("supplements", problem))
}

fn check_size(stored: StoredIntent) -> Result<StoredIntent, ApiError> {
    let bytes = serde_json::to_vec(&stored).map_err(|_| ApiError::Internal)?.len();
    if bytes > members::MAX_BYTES {
        let problem = format!(
            "and the other members have {bytes} bytes as JSON; an intent may have {}",
            members::MAX_BYTES
        );
        return Err(ApiError::invalid_field("description", problem));
    }
    Ok(stored)
}
