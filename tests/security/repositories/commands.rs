//! The commands of agents and people: every command of `coord`, from its own list, and the hooks of each form of agent.

use std::path::Path;

use clap::CommandFactory;
use coord_cli::cli::Cli;
use serde_json::{Value, json};

use coord_test_worlds::hook_forms::{self as forms, Form};

/// Arguments, and what is on standard input.
pub type Run = (Vec<String>, String);

/// Every command with what it requires: a new one joins by itself.
pub fn commands() -> Vec<Run> {
    let mut found = Vec::new();
    collect(&Cli::command(), &[], &mut found);
    assert!(found.len() > 40, "{found:?}");
    found.into_iter().map(|words| (words, String::new())).collect()
}

fn collect(command: &clap::Command, words: &[String], found: &mut Vec<Vec<String>>) {
    let mut has_commands = false;
    for inner in command.get_subcommands() {
        has_commands = true;
        let words: Vec<String> = words.iter().cloned().chain([inner.get_name().to_owned()]).collect();
        collect(inner, &words, found);
    }
    if has_commands {
        return;
    }
    let mut line = words.to_vec();
    for argument in command.get_arguments() {
        let long = argument.get_long();
        if !argument.is_required_set() && !matches!(long, Some("yes" | "port" | "no-check")) {
            continue;
        }
        let value = argument
            .get_possible_values()
            .first()
            .map(|value| value.get_name().to_owned());
        match long {
            Some("yes" | "no-check") => line.extend(long.map(|long| format!("--{long}"))),
            Some("port") => line.extend(["--port", "0"].map(str::to_owned)),
            Some(long) => line.extend([format!("--{long}"), value.unwrap_or_else(|| "1".to_owned())]),
            None => line.push(value.unwrap_or_else(|| "a.txt".to_owned())),
        }
    }
    found.push(line);
}

/// A session of each agent that edits, reads and runs commands in `folder`, in order; and one by MCP.
pub fn sessions(folder: &Path) -> Vec<Vec<Run>> {
    let of_hooks = forms::ALL.into_iter().map(|form| session(form, folder));
    of_hooks.chain([vec![mcp()]]).collect()
}

/// `coord mcp`, of which an agent claims a file.
fn mcp() -> Run {
    let client =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let claim =
        json!({ "name": "post_status", "arguments": { "file_paths": ["a.txt"], "status": "WRITING", "message": "x" } });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": claim }),
    ];
    let input = lines.map(|line| format!("{line}\n")).concat();
    (vec!["mcp".to_owned()], input)
}

fn session(form: &Form, folder: &Path) -> Vec<Run> {
    let file = folder.join("a.txt");
    let edit = || (form.edit)(folder, &file);
    let calls = [
        (form.start)(folder),
        (form.prompt)(folder, "Change a.txt"),
        forms::read(form, folder, &file, false),
        forms::read(form, folder, &file, true),
        edit(),
        forms::after(form, edit()),
        (form.shell)(folder, "make > a.txt && git commit -am x && git push"),
        (form.after_shell)(folder, "make > a.txt && git commit -am x && git push"),
        (form.turn_end)(folder),
        (form.end)(folder),
    ];
    let run = |(event, call): (&str, Value)| {
        let words = ["hook", form.agent, event].map(str::to_owned).to_vec();
        (words, call.to_string())
    };
    calls.into_iter().map(run).collect()
}
