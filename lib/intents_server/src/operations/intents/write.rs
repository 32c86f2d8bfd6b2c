//! A new intent, and changes of one.

use coord_intents::intent::{CriterionProof, Intent};
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
    sent: &NewIntentRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<IntentResponse, ApiError> {
    let caller = IntentCaller::parse(&sent.repo_url, None, sent.agent_id.as_deref(), caller, agent)?;
    let mut intent = Intent {
        id: match &sent.id {
            Some(id) => id_in("id", id)?.to_owned(),
            None => uuid::Uuid::now_v7().hyphenated().to_string(),
        },
        ..Intent::default()
    };
    members::put(&mut intent, &sent.fields)?;
    let mut admission = caller.begin(app).await?;
    known_supplemented(app, &caller.repo, &intent).await?;
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
        is_person: is_person(app, &admission),
    };
    let outcome = admission
        .run_plain(&written, |store, terms, written| {
            write_intent(store, terms, written).boxed()
        })
        .await?;
    let holder = admission.holder();
    match outcome {
        WriteOutcome::Written(_) => {
            intent_response(app, &caller.repo, holder, &id, format!("Intent {id} is written")).await
        }
        WriteOutcome::Exists => {
            let reason = format!("there is an intent with the id {id}; send another, or none");
            let refusal = (ErrorCode::IntentExists, Action::Stop, reason);
            refusal_response(app, &caller.repo, holder, &id, refusal).await
        }
        WriteOutcome::LoginFull => {
            let most = coord_intents::intent::MAX_INTENTS;
            let reason = format!(
                "your login has written a quarter of the {most} intents of the repository, which is its share; those that ended make room a day later"
            );
            let refusal = (ErrorCode::TooManyIntents, Action::Stop, reason);
            refusal_response(app, &caller.repo, holder, &id, refusal).await
        }
        WriteOutcome::Full => {
            let most = coord_intents::intent::MAX_INTENTS;
            let reason = format!("the repository has {most} intents, which is the maximum");
            let refusal = (ErrorCode::TooManyIntents, Action::Stop, reason);
            refusal_response(app, &caller.repo, holder, &id, refusal).await
        }
        WriteOutcome::Unknown | WriteOutcome::Changed | WriteOutcome::Person => Err(ApiError::Internal),
    }
}

/// Changes the intent `id`.
///
/// # Errors
/// As those of [`new_intent`]; also when there is no such intent, or a change takes a person.
pub async fn edit_intent(
    app: &App,
    id: &str,
    sent: &EditIntentRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<IntentResponse, ApiError> {
    let caller = IntentCaller::parse(&sent.repo_url, None, sent.agent_id.as_deref(), caller, agent)?;
    let id = id_in("id", id)?;
    let mut admission = caller.begin(app).await?;
    let holder = admission.holder().clone();
    let mut rounds = Rounds::begin();
    loop {
        let gathered = RegistryContext::read(app, &caller.repo, &holder, id).await?;
        match try_edit(app, &caller.repo, &mut admission, &gathered, sent).await? {
            Edit::Done(edited) => return intent_response(app, &caller.repo, &holder, id, edited).await,
            Edit::Frozen(member) => {
                let status = gathered.record.status.as_str();
                let reason = format!(
                    "{member} is frozen, because intent {id} is {status}; write a new intent that supplements it"
                );
                let refusal = (ErrorCode::ScopeFrozen, Action::Stop, reason);
                return refusal_response(app, &caller.repo, &holder, id, refusal).await;
            }
            Edit::Again => rounds.again().await?,
        }
    }
}

enum Edit {
    Done(String),
    Frozen(&'static str),
    Again,
}

async fn try_edit(
    app: &App,
    repo: &RepoId,
    admission: &mut Admission<'_>,
    gathered: &RegistryContext,
    sent: &EditIntentRequest,
) -> Result<Edit, ApiError> {
    let met = CriterionProof {
        by: actor(admission.holder()),
        at: format_millis(gathered.registry.now_ms),
        evidence: String::new(),
    };
    let RegistryContext {
        registry,
        record,
        stored,
    } = gathered;
    // The counted part of a budget is in the record.
    let edited = match edit(&stored.intent, record.status, sent, is_person(app, admission), &met) {
        Ok(edited) => edited,
        Err(EditRefusal::Invalid(error)) => return Err(error),
        Err(EditRefusal::Frozen(member)) => return Ok(Edit::Frozen(member)),
        Err(EditRefusal::Person) => {
            let act = "raise or remove a limit of the budget of an intent that has begun";
            return Err(person_required(app, act));
        }
    };
    let id = edited.intent.id.clone();
    if edited.changed.is_empty() {
        return Ok(Edit::Done(format!("Intent {id} was so already")));
    }
    if edited.changed.contains(&"supplements") {
        known_supplemented(app, repo, &edited.intent).await?;
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
        is_person: is_person(app, admission),
    };
    match admission
        .run_plain(&written, |store, terms, written| {
            write_intent(store, terms, written).boxed()
        })
        .await?
    {
        WriteOutcome::Written(_) => Ok(Edit::Done(format!("Intent {id} is changed"))),
        WriteOutcome::Changed => Ok(Edit::Again),
        WriteOutcome::Person => Err(person_required(
            app,
            "change an active intent of another login that is not assigned to you",
        )),
        WriteOutcome::Unknown => Err(unknown_intent(&id)),
        WriteOutcome::Exists | WriteOutcome::Full | WriteOutcome::LoginFull => Err(ApiError::Internal),
    }
}

/// A login, or a login, a slash and an agent's id.
fn actor(holder: &Holder) -> String {
    match &holder.agent_id {
        None => holder.user_id.to_string(),
        Some(agent) => format!("{}/{}", holder.user_id, agent.as_str()),
    }
}

/// Whether the intent that `intent` supplements is another one, and is there.
async fn known_supplemented(app: &App, repo: &RepoId, intent: &Intent) -> Result<(), ApiError> {
    let Some(supplemented) = &intent.supplements else {
        return Ok(());
    };
    let is_other = *supplemented != intent.id;
    if is_other && !intent_texts(&*app.store, repo, &[supplemented]).await?.is_empty() {
        return Ok(());
    }
    Err(ApiError::InvalidField {
        field: "supplements",
        problem: format!("names {supplemented}, which is no other intent of the repository"),
    })
}

fn check_size(stored: StoredIntent) -> Result<StoredIntent, ApiError> {
    let bytes = serde_json::to_vec(&stored).map_err(|_| ApiError::Internal)?.len();
    if bytes > members::MOST_BYTES {
        return Err(ApiError::InvalidField {
            field: "description",
            problem: format!(
                "and the other members have {bytes} bytes as JSON; an intent may have {}",
                members::MOST_BYTES
            ),
        });
    }
    Ok(stored)
}
