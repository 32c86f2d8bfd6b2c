//! Coord's MCP tools and commands in a shell get the holder's name if they cannot find it themselves: the agent's process has
//! several conversations, the call is a subagent's, or the server is reached over HTTP.

use coord_agent::session::Session;
use coord_domain::AgentId;
use coord_protocol::tool_names;
use coord_settings::env_vars;
use serde_json::{Value, json};

use super::caller::{Caller, find};
use super::event::Tool;

/// Tools for which a subagent counts as a separate holder; in teams and intents it acts as its session.
const OF_WRITERS: [&str; 2] = [tool_names::CHECK_STATUS, tool_names::POST_STATUS];

/// The arguments of the tool with the holder in them; `None` where nothing has to be added.
pub(super) fn arguments(caller: &Caller<'_>) -> Option<Value> {
    if !caller.agent.takes_arguments() {
        return None;
    }
    match &caller.call.tool {
        Tool::Own(tool) if !tool_names::is_of_opencode(tool) && caller.call.input.get("agent_id").is_none() => {
            with(caller, "agent_id", &holder(caller, tool)?.as_str().into())
        }
        Tool::Shell { command, .. } if asks_coord(command) && !caller.agent.takes_environment() => {
            let holder = holder(caller, OF_WRITERS[0])?;
            let (name, holder) = (env_vars::COORD_AGENT, holder.as_str());
            let sent = caller.call.input["command"].as_str().unwrap_or(command);
            let command = match caller.call.tool_name.eq_ignore_ascii_case("powershell") {
                true => format!("$env:{name} = '{holder}'; {sent}"),
                false => format!("export {name}={holder}; {sent}"),
            };
            with(caller, "command", &command.into())
        }
        _ => None,
    }
}

/// The environment of the agent's shell, where the agent takes one from its hooks.
pub(super) fn environment(caller: &Caller<'_>) -> Option<Value> {
    let holder = caller.holder(&find(&caller.command_folder())?).ok()?;
    Some(json!({ env_vars::COORD_AGENT: holder.as_str() }))
}

/// Whether the command runs `coord`, or git with its hooks.
fn asks_coord(command: &str) -> bool {
    let mut words = command.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| matches!(word, "coord" | "git"))
}

/// The holder that the call is for, unless the parent processes already identify it.
fn holder(caller: &Caller<'_>, tool: &str) -> Option<AgentId> {
    let working_copy = find(&caller.command_folder())?;
    let holder = match OF_WRITERS.contains(&tool) {
        true => caller.holder(&working_copy),
        false => caller.lead(&working_copy),
    };
    let holder = holder.ok()?;
    // Only a server over HTTP needs the repository of a call. No process leads from there to the agent.
    if caller.call.input.get("repo_url").is_some() {
        return Some(holder);
    }
    if caller.args.agent_id().ok()?.as_ref() == Some(&holder) {
        // They have the same environment.
        return None;
    }
    let found = Session::existing(&working_copy);
    found.is_none_or(|found| found.agent_id != holder).then_some(holder)
}

fn with(caller: &Caller<'_>, name: &str, value: &Value) -> Option<Value> {
    let mut input = match &caller.call.input {
        Value::Object(input) => input.clone(),
        Value::Null => serde_json::Map::new(),
        _ => return None,
    };
    input.insert(name.to_owned(), value.clone());
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
            assert!(asks_coord(command), "{command}");
        }
        for command in ["ls", "coordinate", "cat .gitignore", "digit"] {
            assert!(!asks_coord(command), "{command}");
        }
    }
}
