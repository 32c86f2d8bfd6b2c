//! What a session knows of the intents of its repository. A repository without any is asked about once a session.

use coord::domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::{Client, ClientError, ErrorCode, IntentResponse, IntentStatus, PostResponse};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::agent::connection::Connection;
use crate::agent::session_notes::SessionNotes;
use crate::agent::work::Work;

/// What a hook reads of the list of intents.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Listed {
    intents: Vec<IgnoredAny>,
    selected: Option<String>,
    /// Whether each claim to write has to cite an intent.
    required: bool,
    context: Option<String>,
}

/// Asks for the intents, notes what there is, and returns the text for the model: of the selected intent, or of those that can be
/// selected.
///
/// # Errors
/// When the server gives no answer.
pub(super) async fn ask(
    client: &Client,
    working_copy: &WorkingCopy,
    repo_url: &str,
    holder: &AgentId,
) -> Result<Option<String>, ClientError> {
    let noted = SessionNotes::read(working_copy, holder).intent;
    if let Some(intent) = noted
        && let Some(context) = selected(client, repo_url, &intent).await?
    {
        return Ok(Some(context));
    }
    let listed = client
        .read("api/intents", &[("repo_url", repo_url), ("view", "context")])
        .await;
    let listed: Listed = match listed {
        Ok(text) => serde_json::from_str(text.get()).unwrap_or_default(),
        // A server of before intents.
        Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::UnknownRoute => Listed::default(),
        Err(error) => return Err(error),
    };
    SessionNotes::change(working_copy, holder, |notes| {
        notes.has_intents = Some(!listed.intents.is_empty() || listed.required);
        notes.requires_intent = listed.required;
        notes.intent.clone_from(&listed.selected);
    });
    if let Some(intent) = &listed.selected
        && let Some(context) = selected(client, repo_url, intent).await?
    {
        return Ok(Some(context));
    }
    Ok(listed.context.filter(|_| !listed.intents.is_empty()))
}

/// Whether the repository has intents. The server is asked once a session; without its answer, as if there were none.
pub(super) async fn are_there(connection: Option<&Connection>, work: &Work, holder: &AgentId) -> bool {
    let noted = || SessionNotes::read(&work.working_copy, holder).has_intents;
    if let (None, Some(connection)) = (noted(), connection)
        && let Err(error) = ask(&connection.client, &work.working_copy, &work.repo_url(), holder).await
    {
        tracing::debug!(%error, "the intents are not known");
    }
    noted() == Some(true)
}

/// The text about `intent`; `None` where it is not active any more.
async fn selected(client: &Client, repo_url: &str, intent: &str) -> Result<Option<String>, ClientError> {
    let Some(path) = path(intent, "") else { return Ok(None) };
    let answer = client.read(&path, &[("repo_url", repo_url), ("view", "context")]).await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(ClientError::Refused { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Ok(response) = serde_json::from_str::<IntentResponse>(answer.get()) else {
        return Ok(None);
    };
    let is_active = |status| matches!(status, IntentStatus::InProgress | IntentStatus::Blocked);
    let is_active = response.intent.is_some_and(|intent| is_active(intent.status));
    Ok(response.context.filter(|_| is_active))
}

/// The path of `intent`, with `end`. `None` where it is no id, and could name another path.
pub(super) fn path(intent: &str, end: &str) -> Option<String> {
    let is_of_id = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_id = (1..=64).contains(&intent.len()) && intent.bytes().all(is_of_id);
    (is_id && intent.as_bytes()[0].is_ascii_alphanumeric()).then(|| format!("api/intents/{intent}{end}"))
}

/// Notes what the answer to a claim tells.
pub(super) fn note(notes: &mut SessionNotes, response: &PostResponse) {
    let metadata = response.orchestration.metadata.as_ref();
    note_code(
        notes,
        metadata.and_then(|metadata| metadata.intent_id.as_deref()),
        response.error.as_ref().map(|error| error.error),
    );
}

/// Notes what an answer tells that names `intent`, or refuses with `code`.
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
