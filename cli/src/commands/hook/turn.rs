//! A tool call as the budget and the breaker of an intent count it.

use coord::domain::AgentId;
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;
use coord_protocol::{AgentSession, ToolCall};

use crate::agent::session_notes::{LastCall, SessionNotes};

use super::caller::Caller;
use super::event::{Moment, Tool};

/// Most characters of a name that is sent.
const MOST_CHARS: usize = 128;

/// The call, once: where an agent calls two hooks before one tool, the second one finds none.
pub(super) fn call(caller: &Caller<'_>, working_copy: &WorkingCopy, holder: &AgentId) -> Option<ToolCall> {
    let call = ToolCall {
        name: cut(&caller.call.tool_name),
        digest: digest(caller),
    };
    let mut events = caller.agent.events();
    let has_several = events.by_ref().filter(|(_, at)| *at == Moment::BeforeTool).count() > 1;
    if !has_several {
        return Some(call);
    }
    let event = caller.event.to_owned();
    let mut is_heard = false;
    SessionNotes::change(working_copy, holder, |notes| match &mut notes.call {
        Some(last) if last.digest == call.digest && !last.events.contains(&event) => {
            is_heard = true;
            last.events.push(event);
        }
        last => {
            *last = Some(LastCall {
                digest: call.digest.clone(),
                events: vec![event],
            });
        }
    });
    (!is_heard).then_some(call)
}

/// Of the command and its folder, or else of the tool and its input: other arguments are other work.
fn digest(caller: &Caller<'_>) -> String {
    let text = match &caller.call.tool {
        Tool::Shell { command, .. } => format!("shell\0{}\0{command}", caller.command_folder().display()),
        _ => format!("{}\0{}", caller.call.tool_name, caller.call.input),
    };
    ContentHash::of(text.as_bytes()).to_string()
}

/// What the agent says of itself.
pub(super) fn session(caller: &Caller<'_>, notes: &SessionNotes) -> AgentSession {
    let contributor = caller.call.model.as_ref().or(notes.model.as_ref());
    AgentSession {
        session_id: cut(caller.call.conversation.as_deref().unwrap_or_default()),
        contributor: cut(contributor.map_or("", String::as_str)),
    }
}

fn cut(text: &str) -> String {
    let plain = text.chars().filter(|character| !character.is_control());
    plain.take(MOST_CHARS).collect()
}
