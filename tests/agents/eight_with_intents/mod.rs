//! Eight agents and six intents, through `coord mcp` and `coord hook`: one intent is blocked by its budget, one is completed under
//! its holder, and a person takes a file over. At the end the commits, the files and the ledger prove it.

mod worker;

use std::collections::BTreeMap;
use std::process::Command;

use coord_test_support::skipping::skip;
use serde_json::{Value, json};

use crate::commands::terminal::{in_terminal, shown};
use crate::commands::{self, printed};
use crate::texts::{assert_has, assert_lacks};
use crate::worktree_agent::world_with_guards;
use coord_test_worlds::world::World;
use worker::{Change, Worker};

/// The intent that each of the eight agents works on.
const INTENTS: [&str; 8] = ["I-0", "I-1", "I-2", "I-3", "I-4", "I-5", "I-0", "I-2"];
const CRITERION: &str = "The parts have changed";
const PARTS: [&str; 6] = ["zero", "one", "two", "three", "four", "five"];

/// Two files of each intent for each of its agents, and as many that are nobody's.
fn world() -> World {
    let parts = PARTS.iter().copied().chain(["docs", "tools"]);
    let names = parts.flat_map(|part| ["a", "b", "c", "d"].map(|file| format!("src/{part}/{file}.txt")));
    let names: Vec<String> = names.collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "first\n")).collect();
    world_with_guards(&files)
}

fn intent(world: &World, id: &str) -> Value {
    commands::json(world, &["intent", "show", id, "--json"], 0)["intent"].clone()
}

/// A person's act, on a terminal.
fn person(world: &World, line: &str) {
    let script = in_terminal(world, 120, line).expect("a terminal");
    assert_lacks(&shown(script), &["error", "STOP"]);
}

/// Writes the six intents: five by agents, and the one with a budget by a person.
fn write_intents(world: &World, workers: &mut [Worker<'_>]) {
    for (number, part) in PARTS.iter().enumerate() {
        let (id, scope) = (format!("I-{number}"), format!("src/{part}/**"));
        if number == 3 {
            let budget = ["--max-turns", "3", "--criterion", CRITERION];
            let new = ["intent", "new", &id, "--name", part, "--scope", &scope];
            printed(world, &[&new[..], &budget].concat(), 0);
            continue;
        }
        let mut new = json!({
            "action": "NEW", "intent_id": id, "name": part, "owned_scope": [scope], "acceptance_criteria": [CRITERION],
        });
        if number == 5 {
            // An intent that supplements another one may overlap with it.
            new["supplements"] = json!("I-4");
            new["owned_scope"] = json!([scope, "src/four/**"]);
        }
        let written = workers[number].agent.calls_tool("update_intent", new);
        assert_eq!(written["intent"]["status"], "PENDING", "{written}");
    }
}

fn complete(worker: &mut Worker<'_>, id: &str) {
    let met = json!([{ "criterion": CRITERION, "evidence": "git log" }]);
    let edited = worker.agent.calls_tool(
        "update_intent",
        json!({ "action": "EDIT", "intent_id": id, "met": met }),
    );
    assert_eq!(edited["success"], true, "{edited}");
    let complete = json!({ "action": "COMPLETE", "intent_id": id });
    let ended = worker.agent.calls_tool("update_intent", complete);
    assert_eq!(ended["intent"]["status"], "COMPLETED", "{ended}");
}

/// All at once: each changes its file, commits and pushes.
fn all_change(workers: &mut [Worker<'_>]) {
    std::thread::scope(|scope| {
        for (number, worker) in workers.iter_mut().enumerate() {
            scope.spawn(move || {
                let part = PARTS[INTENTS[number][2..].parse::<usize>().unwrap()];
                let file = if number < PARTS.len() { "a" } else { "b" };
                let file = format!("src/{part}/{file}.txt");
                worker.writes(&file, &format!("first change by {number}\n")).unwrap();
                worker.commits();
                worker.agent.pushes();
            });
        }
    });
}

fn is_blocked_by_its_budget(world: &World, worker: &mut Worker<'_>) {
    worker.writes("src/three/b.txt", "the last turn\n").unwrap();
    let denied = worker.writes("src/three/c.txt", "one more\n").unwrap_err();
    assert!(denied.starts_with("STOP: "), "{denied}");
    let blocked = intent(world, "I-3");
    assert_eq!(blocked["status"], "BLOCKED");
    assert_eq!(blocked["budget"]["consumed_turns"], 3);
    person(world, "intent edit I-3 --max-turns 40 --yes");
    person(world, "intent unblock I-3 --reason 'It is nearly done' --yes");
    assert_eq!(intent(world, "I-3")["status"], "IN_PROGRESS");
    worker.commits();
    worker.agent.pushes();
}

fn is_completed_under_its_holder(world: &World, holder: &mut Worker<'_>, other: &mut Worker<'_>) {
    holder.writes("src/two/c.txt", "before the end\n").unwrap();
    holder.commits();
    complete(other, "I-2");
    let denied = holder.writes("src/two/d.txt", "after the end\n").unwrap_err();
    assert!(denied.starts_with("STOP: ") && denied.contains("Intent ID"), "{denied}");
    assert_eq!(intent(world, "I-2")["status"], "COMPLETED");
    // An agent that has lost its intent still pushes and releases.
    holder.agent.pushes();
}

fn is_taken_over(world: &World, owner: &mut Worker<'_>, taker: &mut Worker<'_>) {
    let file = "src/four/a.txt";
    let denied = taker.writes(file, "mine\n").unwrap_err();
    assert_has(&denied, &["Governance Violation: File owned by Intent [I-4]"]);
    person(world, &format!("intent take-over I-5 {file} --yes"));
    taker.writes(file, "taken over\n").unwrap();
    taker.commits();
    taker.agent.pushes();
    let denied = owner.writes(file, "mine again\n").unwrap_err();
    assert_has(&denied, &["Governance Violation: File owned by Intent [I-5]"]);
}

/// The lines of the ledger that record a change: intent, file, hash.
fn recorded(world: &World) -> Vec<Change> {
    let log = printed(world, &["ledger", "log", "-n", "500", "--json"], 0);
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let changes = lines.filter(|line| line["action_type"] == "TOOL_EXECUTION" && line["payload"]["hash"].is_string());
    let change = |line: Value| {
        assert_eq!(line["result"]["status"], "SUCCESS", "{line}");
        let payload = &line["payload"];
        let fields = [&line["intent_id"], &payload["target_files"][0], &payload["hash"]];
        fields.map(|field| field.as_str().unwrap().to_owned()).into()
    };
    changes.map(change).collect()
}

/// The points of the ledger that the commits of the agents name; each commit names its intent, too.
fn anchors(world: &World, changes: &[Change]) -> Vec<String> {
    let format = "--format=%H%x00%(trailers:key=Coord-Intent,valueonly,separator=%x2C)%x00%(trailers:key=Coord-Ledger,valueonly,separator=%x2C)";
    let log = world.clone.git(&["log", format, "--grep=Change a part"]);
    let mut anchors = Vec::new();
    for line in log.lines() {
        let [commit, intents, point] = line.split('\0').collect::<Vec<_>>().try_into().unwrap();
        let files = world.clone.git(&["show", "--format=", "--name-only", commit]);
        for file in files.lines() {
            let is_its = |change: &Change| change.0 == intents && change.1 == file;
            assert!(changes.iter().any(is_its), "{file} in {line:?}");
        }
        assert_eq!(point.split(':').count(), 2, "{line:?}");
        anchors.push(point.to_owned());
    }
    assert_eq!(anchors.len(), changes.len(), "a commit for each change");
    anchors
}

fn verify_the_file(world: &World, anchors: &[String]) {
    printed(world, &["sync"], 0);
    let file = ".orchestration/agent_trace.jsonl";
    let report = commands::json(world, &["ledger", "verify", file, "--json"], 0);
    assert!(report["damage"].is_null(), "{report}");
    assert!(report["anchors_met"].as_u64().unwrap() > 0, "{report}");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ledger/verify.py");
    let mut python = Command::new("python3");
    python.args([program, "github.com/team/project", file]).args(anchors);
    let Ok(output) = python.current_dir(world.clone.path()).output() else {
        skip("python3 is not installed");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let end = format!("{}:{}", report["end"]["seq"], report["end"]["hash"].as_str().unwrap());
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), end);
}

// rule: hooks#commit-msg
#[test]
fn eight_agents_with_six_intents_leave_a_ledger_that_proves_what_they_did() {
    let world = world();
    if in_terminal(&world, 80, "--version").is_none() {
        return;
    }
    let mut workers: Vec<Worker<'_>> = (0..INTENTS.len())
        .map(|number| Worker::start(&world, &format!("agent{number}")))
        .collect();
    write_intents(&world, &mut workers);
    for (worker, intent) in workers.iter_mut().zip(INTENTS) {
        worker.selects(intent);
        worker.agent.begins();
    }
    all_change(&mut workers);
    let [zero, one, two, three, four, five, six, seven] = &mut workers[..] else {
        unreachable!()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| is_blocked_by_its_budget(&world, three));
        scope.spawn(|| is_completed_under_its_holder(&world, two, seven));
        scope.spawn(|| is_taken_over(&world, four, five));
        for worker in [zero, one, six] {
            scope.spawn(|| {
                let denied = worker.writes("src/docs/a.txt", "beyond\n").unwrap_err();
                assert_has(&denied, &["Scope Violation: "]);
            });
        }
    });
    for (number, intent) in INTENTS.iter().enumerate().take(PARTS.len()) {
        if *intent != "I-2" {
            complete(&mut workers[number], intent);
        }
    }

    let (mut turns, mut changes) = (BTreeMap::<String, u64>::new(), Vec::new());
    for worker in workers {
        let (of_worker, changed) = worker.ends();
        for intent in of_worker {
            *turns.entry(intent).or_default() += 1;
        }
        changes.extend(changed);
    }
    for id in &INTENTS[..PARTS.len()] {
        let ended = intent(&world, id);
        assert_eq!(ended["status"], "COMPLETED", "{id}");
        assert_eq!(ended["budget"]["consumed_turns"], json!(turns[*id]), "{id}");
    }
    let status = commands::json(&world, &["status", "--json"], 0);
    assert_eq!(status["locks"], json!([]), "nothing stays locked");

    let mut found = recorded(&world);
    found.sort();
    changes.sort();
    assert_eq!(found, changes, "each change once");
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    let anchors = anchors(&world, &changes);
    printed(&world, &["verify"], 0);
    printed(&world, &["ledger", "verify"], 0);
    verify_the_file(&world, &anchors);
}
