//! The intents of the repository that a session knows. For a repository without intents, the server is asked once a
//! session.

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_intents::intent::is_valid_id;
use coord_protocol::{Client, ClientError, ErrorCode, IntentsView, PostResponse};

/// Fetches the intents, notes them, and returns the text for the model: about the selected intent, or about those that
/// can be selected.
///
/// # Errors
/// When the server does not answer.
pub(super) async fn fetch_context(
    client: &Client,
    working_copy: &WorkingCopy,
    repo_url: &str,
    holder: &AgentId,
) -> Result<Option<String>, ClientError> {
    let noted_intent = SessionNotes::read(working_copy, holder).intent;
    if let Some(intent) = noted_intent
        && let Some(context) = fetch_active(client, repo_url, &intent).await?
    {
        return Ok(Some(context));
    }
    let response = match client.intents(repo_url, IntentsView::Context).await {
        Ok(response) => response,
        // An old server, which has no intents.
        Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::UnknownRoute => {
            SessionNotes::change(working_copy, holder, |notes| notes.has_intents = Some(false));
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    SessionNotes::change(working_copy, holder, |notes| {
        notes.has_intents = Some(!response.intents.is_empty() || response.is_required);
        notes.requires_intent = response.is_required;
        notes.intent.clone_from(&response.selected);
    });
    if let Some(intent) = &response.selected
        && let Some(context) = fetch_active(client, repo_url, intent).await?
    {
        return Ok(Some(context));
    }
    Ok(response.context.filter(|_| !response.intents.is_empty()))
}

/// Whether the repository has intents. The server is asked once a session. Without its answer, the repository counts as
/// one without intents.
pub(super) async fn repository_has_intents(connection: Option<&Connection>, work: &Work, holder: &AgentId) -> bool {
    let has_intents = || SessionNotes::read(&work.working_copy, holder).has_intents;
    if let (None, Some(connection)) = (has_intents(), connection)
        && let Err(error) = fetch_context(&connection.client, &work.working_copy, &work.repo_url(), holder).await
    {
        tracing::debug!(%error, "the intents are not known");
    }
    has_intents() == Some(true)
}

/// The text about `intent`. `None` if it is no longer active.
async fn fetch_active(client: &Client, repo_url: &str, intent: &str) -> Result<Option<String>, ClientError> {
    // Another text could name another path of the URL.
    if !is_valid_id(intent) {
        return Ok(None);
    }
    let response = match client.intent(repo_url, intent, IntentsView::Context).await {
        Ok(response) => response,
        Err(ClientError::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_active = response.intent.is_some_and(|intent| intent.status.is_active());
    Ok(response.context.filter(|_| is_active))
}

/// Notes the intent in the response to a claim.
pub(super) fn note(notes: &mut SessionNotes, response: &PostResponse) {
    let metadata = response.orchestration.metadata.as_ref();
    note_code(
        notes,
        metadata.and_then(|metadata| metadata.intent_id.as_deref()),
        response.error.as_ref().map(|error| error.error),
    );
}

/// Notes a response that names `intent`, or a refusal with `code`.
pub(super) fn note_code(notes: &mut SessionNotes, intent: Option<&str>, code: Option<ErrorCode>) {
    match code {
        Some(ErrorCode::IntentRequired) => {
            notes.has_intents = Some(true);
            notes.requires_intent = true;
            notes.intent = None;
        }
        Some(ErrorCode::IntentNotActive | ErrorCode::IntentBlocked) => {
            notes.has_intents = Some(true);
            notes.intent = None;
        }
        Some(ErrorCode::FileOwned) => notes.has_intents = Some(true),
        _ if intent.is_some() => {
            notes.has_intents = Some(true);
            notes.intent = intent.map(str::to_owned);
        }
        _ => {}
    }
}
