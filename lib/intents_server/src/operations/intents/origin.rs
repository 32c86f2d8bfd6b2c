//! The recorded origin of a ledger line: an agent's data about itself, and the id of the event.

use coord_intents::ledger::Metadata;
use coord_protocol::AgentSession;

use coord_domain::plain_text;
use coord_server::error::ApiError;

/// The most characters of an agent's data about itself.
const MAX_CHARS: usize = 128;

/// The members `metadata` and `trace_id` of lines, as scripts expect them: without the last quote. The id is new.
pub fn origin(session: Option<&AgentSession>) -> Result<String, ApiError> {
    let metadata = session.map(metadata).transpose()?.unwrap_or_default();
    let metadata = serde_json::to_string(&metadata).map_err(|_| ApiError::Internal)?;
    let trace = uuid::Uuid::now_v7().hyphenated();
    Ok(format!("\"metadata\":{metadata},\"trace_id\":\"{trace}"))
}

fn metadata(session: &AgentSession) -> Result<Metadata, ApiError> {
    Ok(Metadata {
        session_id: check_length("session", &session.session_id)?,
        contributor: check_length("session", &session.contributor)?,
        mutation_class: None,
    })
}

/// `text` as one line, if it is short enough.
pub fn check_length(field: &'static str, text: &str) -> Result<String, ApiError> {
    if text.chars().count() > MAX_CHARS {
        let problem = format!("has a text of more than {MAX_CHARS} characters");
        return Err(ApiError::invalid_field(field, problem));
    }
    Ok(plain_text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_lines_end_with() {
        let session = AgentSession {
            session_id: "s-7\n\"".to_owned(),
            contributor: "anthropic/claude".to_owned(),
        };
        let text = origin(Some(&session)).unwrap();
        let begin = "\"metadata\":{\"session_id\":\"s-7 \\\"\",\"contributor\":\"anthropic/claude\"},\"trace_id\":\"";
        assert!(text.starts_with(begin), "{text}");
        assert_eq!(text.len(), begin.len() + 36);
        assert_ne!(origin(None).unwrap(), origin(None).unwrap());
        let long = AgentSession {
            session_id: "s".repeat(129),
            ..AgentSession::default()
        };
        assert!(origin(Some(&long)).is_err());
    }
}
