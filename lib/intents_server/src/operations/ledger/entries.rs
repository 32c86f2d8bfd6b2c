//! Parses entries of requests into events with the texts of their lines.

use coord_intents::ledger::{
    ActionType, ContentHash, Event, Metadata, Outcome, Payload, PreparedLine, ResultStatus, ToolInput, TraceId,
};
use coord_protocol::ledger::MUTATION_CLASSES;
use coord_protocol::{AgentSession, RecordEntry, RecordKind};
use serde_json::Value as Json;

use super::adoption::{parse_adoption, summary};
use coord_domain::{AgentId, FilePath};
use coord_intents_state::ledger::{Mutation, RecordedEvent, RecordedKind};
use coord_server::error::ApiError;

/// The most entries of a request.
const MAX_ENTRIES: usize = 32;

/// The most characters of a name that an agent gives to itself, its session or its tool.
const MAX_NAME_CHARS: usize = 128;

/// The error for an entry whose hash is missing or invalid.
const INVALID_HASH: &str = ".hash must be sha256: and 64 lower-case digits, or DELETED; a mutation needs it";

const NO_LOCK: &str = "No lock: the file was changed without the caller's lock for writing";
const OTHER_TOKEN: &str =
    "Lock lost: the caller's lock for writing has another fencing token than the one that was sent";

/// # Errors
/// When there are none or too many entries, or a field is missing or invalid. The error names the entry.
pub(super) fn parse_entries(
    entries: &[RecordEntry],
    session: &AgentSession,
    agent: Option<&AgentId>,
) -> Result<Vec<RecordedEvent>, ApiError> {
    if !(1..=MAX_ENTRIES).contains(&entries.len()) {
        let problem = format!("must have 1 to {MAX_ENTRIES} entries");
        return Err(ApiError::invalid_field("entries", problem));
    }
    for name in [&session.session_id, &session.contributor] {
        if name.chars().count() > MAX_NAME_CHARS {
            let problem = format!("has a name of more than {MAX_NAME_CHARS} characters");
            return Err(ApiError::invalid_field("session", problem));
        }
    }
    let parse = |(index, entry): (usize, &RecordEntry)| {
        parse_entry(entry, session, agent)
            .map_err(|problem| ApiError::invalid_field("entries", format!("[{index}]{problem}")))
    };
    entries.iter().enumerate().map(parse).collect()
}

/// # Errors
/// A problem that continues the sentence after the entry's name.
fn parse_entry(entry: &RecordEntry, session: &AgentSession, agent: Option<&AgentId>) -> Result<RecordedEvent, String> {
    let trace_id = TraceId::parse(&entry.trace_id).map_err(|error| format!(".trace_id is not valid: {error}"))?;
    let path = entry.file_path.as_deref().map(FilePath::parse).transpose();
    let path = path.map_err(|invalid| format!(".file_path {}", invalid.0))?;
    check_names(entry)?;
    let hash = entry.hash.as_deref().map(str::parse::<ContentHash>).transpose();
    let hash = hash.map_err(|_| INVALID_HASH)?;
    if entry.token.is_some_and(|token| token < 1) {
        return Err(".token must be a whole number, at least 1".to_owned());
    }
    let adoption = match entry.kind {
        RecordKind::Adoption => Some(parse_adoption(entry, hash)?),
        _ => None,
    };
    let (action_type, status) = action_and_status(entry);
    if entry.kind == RecordKind::Stale && (path.is_none() || entry.error_message.is_none()) {
        return Err(" needs file_path and error_message, because its kind is stale".to_owned());
    }
    let (payload, output_summary) = match adoption {
        Some(adoption) => (adoption.payload(), summary(&adoption)),
        None => (payload(entry, path.as_ref()), entry.output_summary.clone()),
    };
    let event = Event {
        action_type,
        payload,
        result: Outcome {
            status,
            output_summary,
            error_message: entry.error_message.clone(),
        },
        metadata: Metadata {
            session_id: session.session_id.clone(),
            contributor: session.contributor.clone(),
            mutation_class: entry.mutation_class.clone(),
        },
        trace_id: trace_id.clone(),
    };
    let agent = agent.map(AgentId::as_str);
    let (kind, line) = match entry.kind {
        RecordKind::Mutation => {
            let path = path.ok_or(".file_path is required, because its kind is mutation")?;
            prepare_mutation(entry, (path, hash.ok_or(INVALID_HASH)?), event, agent)?
        }
        RecordKind::Prompt => (RecordedKind::Prompt, prepare(event, agent)?),
        RecordKind::End => (RecordedKind::End, prepare(event, agent)?),
        RecordKind::Stale | RecordKind::Context | RecordKind::Call | RecordKind::Adoption => {
            (RecordedKind::Other(status), prepare(event, agent)?)
        }
    };
    Ok(RecordedEvent { kind, trace_id, line })
}

fn check_names(entry: &RecordEntry) -> Result<(), String> {
    if entry
        .tool_name
        .as_ref()
        .is_some_and(|name| name.chars().count() > MAX_NAME_CHARS)
    {
        return Err(format!(".tool_name has more than {MAX_NAME_CHARS} characters"));
    }
    if let Some(class) = &entry.mutation_class
        && !MUTATION_CLASSES.contains(&class.as_str())
    {
        return Err(format!(
            ".mutation_class must be {} or {}",
            MUTATION_CLASSES[0], MUTATION_CLASSES[1]
        ));
    }
    Ok(())
}

fn action_and_status(entry: &RecordEntry) -> (ActionType, ResultStatus) {
    match entry.kind {
        RecordKind::Mutation | RecordKind::Call if entry.error_message.is_some() => {
            (ActionType::ToolExecution, ResultStatus::Failure)
        }
        RecordKind::Mutation | RecordKind::Call => (ActionType::ToolExecution, ResultStatus::Success),
        RecordKind::Stale => (ActionType::ToolExecution, ResultStatus::Denied),
        RecordKind::Context => (ActionType::ContextLoad, ResultStatus::Success),
        RecordKind::Prompt | RecordKind::End | RecordKind::Adoption => {
            (ActionType::StateTransition, ResultStatus::Success)
        }
    }
}

fn payload(entry: &RecordEntry, path: Option<&FilePath>) -> Payload {
    Payload {
        tool_name: entry.tool_name.clone(),
        tool_input: entry
            .tool_input
            .clone()
            .map(|input| ToolInput::record(&Json::Object(input))),
        target_files: path.into_iter().map(ToString::to_string).collect(),
        reasoning: entry.reasoning.clone(),
        hash: None,
    }
}

/// Prepares a line with one result for each outcome of the script.
fn prepare_mutation(
    entry: &RecordEntry,
    (path, hash): (FilePath, ContentHash),
    mut event: Event,
    agent: Option<&str>,
) -> Result<(RecordedKind, PreparedLine), String> {
    event.payload.hash = Some(hash);
    let has_failed = entry.error_message.is_some();
    if !has_failed {
        // This is the longest result. If the event fits with it, it fits with the others.
        event.result.error_message = Some(OTHER_TOKEN.to_owned());
    }
    let mut line = prepare(event, agent)?;
    let (mut without_lock, mut other_token) = (line.result.clone(), line.result.clone());
    if !has_failed {
        let outcome: Outcome = serde_json::from_str(&line.result).map_err(|error| error.to_string())?;
        let result = |status, message: Option<&str>| {
            let outcome = Outcome {
                status,
                output_summary: outcome.output_summary.clone(),
                error_message: message.map(str::to_owned),
            };
            serde_json::to_string(&outcome).map_err(|error| error.to_string())
        };
        without_lock = result(ResultStatus::Failure, Some(NO_LOCK))?;
        other_token = result(ResultStatus::Failure, Some(OTHER_TOKEN))?;
        line.result = result(ResultStatus::Success, None)?;
    }
    let mutation = Mutation {
        path,
        hash,
        token: entry.token,
        has_failed,
        without_lock,
        other_token,
    };
    Ok((RecordedKind::Mutation(mutation), line))
}

fn prepare(event: Event, agent: Option<&str>) -> Result<PreparedLine, String> {
    event.prepare(agent).map_err(|error| format!(" is too long: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "sha256:5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7";

    fn entry(json: &str) -> RecordEntry {
        serde_json::from_str(json).unwrap()
    }

    fn one(json: &str) -> Result<RecordedEvent, String> {
        let events = parse_entries(&[entry(json)], &AgentSession::default(), None);
        events
            .map(|mut events| events.remove(0))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_change_has_a_result_for_each_outcome() {
        let event = one(&format!(
            r#"{{ "trace_id": "t", "kind": "mutation", "file_path": "a.ts", "hash": "{HASH}", "output_summary": "Wrote a.ts" }}"#
        ))
        .unwrap();
        let RecordedKind::Mutation(mutation) = &event.kind else {
            panic!("{event:?}");
        };
        assert_eq!(
            event.line.result,
            r#"{"status":"SUCCESS","output_summary":"Wrote a.ts"}"#
        );
        assert!(mutation.without_lock.contains("No lock") && mutation.without_lock.contains("FAILURE"));
        assert!(mutation.other_token.contains("another fencing token"));
        assert_eq!(
            event.line.payload,
            format!(r#"{{"target_files":["a.ts"],"hash":"{HASH}"}}"#)
        );
    }

    #[test]
    fn credentials_are_blanked_and_long_texts_shortened() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let event = one(&format!(
            r#"{{ "trace_id": "t", "kind": "call", "tool_name": "Bash", "tool_input": {{ "command": "TOKEN={secret} x" }},
                 "reasoning": "with {secret}", "output_summary": "{secret} {}" }}"#,
            "x".repeat(20_000)
        ))
        .unwrap();
        let text = format!("{} {}", event.line.payload, event.line.result);
        assert!(!text.contains("ghp_") && text.contains("[redacted]"), "{text}");
        assert!(text.len() < 8192);
    }

    #[test]
    fn a_wrong_entry_is_named_with_its_problem() {
        let mut problems = Vec::new();
        // No text that could be shortened: a path whose characters are all escaped.
        let long = format!(
            r#"{{ "trace_id": "t", "kind": "call", "file_path": "{}" }}"#,
            r#"\""#.repeat(4000)
        );
        for wrong in [
            r#"{ "trace_id": "", "kind": "call" }"#,
            r#"{ "trace_id": "a\" b", "kind": "call" }"#,
            r#"{ "trace_id": "t", "kind": "call", "file_path": "../a" }"#,
            r#"{ "trace_id": "t", "kind": "call", "mutation_class": "REFACTOR" }"#,
            r#"{ "trace_id": "t", "kind": "stale", "file_path": "a.ts" }"#,
            r#"{ "trace_id": "t", "kind": "mutation", "hash": "DELETED" }"#,
            r#"{ "trace_id": "t", "kind": "mutation", "file_path": "a.ts" }"#,
            r#"{ "trace_id": "t", "kind": "mutation", "file_path": "a.ts", "hash": "sha256:5ca8" }"#,
            r#"{ "trace_id": "t", "kind": "mutation", "file_path": "a.ts", "hash": "DELETED", "token": 0 }"#,
            &long,
        ] {
            let problem = one(wrong).unwrap_err();
            assert!(problem.starts_with("entries [0]"), "{problem}");
            problems.push(problem);
        }
        problems.dedup();
        assert_eq!(problems.len(), 8, "those of one member are the same: {problems:#?}");
        assert!(problems[7].contains("too long"), "{problems:#?}");
        let none = parse_entries(&[], &AgentSession::default(), None).unwrap_err();
        let many = vec![entry(r#"{ "trace_id": "t", "kind": "call" }"#); 33];
        let many = parse_entries(&many, &AgentSession::default(), None).unwrap_err();
        assert_eq!(none, many);
        let session = AgentSession {
            session_id: "x".repeat(129),
            contributor: String::new(),
        };
        let entries = [entry(r#"{ "trace_id": "t", "kind": "call" }"#)];
        let error = parse_entries(&entries, &session, None).unwrap_err();
        assert!(error.to_string().contains("session"), "{error}");
    }
}
