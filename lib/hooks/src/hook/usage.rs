//! A tool call as the budget and the circuit breaker of an intent count it.

use coord_agent::connection::Connection;
use coord_agent::session_notes::{LastCall, SessionNotes};
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_intents::intent::is_valid_id;
use coord_intents::ledger::ContentHash;
use coord_protocol::{AgentSession, ToolCall, UsageRequest};

use super::caller::{Caller, LIMIT};
use super::event::{Moment, Tool};
use super::session_working_copy::SessionWorkingCopy;
use super::{intents, reason, warnings};

/// Maximum length of a name in a request, in characters.
const MAX_CHARS: usize = 128;

/// The tool call. `None` for the second hook, if an agent calls two hooks before one tool: a call counts once.
pub(super) fn tool_call(caller: &Caller<'_>, working_copy: &WorkingCopy, holder: &AgentId) -> Option<ToolCall> {
    let call = ToolCall {
        name: sanitize(&caller.call.tool_name),
        digest: digest(caller),
    };
    let before_tool = caller
        .agent
        .events()
        .filter(|(_, moment)| *moment == Moment::BeforeTool);
    if before_tool.count() <= 1 {
        return Some(call);
    }
    let event = caller.event.to_owned();
    let is_repeated = SessionNotes::change(working_copy, holder, |notes| match &mut notes.call {
        Some(last) if last.digest == call.digest && !last.events.contains(&event) => {
            last.events.push(event);
            true
        }
        last => {
            *last = Some(LastCall {
                digest: call.digest.clone(),
                events: vec![event],
            });
            false
        }
    });
    (!is_repeated).then_some(call)
}

/// A digest of the command and its folder, or of the tool and its input: other arguments are other work.
fn digest(caller: &Caller<'_>) -> String {
    let text = match &caller.call.tool {
        Tool::Shell { command, .. } => format!("shell\0{}\0{command}", caller.command_folder().display()),
        _ => format!("{}\0{}", caller.call.tool_name, caller.call.input),
    };
    ContentHash::of(text.as_bytes()).to_string()
}

/// Counts a call that may change something but claims nothing, if an intent is selected. Returns the reason if it is
/// refused.
pub(super) async fn count(
    caller: &Caller<'_>,
    home: &SessionWorkingCopy,
    call: ToolCall,
) -> Result<Option<String>, String> {
    let notes = SessionNotes::read(&home.working_copy, &home.holder);
    let Some(intent) = notes.intent.as_deref().filter(|intent| is_valid_id(intent)) else {
        return Ok(None);
    };
    let connection = Connection::open(caller.args, &home.working_copy, Some(&home.holder), LIMIT)
        .map_err(|error| reason::unreachable(&error))?;
    let request = UsageRequest {
        repo_url: Some(caller.args.repo_url(&home.working_copy)),
        tool_call: Some(call),
        tokens: None,
        session: Some(session(caller, &notes)),
        agent_id: Some(home.holder.as_str().to_owned()),
    };
    let response = connection.client.use_intent(intent, &request).await;
    let response = response.map_err(|error| reason::failure(&error))?;
    if response.success {
        SessionNotes::change(&home.working_copy, &home.holder, |notes| {
            warnings::note(notes, &response.warnings);
        });
        return Ok(None);
    }
    let code = response.error.as_ref().map(|error| error.error);
    SessionNotes::change(&home.working_copy, &home.holder, |notes| {
        intents::note_code(notes, None, code);
    });
    Ok(Some(reason::refusal_with_code(code, &response.orchestration)))
}

/// The agent's conversation and model.
pub(super) fn session(caller: &Caller<'_>, notes: &SessionNotes) -> AgentSession {
    let contributor = caller.call.model.as_ref().or(notes.model.as_ref());
    AgentSession {
        session_id: sanitize(caller.call.conversation.as_deref().unwrap_or_default()),
        contributor: sanitize(contributor.map_or("", String::as_str)),
    }
}

/// Removes control characters, and shortens the name.
fn sanitize(name: &str) -> String {
    let printable = name.chars().filter(|character| !character.is_control());
    printable.take(MAX_CHARS).collect()
}
