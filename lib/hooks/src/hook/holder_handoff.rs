//! Passes the name of the holder to Coord's MCP tools and to commands in a shell, if they cannot find it themselves:
//! the agent's process has several conversations, the call is a subagent's, or the server is reached over HTTP.

use coord_agent::session::Session;
use coord_domain::AgentId;
use coord_protocol::tool_names;
use coord_settings::env_vars;
use serde_json::{Value, json};

use super::caller::{Caller, find};
use super::event::Tool;

/// Tools for which a subagent counts as a separate holder. In teams and intents, it acts as its session.
const WRITER_TOOLS: [&str; 2] = [tool_names::CHECK_STATUS, tool_names::POST_STATUS];

/// The arguments of the tool with the holder in them. `None` if there is nothing to add.
pub(super) fn arguments(caller: &Caller<'_>) -> Option<Value> {
    if !caller.agent.takes_arguments() {
        return None;
    }
    match &caller.call.tool {
        Tool::Coord(tool) if !tool_names::is_opencode_tool(tool) && caller.call.input.get("agent_id").is_none() => {
            let holder = holder(caller, WRITER_TOOLS.contains(tool))?;
            with_argument(caller, "agent_id", holder.as_str().into())
        }
        Tool::Shell { command, .. } if reaches_coord(command) && !caller.agent.takes_environment() => {
            let holder = holder(caller, true)?;
            let (name, holder) = (env_vars::COORD_AGENT, holder.as_str());
            let original = caller.call.input["command"].as_str().unwrap_or(command);
            let command = match caller.call.tool_name.eq_ignore_ascii_case("powershell") {
                true => format!("$env:{name} = '{holder}'; {original}"),
                false => format!("export {name}={holder}; {original}"),
            };
            with_argument(caller, "command", command.into())
        }
        _ => None,
    }
}

/// The environment of the agent's shell, if the agent takes one from its hooks.
pub(super) fn environment(caller: &Caller<'_>) -> Option<Value> {
    let holder = caller.holder(&find(&caller.command_folder())?).ok()?;
    Some(json!({ env_vars::COORD_AGENT: holder.as_str() }))
}

/// Whether the command runs `coord`, or git with its hooks.
fn reaches_coord(command: &str) -> bool {
    let mut words = command.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| matches!(word, "coord" | "git"))
}

/// The holder of the call, unless the parent processes already identify it. With `is_for_writer`, a subagent is a
/// separate holder.
fn holder(caller: &Caller<'_>, is_for_writer: bool) -> Option<AgentId> {
    let working_copy = find(&caller.command_folder())?;
    let holder = match is_for_writer {
        true => caller.holder(&working_copy),
        false => caller.lead(&working_copy),
    };
    let holder = holder.ok()?;
    // Only a server over HTTP needs the repository of a call, and no process leads from that server to the agent.
    if caller.call.input.get("repo_url").is_some() {
        return Some(holder);
    }
    if caller.args.agent_id().ok()?.as_ref() == Some(&holder) {
        // The tools and commands have the same environment as this process.
        return None;
    }
    let session = Session::existing(&working_copy);
    session
        .is_none_or(|session| session.agent_id != holder)
        .then_some(holder)
}

fn with_argument(caller: &Caller<'_>, name: &str, value: Value) -> Option<Value> {
    let mut input = match &caller.call.input {
        Value::Object(input) => input.clone(),
        Value::Null => serde_json::Map::new(),
        _ => return None,
    };
    input.insert(name.to_owned(), value);
    Some(Value::Object(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_reach_coord_are_recognized() {
        for command in [
            "coord claim a",
            "cd x && git commit -m y",
            "/usr/bin/coord status",
            "(git push)",
        ] {
            assert!(reaches_coord(command), "{command}");
        }
        for command in ["ls", "coordinate", "cat .gitignore", "digit"] {
            assert!(!reaches_coord(command), "{command}");
        }
    }
}
