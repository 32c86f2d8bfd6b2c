//! Every output that a model or a terminal gets of what others have written.

use serde_json::{Value as Json, json};

use super::hostile::{WRITER, problem, problem_in, problem_in_data, unseen};
use super::site::Site;
use coord_test_worlds::world::REPO_URL;

/// Most intents and tasks that commands show one by one: each takes a process.
const MAX_SHOWN: usize = 40;

/// An output, and how it is read.
pub struct Output {
    pub name: String,
    pub text: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// By people and models, as it is.
    Text,
    /// JSON whose texts a model gets as they are.
    Texts,
    /// JSON for programs, in which a member `context` is for a model.
    Data,
    /// The result of a tool.
    Tool,
    /// A different language, or a log: nothing may be unseen.
    Other,
}

impl Output {
    fn new(kind: Kind, name: impl Into<String>, text: impl Into<String>) -> Output {
        Output {
            name: name.into(),
            text: text.into(),
            kind,
        }
    }

    /// Why it must not be shown as it is. `is_name`: which markers are those of names of files, which are not quoted.
    pub fn problem(&self, is_name: impl Fn(usize) -> bool + Copy) -> Option<String> {
        let json = || serde_json::from_str(&self.text).unwrap_or(Json::Null);
        match self.kind {
            Kind::Text => problem(&self.text, is_name),
            Kind::Texts => unseen(&self.text).or_else(|| problem_in(&json(), is_name)),
            Kind::Other => unseen(&self.text),
            Kind::Data => unseen(&self.text).or_else(|| problem_in(&json()["context"], is_name)),
            Kind::Tool => {
                let json = json();
                let data = problem_in_data(&json["structuredContent"], "");
                data.or_else(|| problem_in(&json["content"], is_name))
            }
        }
    }
}

pub async fn all(site: &Site) -> Vec<Output> {
    let mut found = of_http(site).await;
    found.extend(of_tools(site).await);
    found.extend(of_hooks(site));
    found.extend(of_commands(site, &found));
    // The stream is as far as the log of events.
    found.push(Output::new(Kind::Other, "live events", site.events()));
    found.push(Output::new(Kind::Other, "log of the server", site.log()));
    found
}

/// `json` with the members of `more`.
fn merged(mut json: Json, more: &Json) -> Json {
    json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json
}

/// The strings named `name` in the list `list` of `json`.
fn named(json: &str, list: &str, name: &str) -> Vec<String> {
    let json: Json = serde_json::from_str(json).unwrap_or_default();
    let items = json[list].as_array().into_iter().flatten();
    items
        .filter_map(|item| item[name].as_str().map(str::to_owned))
        .collect()
}

async fn of_http(site: &Site) -> Vec<Output> {
    let mut found = Vec::new();
    let read = async |path: &str| {
        let mark = if path.contains('?') { '&' } else { '?' };
        let text = site.reads(&format!("{path}{mark}repo_url={REPO_URL}")).await;
        Output::new(Kind::Data, format!("GET {path}"), text)
    };
    for path in [
        "/api/locks",
        "/api/activity?limit=100",
        "/api/ledger?last=500",
        "/api/intents",
        "/api/intents?view=context",
        "/api/tasks?team=alpha&limit=500",
        "/api/messages?team=alpha&limit=500",
        "/api/teams",
        "/api/graph?branch=main",
        "/api/graph?branch=main&format=compact",
        "/api/ledger/map",
        "/api/ledger/map?format=markdown",
        "/api/ledger/checkpoint",
    ] {
        found.push(read(path).await);
    }
    let list = |found: &[Output], path: &str, list: &str, name: &str| {
        let output = found
            .iter()
            .find(|output| output.name == format!("GET {path}"))
            .unwrap();
        named(&output.text, list, name)
    };
    for id in list(&found, "/api/intents", "intents", "id") {
        found.push(read(&format!("/api/intents/{id}?view=context")).await);
    }
    for id in list(&found, "/api/tasks?team=alpha&limit=500", "tasks", "id") {
        found.push(read(&format!("/api/tasks/{id}?team=alpha")).await);
    }
    for team in list(&found, "/api/teams", "teams", "name") {
        found.push(read(&format!("/api/teams/{team}")).await);
    }
    found
}

/// The files that `eve` holds, some of them.
fn held(found: &[Output]) -> Vec<String> {
    let locks = found.iter().find(|output| output.name == "GET /api/locks").unwrap();
    let mut files = named(&locks.text, "locks", "file_path");
    // Names that the reader itself puts on a command line are no text of others.
    files.retain(|file| !file.contains('\n') && unseen(file).is_none());
    files.truncate(8);
    files
}

async fn of_tools(site: &Site) -> Vec<Output> {
    let mut found = Vec::new();
    let locks = site.reads(&format!("/api/locks?repo_url={REPO_URL}")).await;
    let mut files = named(&locks, "locks", "file_path");
    files.truncate(8);
    let caller = |more: Json| merged(json!({ "repo_url": REPO_URL, "agent_id": "reader" }), &more);
    let work = |more: Json| merged(caller(json!({ "branch": "main", "agent_head": site.head })), &more);
    let mut calls = vec![
        ("check_status", work(json!({ "file_paths": files }))),
        (
            "post_status",
            work(json!({ "file_paths": files, "status": "WRITING", "message": "Reading how it is done" })),
        ),
        ("select_active_intent", caller(json!({}))),
        ("team", caller(json!({ "action": "list" }))),
        ("task_list", caller(json!({ "team": "alpha" }))),
        ("task_claim", caller(json!({ "team": "alpha" }))),
        ("message_read", caller(json!({ "team": "alpha" }))),
    ];
    let intents = site.reads(&format!("/api/intents?repo_url={REPO_URL}")).await;
    let intents = named(&intents, "intents", "id");
    let teams = site.reads(&format!("/api/teams?repo_url={REPO_URL}")).await;
    for team in named(&teams, "teams", "name") {
        calls.push(("team", caller(json!({ "action": "show", "team": team }))));
    }
    for intent in intents.iter().rev() {
        calls.push(("select_active_intent", caller(json!({ "intent_id": intent }))));
    }
    for (tool, arguments) in calls {
        let name = format!("tool {tool} {arguments}");
        let answer = site
            .mcp("ann", "tools/call", json!({ "name": tool, "arguments": arguments }))
            .await;
        assert!(answer["result"].is_object(), "{name}: {answer}");
        found.push(Output::new(Kind::Tool, name, answer["result"].to_string()));
    }
    for uri in [
        "locks",
        "activity",
        "intents",
        "ledger",
        "team/alpha",
        "tasks/t1",
        "graph/a.ts",
    ] {
        let query = match uri {
            "graph/a.ts" => "&branch=main",
            "tasks/t1" => "&team=alpha",
            _ => "",
        };
        let uri = format!("coord://{uri}?repo_url={REPO_URL}{query}");
        let answer = site.mcp("ann", "resources/read", json!({ "uri": uri })).await;
        let text = answer["result"]["contents"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{uri}: {answer}"));
        found.push(Output::new(Kind::Data, uri, text));
    }
    found
}

/// Those of an agent, of whose files another one holds some.
fn of_hooks(site: &Site) -> Vec<Output> {
    let folder = site.world.clone.path();
    let edit = json!({ "file_path": folder.join("a.ts"), "old_string": "a", "new_string": "b" });
    let shell = json!({ "command": "ls" });
    let mut found = Vec::new();
    for (event, more) in [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt": "Go on" })),
        ("PreToolUse", json!({ "tool_name": "Edit", "tool_input": edit })),
        (
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": shell, "tool_response": { "stdout": "" } }),
        ),
        ("Stop", json!({ "stop_hook_active": false })),
    ] {
        let call = merged(
            json!({ "session_id": "s-1", "cwd": folder, "hook_event_name": event }),
            &more,
        );
        let (out, errors) = site.run(&["hook", "claude-code", event], &call.to_string());
        found.push(Output::new(Kind::Texts, format!("hook {event}"), out));
        found.push(Output::new(Kind::Text, format!("hook {event}, standard error"), errors));
    }
    found
}

fn of_commands(site: &Site, known: &[Output]) -> Vec<Output> {
    let files = held(known);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let with = |words: &[&str], files: &[&str]| -> Vec<String> {
        words.iter().chain(files).map(|word| (*word).to_owned()).collect()
    };
    let claim = ["claim", "-m", "Reading how it is done"];
    let mut lines: Vec<Vec<String>> = vec![with(&["check"], &files), with(&claim, &files)];
    for line in [
        "status",
        "log -n 500",
        "ledger log -n 500",
        "why a.ts",
        "intent list --all",
        "team list",
        "task list --all --team alpha",
        "task next --team alpha",
        "message list --team alpha --limit 500",
        "message read --team alpha --keep",
        "map",
        "verify",
        "task graph --team alpha",
        "task graph --team alpha --format mermaid",
        "map --markdown",
    ] {
        lines.push(line.split(' ').map(str::to_owned).collect());
    }
    let all = |path: &str, list: &str, name: &str| {
        let output = known
            .iter()
            .find(|output| output.name == format!("GET {path}"))
            .unwrap();
        named(&output.text, list, name)
    };
    let ids = |path: &str, list: &str| all(path, list, "id");
    for team in all("/api/teams", "teams", "name").iter().take(MAX_SHOWN) {
        lines.push(with(&["team", "show", team], &[]));
    }
    for id in ids("/api/intents", "intents").iter().take(MAX_SHOWN) {
        lines.push(with(&["intent", "show", id], &[]));
    }
    for id in ids("/api/tasks?team=alpha&limit=500", "tasks").iter().take(MAX_SHOWN) {
        lines.push(with(&["task", "show", id, "--team", "alpha"], &[]));
    }
    let mut found = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        let kind = match words[..] {
            ["task", "graph", ..] | ["map", "--markdown"] => Kind::Other,
            _ => Kind::Text,
        };
        let (out, errors) = site.run(&words, "");
        let name = line.join(" ");
        found.push(Output::new(Kind::Text, format!("{name}, standard error"), errors));
        found.push(Output::new(kind, name.clone(), out));
        if kind == Kind::Other || words.get(1) == Some(&"show") {
            continue;
        }
        let (json, _) = site.run(&[&words[..], &["--json"]].concat(), "");
        found.push(Output::new(Kind::Other, format!("{name} --json"), json));
    }
    assert!(found.iter().any(|output| output.text.contains(WRITER)));
    found
}
