//! Measures what a model pays for the messages of Coord: each, in a typical case, with its tokens by `o200k_base`. The
//! table is in the reference; `COORD_UPDATE_DOCS=1` rewrites it.

use std::fmt::Write;
use std::process::Command;

use serde_json::{Value, json};

use crate::hook::looks::context;
use crate::hook::{Session, session};
use crate::mcp::Agent;
use coord_test_support::waiting::block_until_served;
use coord_test_worlds::hook_forms::{Answer, CLAUDE_CODE};
use coord_test_worlds::world::World;

const ADA: &str = "claude-code-7f3a";
const BOB: &str = "claude-code-c21e";

/// The messages of one audience, by name.
struct Messages {
    heading: &'static str,
    rows: Vec<(&'static str, String)>,
}

impl Messages {
    fn new(heading: &'static str, world: &World, rows: Vec<(&'static str, String)>) -> Messages {
        let rows = rows.into_iter().map(|(name, text)| (name, steady(world, &text)));
        Messages {
            heading,
            rows: rows.collect(),
        }
    }
}

/// Returns the text that a hook's answer gives the model: a denial, a text, or nothing.
fn given(session: &Session<'_>, answer: &Answer) -> String {
    let denial = session.denial(answer);
    denial
        .or_else(|| context(session.form, &answer.body))
        .or_else(|| answer.body["reason"].as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn shop() -> World {
    World::with(&[
        ("src/db.ts", "export const query = 1;\n"),
        ("src/page.ts", "import { query } from './db';\n"),
        ("src/auth.ts", "export const login = 1;\n"),
        ("README.md", "# Shop\n"),
    ])
}

fn write(world: &World, file: &str, content: &str) {
    std::fs::write(world.clone.path().join(file), content).unwrap();
}

/// `text` without what differs between machines: numbers, commits, login.
fn steady(world: &World, text: &str) -> String {
    let login = Command::new("id").arg("-un").output().unwrap().stdout;
    let login = String::from_utf8(login).unwrap().trim().to_owned();
    let mut text = text.to_owned();
    for (before, after) in [("login ", ""), ("(", ""), ("", "/claude"), ("- ", " (claude")] {
        text = text.replace(&format!("{before}{login}{after}"), &format!("{before}ada{after}"));
    }
    for commit in world.clone.git(&["log", "--format=%h", "--abbrev=7", "--all"]).lines() {
        text = text.replace(commit, "5aaea5a");
    }
    // The graph is built meanwhile, sooner or later.
    let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("GRAPH_"));
    lines
        .flat_map(str::chars)
        .map(|letter| if letter.is_ascii_digit() { '5' } else { letter })
        .collect()
}

/// `coord ARGS` as the agent `who`: what it prints, on both outputs.
fn prints(world: &World, who: &str, args: &[&str]) -> String {
    let output = world
        .coord(world.clone.path())
        .env("COORD_AGENT", who)
        .args(args)
        .output()
        .unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A shop whose graph is built.
fn served_shop() -> World {
    let world = shop();
    block_until_served("the graph is built", || {
        !prints(&world, ADA, &["check", "README.md"]).contains("GRAPH_MISSING")
    });
    world
}

fn hooks() -> Messages {
    let world = served_shop();
    let (ada, bob) = (
        session(&world, &CLAUDE_CODE, Some(ADA)),
        session(&world, &CLAUDE_CODE, Some(BOB)),
    );
    let mut rows = Vec::new();
    let mut add = |name, session: &Session<'_>, answer: &Answer| rows.push((name, given(session, answer)));
    add("session start, nobody at work", &ada, &ada.starts());
    bob.is_told("Make the pool of connections grow with the load of the day");
    add("edit, granted", &bob, &bob.edits("src/db.ts"));
    add("session start, one holder", &ada, &ada.starts());
    add("prompt, others' locks", &ada, &ada.is_told("Retry failed queries"));
    add("prompt, no news", &ada, &ada.is_told("Go on"));
    add("edit, held", &ada, &ada.edits("src/db.ts"));
    add("edit, held neighbor", &ada, &ada.edits("src/page.ts"));
    add(
        "command, writes a held file",
        &ada,
        &ada.runs("sed -i s/a/b/ src/db.ts"),
    );
    write(&world, "src/db.ts", "export const query = 2;\n");
    add("after edit", &bob, &bob.has_edited("src/db.ts"));
    ada.has_read("README.md");
    write(&world, "README.md", "# Store\n");
    add("edit, file changed since it was read", &ada, &ada.edits("README.md"));
    ada.has_read("README.md");
    add("command, discards a held file", &ada, &ada.runs("git checkout -- ."));
    add(
        "force release by an agent",
        &ada,
        &ada.runs("coord release --force src/db.ts --reason x"),
    );
    Messages::new("hooks", &world, rows)
}

fn hooks_of_teams() -> Messages {
    let world = served_shop();
    prints(&world, BOB, &["team", "create", "shop"]);
    prints(&world, ADA, &["team", "join", "shop"]);
    let ada = session(&world, &CLAUDE_CODE, Some(ADA));
    ada.starts();
    world.clone.git(&["config", "coord.keepGoing", "true"]);
    let mut rows = Vec::new();
    prints(
        &world,
        BOB,
        &[
            "message",
            "send",
            "--to",
            "broadcast",
            "The pool grows now; use query().",
        ],
    );
    rows.push(("prompt, a message", given(&ada, &ada.is_told("Go on"))));
    prints(
        &world,
        BOB,
        &["task", "add", "Retry failed queries", "--file", "src/db.ts"],
    );
    rows.push(("turn end, a task is ready", given(&ada, &ada.ends_turn())));
    Messages::new("hooks, teams", &world, rows)
}

fn hooks_of_intents() -> Messages {
    let world = shop();
    // The command starts the server.
    let mut start = world.coord(world.clone.path());
    start.args(["intent", "list"]).env("COORD_INTENT_POLICY", "required");
    assert!(start.output().unwrap().status.success());
    prints(
        &world,
        ADA,
        &[
            "intent",
            "new",
            "REQ-1",
            "--name",
            "Retry failed queries",
            "--scope",
            "src/db.ts",
            "--criterion",
            "A failed query is retried",
        ],
    );
    let ada = session(&world, &CLAUDE_CODE, Some(ADA));
    let mut rows = vec![("session start, intents required", given(&ada, &ada.starts()))];
    rows.push(("edit, no intent", given(&ada, &ada.edits("src/db.ts"))));
    rows.push(("intent select", prints(&world, ADA, &["intent", "select", "REQ-1"])));
    rows.push(("prompt, intent selected", given(&ada, &ada.is_told("Go on"))));
    rows.push(("edit, outside of the scope", given(&ada, &ada.edits("README.md"))));
    Messages::new("hooks, intents", &world, rows)
}

/// Returns the part of a tool's result that a client shows its model.
fn result(agent: &mut Agent, tool: &str, arguments: Value) -> String {
    let result = agent.call(tool, arguments);
    let content = result["content"].as_array().unwrap().iter();
    content.filter_map(|part| part["text"].as_str()).collect()
}

fn tools() -> Messages {
    let world = served_shop();
    let mut ada = Agent::start(coord_mcp(&world, ADA));
    let mut rows = Vec::new();
    let (mut silent, db) = (
        Agent::silent(coord_mcp(&world, "claude-code-0001")),
        json!(["src/db.ts"]),
    );
    let hello = silent.hello("test-client");
    rows.push(("instructions", hello["instructions"].as_str().unwrap().to_owned()));
    let list = silent.ask("tools/list", json!({}));
    let shown: Vec<Value> = list["tools"].as_array().unwrap().iter().map(shown_tool).collect();
    rows.push(("tools/list, locks alone", json!({ "tools": shown }).to_string()));
    let claim = json!({ "file_paths": db, "status": "WRITING", "message": "Growing the pool with the load" });
    rows.push((
        "check, free",
        result(&mut ada, "check_status", json!({ "file_paths": db })),
    ));
    rows.push(("claim, granted", result(&mut ada, "post_status", claim.clone())));
    let mut bob = Agent::start(coord_mcp(&world, BOB));
    rows.push((
        "check, held",
        result(&mut bob, "check_status", json!({ "file_paths": db })),
    ));
    rows.push(("claim, refused", result(&mut bob, "post_status", claim)));
    let page = json!({ "file_paths": ["src/page.ts"], "status": "WRITING", "message": "Showing the retries" });
    rows.push(("claim, held neighbor", result(&mut bob, "post_status", page)));
    write(&world, "src/db.ts", "export const query = 2;\n");
    let release = json!({ "file_paths": db, "status": "OPEN", "message": "The pool grows" });
    rows.push(("release, not pushed", result(&mut ada, "post_status", release.clone())));
    world.clone.git(&["commit", "--quiet", "-am", "Grow"]);
    world.clone.git(&["push", "--quiet"]);
    rows.push(("release, pushed", result(&mut ada, "post_status", release)));
    rows.push((
        "malformed call",
        result(&mut ada, "post_status", json!({ "file_paths": db, "status": "WRITE" })),
    ));
    Messages::new("tools", &world, rows)
}

fn coord_mcp(world: &World, who: &str) -> Command {
    let mut command = world.coord(world.clone.path());
    command.env("COORD_AGENT", who).arg("mcp");
    command
}

/// A tool as agents show it to their model: without the schema of the result and fields for the client.
fn shown_tool(tool: &Value) -> Value {
    json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] })
}

fn commands() -> Messages {
    let world = served_shop();
    let mut rows = vec![("check, free", prints(&world, ADA, &["check", "src/db.ts"]))];
    rows.push((
        "claim, granted",
        prints(
            &world,
            ADA,
            &["claim", "src/db.ts", "-m", "Growing the pool with the load"],
        ),
    ));
    rows.push(("check, held", prints(&world, BOB, &["check", "src/db.ts"])));
    rows.push((
        "claim, refused",
        prints(&world, BOB, &["claim", "src/db.ts", "-m", "Retrying failed queries"]),
    ));
    rows.push(("wait, free", prints(&world, BOB, &["wait", "src/auth.ts"])));
    rows.push(("status, one holder", prints(&world, BOB, &["status"])));
    rows.push(("log", prints(&world, BOB, &["log"])));
    write(&world, "src/db.ts", "export const query = 2;\n");
    rows.push(("release, not pushed", prints(&world, ADA, &["release", "src/db.ts"])));
    world.clone.git(&["commit", "--quiet", "-am", "Grow"]);
    world.clone.git(&["push", "--quiet"]);
    rows.push(("release, pushed", prints(&world, ADA, &["release", "src/db.ts"])));
    rows.push(("team create", prints(&world, ADA, &["team", "create", "shop"])));
    rows.push((
        "task add",
        prints(
            &world,
            ADA,
            &["task", "add", "Retry failed queries", "--file", "src/db.ts"],
        ),
    ));
    rows.push(("task next", prints(&world, ADA, &["task", "next"])));
    rows.push((
        "task complete",
        prints(&world, ADA, &["task", "done", "t1", "--result", "Retried three times"]),
    ));
    rows.push((
        "message send",
        prints(&world, ADA, &["message", "send", "--to", "broadcast", "Done"]),
    ));
    rows.push(("message read, nothing", prints(&world, ADA, &["message", "read"])));
    Messages::new("commands", &world, rows)
}

#[test]
fn the_reference_has_the_tokens_of_each_message_and_they_are_few() {
    let encoder = tiktoken_rs::o200k_base().unwrap();
    let count = |text: &String| encoder.encode_ordinary(text).len();
    let mut table = String::from("| from | message and its tokens |\n|---|---|\n");
    let mut denials = Vec::new();
    for messages in [hooks(), hooks_of_teams(), hooks_of_intents(), tools(), commands()] {
        let mut cells = Vec::new();
        for (name, text) in &messages.rows {
            let tokens = count(text);
            println!("== {}: {name}: {tokens}\n{text}", messages.heading);
            let most = match *name {
                "edit, granted" | "after edit" | "prompt, no news" | "session start, nobody at work" => 0,
                "tools/list, locks alone" => 900,
                name if name.starts_with("session start") => 150,
                _ => 450,
            };
            assert!(tokens <= most, "{name} has {tokens} tokens, more than {most}: {text}");
            if messages.heading.starts_with("hooks") && text.contains(" Next: ") {
                denials.push(tokens);
            }
            cells.push(format!("{name} {tokens}"));
        }
        writeln!(table, "| {} | {} |", messages.heading, cells.join("; ")).unwrap();
    }
    denials.sort_unstable();
    assert!(denials.len() >= 5 && denials[denials.len() / 2] <= 60, "{denials:?}");

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/messages.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- tokens -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of tokens -->").unwrap();
    let wanted = format!("{before}<!-- tokens -->\n{table}<!-- end of tokens -->{after}");
    if std::env::var_os("COORD_UPDATE_DOCS").is_some() {
        std::fs::write(path, wanted).unwrap();
    } else {
        assert!(
            page == wanted,
            "the table differs: COORD_UPDATE_DOCS=1 cargo test --test agents message_costs\n{table}"
        );
    }
}
