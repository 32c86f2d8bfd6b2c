//! `coord team`, `coord task` and `coord message`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use coord_test_support::waiting::block_until;

use super::{error, json, locked, parts, printed, run, world};
use crate::texts::{assert_has, assert_lacks};
use coord_test_worlds::world::World;

/// Runs `coord ARGS` as an agent.
#[track_caller]
fn by(world: &World, agent: &str, args: &[&str], status: i32) -> String {
    printed(world, &[args, &["--agent", agent]].concat(), status)
}

fn team() -> World {
    let world = world();
    by(&world, "lead", &["team", "create", "alpha"], 0);
    by(&world, "one", &["team", "join", "alpha"], 0);
    world
}

#[test]
fn a_plan_is_worked_off_and_drawn() {
    let world = team();
    let lead = |args: &[&str]| by(&world, "lead", args, 0);
    let one = |args: &[&str]| by(&world, "one", args, 0);
    let plan = world.clone.path().join("plan.jsonl");
    let lines = [
        r#"{ "ref": "pool", "title": "Pool the \"connections\"", "priority": "high", "files": ["src/db.ts"] }"#,
        r#"{ "title": "Document it", "dependencies": ["pool"] }"#,
    ];
    std::fs::write(&plan, lines.join("\n")).unwrap();
    let added = lead(&["task", "add", "--from", plan.to_str().unwrap()]);
    let beginning = "PROCEED: 2 tasks are added\nt1 [ready] lead (";
    assert!(added.starts_with(beginning), "{added}");
    assert_has(&added, &["): \u{201c}Pool"]);
    let listed = one(&["task", "list"]);
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1][..2], ["t1", "ready"], "{listed}");
    assert_eq!(rows[2][..3], ["t2", "waits", "t1"], "{listed}");
    assert_has(&one(&["task", "next"]), &["t1 [in_progress, one]"]);
    let done = ["task", "done", "t1", "--result", "query() is async"];
    let change = ("src/db.ts", "export const query = async () => 2;\n");
    world.clone.commit(&[change]);
    let unpushed = by(&world, "one", &done, 3);
    let beginning = "PUSH: Task t1: 'src/db.ts' is not pushed";
    assert!(unpushed.starts_with(beginning), "{unpushed}");
    world.clone.git(&["push", "--quiet"]);
    assert_has(&one(&done), &["the dependencies of another one are met"]);
    let next = one(&["task", "next"]);
    assert_has(&next, &["Result of t1 by one (", "):\n> query() is async"]);
    one(&["task", "release", "t2", "--note", "Half of it"]);
    let shown = lead(&["task", "show", "t2"]);
    assert_has(&shown, &["Note by one (", "):\n> Half of it"]);
    let node = r#""t1" [label="t1: Pool the \"connections\"", style=dotted];"#;
    assert_has(&lead(&["task", "graph"]), &[node, r#""t1" -> "t2";"#]);
    let mermaid = lead(&["task", "graph", "--format", "mermaid"]);
    let node = "n0[\"t1: Pool the #34;connections#34;\"]\n";
    assert_has(&mermaid, &[node, "n0 --> n1\n"]);
}

// rule: commands#exit-status
#[test]
fn a_refusal_by_the_rules_and_an_error_have_different_exit_statuses() {
    let world = team();
    let lead = |args: &[&str], status: i32| by(&world, "lead", args, status);
    let add = ["task", "add", "A", "--file", "src/db.ts"];
    lead(&[&add[..], &["--depends-on", "t9"]].concat(), 3);
    lead(&[&add[..], &["--priority", "low"]].concat(), 0);
    by(&world, "one", &["task", "claim", "t1"], 0);
    let taken = lead(&["task", "claim", "t1"], 3);
    let beginning = "SWITCH_TASK: Task t1 is not available (status: in_progress): \"one\" has it";
    assert!(taken.starts_with(beginning), "{taken}");
    by(&world, "one", &["task", "show", "t9"], 1);
    by(&world, "one", &["task", "claim", "../t1"], 1);
    lead(&["task", "edit", "t1", "--title", "two\nlines"], 1);
    let edit = ["task", "edit", "t1", "--title", "B", "--note", "Seen"];
    lead(&[&edit[..], &["--no-dependencies"]].concat(), 0);
    lead(&["task", "assign", "t1", "zoe"], 3);
    // An agent in no team reads the only team that exists.
    let listed = by(&world, "stranger", &["task", "list"], 0);
    assert_has(&listed, &["in progress"]);
    by(&world, "stranger", &["task", "next", "--team", "alpha"], 3);
    let nobody = ["task", "list", "--team", "alpha", "--url", "http://127.0.0.1:1"];
    printed(&world, &nobody, 4);
    let missing = ["task", "add", "--from", "missing.jsonl", "--team", "alpha"];
    printed(&world, &missing, 1);
    std::fs::write(world.clone.path().join("long.jsonl"), "{}\n".repeat(400_000)).unwrap();
    let too_long = error(&world, &["task", "add", "--from", "long.jsonl"], 1);
    assert_has(&too_long, &["is larger than 1048576 bytes"]);
    lead(&["task", "rm", "t1"], 0);
}

#[test]
fn printed_messages_count_as_read() {
    let world = team();
    let lead = |args: &[&str]| by(&world, "lead", args, 0);
    let one = |args: &[&str]| by(&world, "one", args, 0);
    lead(&["message", "send", "--to", "one", "--task", "t1", "The build is broken"]);
    by(&world, "lead", &["message", "send", "--to", "zoe", "x"], 3);
    let kept = one(&["message", "read", "--keep"]);
    assert_has(&kept, &["1 lead (", "), about t1:\n> The build is broken\n"]);
    let listed = lead(&["message", "list"]);
    assert_has(&listed, &["> The build is broken\n(not read by one)"]);
    assert_has(&one(&["message", "read"]), &["The build is broken"]);
    assert_eq!(one(&["message", "read"]), "PROCEED: There are no new messages\n");
    let listed = lead(&["message", "list", "--member", "one"]);
    assert_lacks(&listed, &["not read by"]);
    one(&["message", "send", "--idle", "Nothing to do"]);
    let inbox = json(&world, &["message", "read", "--json", "--agent", "lead"], 0);
    assert_eq!(inbox["messages"][0]["type"], "idle");
}

#[test]
fn a_team_is_shown_handed_over_and_ended() {
    let world = team();
    let shown = by(&world, "one", &["team", "show"], 0);
    let beginning = "PROCEED: team alpha, led by lead, 0 open tasks\nlead (";
    assert!(shown.starts_with(beginning), "{shown}");
    by(&world, "one", &["team", "hand-over", "one"], 3);
    by(&world, "lead", &["team", "hand-over", "one"], 0);
    let request = ["team", "shutdown", "request", "--reason", "It is late"];
    let request = [&request[..], &["--json", "--agent", "one"]].concat();
    assert_eq!(json(&world, &request, 0)["shutdown_state"], "open");
    by(&world, "lead", &["team", "shutdown", "force", "s1"], 3);
    by(&world, "lead", &["team", "shutdown", "approve", "s1"], 0);
    let listed = json(&world, &["team", "list", "--json"], 0);
    assert!(listed["teams"][0]["closedAt"].is_string(), "{listed}");
    by(&world, "one", &["team", "delete", "alpha"], 0);
    assert_eq!(printed(&world, &["team", "list"], 0), "PROCEED: there are no teams\n");
    assert_has(&error(&world, &["team", "show"], 1), &["there is no team"]);
    // A person leads without an agent.
    printed(&world, &["team", "create", "beta"], 0);
    printed(&world, &["team", "create", "gamma", "--handle", "me"], 0);
    let (_, _, errors) = run(&world, &["team", "show"]);
    assert_has(&errors, &["Name one of beta, gamma with --team or COORD_TEAM"]);
}

#[test]
fn the_files_of_a_task_are_claimed_from_the_working_copy_and_unlocked_where_nothing_was_changed() {
    let world = team();
    let one = |args: &[&str], status: i32| by(&world, "one", args, status);
    let two = |args: &[&str], status: i32| by(&world, "two", args, status);
    two(&["team", "join", "alpha"], 0);
    for (title, file) in [
        ("Pool", "src/db.ts"),
        ("Pool again", "src/db.ts"),
        ("Read me", "README.md"),
    ] {
        by(&world, "lead", &["task", "add", title, "--file", file], 0);
    }
    one(&["task", "claim", "t1"], 0);
    let refused = two(&["task", "claim", "t2"], 3);
    let beginning = "WAIT: Task t2: File 'src/db.ts' is being written by 'one': ";
    assert!(refused.starts_with(beginning), "{refused}");
    assert_has(&refused, &["\nLOCK_CONFLICT\nReady in alpha: t3 of lead ("]);
    let check = two(&["check", "src/db.ts"], 3);
    let title = "): \u{201c}Read me\u{201d}\n";
    assert_has(&check, &["Ready in alpha: t3 of lead (", title]);
    let next = two(&["task", "next"], 0);
    let passed_over = "Passed over t2: 'src/db.ts' is locked by ";
    assert_has(&next, &["t3 [in_progress, two]", passed_over]);
    // Nothing was changed, so that there is nothing to push.
    two(&["task", "release", "t3"], 0);
    // Agent two has worked on something else meanwhile, and waits from now on.
    two(&["task", "claim", "t2"], 3);
    one(&["task", "done", "t1"], 0);
    assert_eq!(locked(&world), [""; 0]);
    // It is the turn of the agent that was refused.
    one(&["task", "claim", "t2"], 3);
    two(&["task", "claim", "t2"], 0);
    std::fs::write(world.clone.path().join("src/db.ts"), "export const query = 3;\n").unwrap();
    let kept = two(&["task", "release", "t2"], 0);
    assert_has(&kept, &["LOCKS_KEPT: You still hold 'src/db.ts' for writing"]);
    two(&["task", "claim", "t2"], 0);
    two(&["task", "release", "t2", "--abandon"], 0);
    assert_eq!(locked(&world), [""; 0]);
    two(&["task", "claim", "t2", "--no-files"], 0);
    assert_eq!(locked(&world), [""; 0]);
}

/// A command that goes on; ended when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn messages_are_watched_as_they_come_and_are_read_then() {
    let world = team();
    let send = |text: &str| by(&world, "lead", &["message", "send", "--to", "one", text], 0);
    send("Before");
    for is_json in [false, true] {
        let mut command = world.coord(world.clone.path());
        command.args(["message", "watch", "--agent", "one"]);
        command.args(is_json.then_some("--json"));
        let mut watch = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let (sender, lines) = channel();
        let out = BufReader::new(watch.0.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let next = || lines.recv_timeout(Duration::from_secs(60)).expect("a line");
        let text = format!("While it watches {is_json}");
        if is_json {
            send(&text);
            let message: serde_json::Value = serde_json::from_str(&next()).unwrap();
            assert_eq!(message["message"], text);
            assert_eq!(message["from"], "lead");
        } else {
            let author = next();
            assert!(author.starts_with("1 lead ("), "{author}");
            assert_eq!(next(), "> Before");
            send(&text);
            let author = next();
            assert!(
                author.starts_with("2 lead (") || author.starts_with("3 lead ("),
                "{author}"
            );
            assert_eq!(next(), format!("> {text}"));
        }
        // Its next request says that it has them.
        block_until("they are read", || {
            !by(&world, "lead", &["message", "list"], 0).contains("not read by")
        });
    }
}

#[test]
fn a_leaving_member_releases_its_tasks() {
    let world = team();
    by(&world, "lead", &["task", "add", "A"], 0);
    by(&world, "one", &["task", "claim", "t1"], 0);
    by(&world, "lead", &["team", "leave"], 3);
    let left = by(&world, "one", &["team", "leave", "alpha"], 0);
    assert_has(&left, &["Released: t1"]);
    by(&world, "one", &["task", "claim", "t1", "--team", "alpha"], 3);
    let shown = by(&world, "lead", &["task", "show", "t1"], 0);
    assert_has(&shown, &["one left the team."]);
    by(&world, "lead", &["task", "claim", "t1"], 0);
}

/// The option says more than COORD_TEAM, and this more than what opencode-teams sets.
// rule: commands#configuration
#[test]
fn the_team_is_the_one_of_the_environment_unless_an_option_names_one() {
    let world = team();
    by(&world, "lead", &["team", "create", "beta"], 0);
    by(&world, "lead", &["task", "add", "Of alpha", "--team", "alpha"], 0);
    by(&world, "lead", &["task", "add", "Of beta", "--team", "beta"], 0);
    let listed = |environment: &[(&str, &str)], more: &[&str]| {
        let mut command = world.coord(world.clone.path());
        command.args(["task", "list", "--agent", "lead"]).args(more);
        command.envs(environment.iter().copied());
        parts(&command.output().unwrap())
    };
    let coord = ("COORD_TEAM", "beta");
    let opencode = ("OPENCODE_TEAM_NAME", "alpha");
    for (environment, more, team) in [
        (&[coord][..], &[][..], "Of beta"),
        (&[opencode], &[], "Of alpha"),
        (&[coord, opencode], &[], "Of beta"),
        (&[("COORD_TEAM", " "), opencode], &[], "Of alpha"),
        (&[coord, opencode], &["--team", "alpha"], "Of alpha"),
    ] {
        let (code, out, error) = listed(environment, more);
        assert_eq!(code, 0, "{environment:?}: {error}");
        assert!(out.contains(team), "{environment:?} {more:?}: {out}");
        assert_eq!(out.matches("\u{201c}Of ").count(), 1, "{out}");
    }
    assert_ne!(listed(&[], &[]).0, 0, "the leader is in two");
    // Of two teams, the one that the agent is in.
    let shown = by(&world, "one", &["team", "show"], 0);
    assert!(shown.starts_with("PROCEED: team alpha, "), "{shown}");
    by(&world, "one", &["team", "leave"], 0);
}
