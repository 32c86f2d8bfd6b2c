//! `coord team`, `coord task` and `coord message`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use coord_test_support::waiting::block_until;

use super::{json, parts, printed, run, world};
use coord_test_worlds::world::World;

/// Runs `coord ARGS` as an agent.
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
    let plan = world.clone.path().join("plan.jsonl");
    let lines = [
        r#"{ "ref": "pool", "title": "Pool the \"connections\"", "priority": "high", "files": ["src/db.ts"] }"#,
        r#"{ "title": "Document it", "dependencies": ["pool"] }"#,
    ];
    std::fs::write(&plan, lines.join("\n")).unwrap();
    let plan = plan.display().to_string();
    let added = by(&world, "lead", &["task", "add", "--from", &plan], 0);
    assert!(
        added.starts_with("PROCEED: 2 tasks are added\nt1 [ready] lead (") && added.contains("): \u{201c}Pool"),
        "{added}"
    );
    let listed = by(&world, "one", &["task", "list"], 0);
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1][..2], ["t1", "ready"], "{listed}");
    assert_eq!(rows[2][..3], ["t2", "waits", "t1"], "{listed}");
    let next = by(&world, "one", &["task", "next"], 0);
    assert!(next.contains("t1 [in_progress, one]"), "{next}");
    let done = ["task", "done", "t1", "--result", "query() is async"];
    world
        .clone
        .commit(&[("src/db.ts", "export const query = async () => 2;\n")]);
    let unpushed = by(&world, "one", &done, 3);
    assert!(
        unpushed.starts_with("PUSH: Task t1: 'src/db.ts' is not pushed"),
        "{unpushed}"
    );
    world.clone.git(&["push", "--quiet"]);
    let done = by(&world, "one", &done, 0);
    assert!(done.contains("the dependencies of another one are met"), "{done}");
    let next = by(&world, "one", &["task", "next"], 0);
    assert!(
        next.contains("Result of t1 by one (") && next.contains("):\n> query() is async"),
        "{next}"
    );
    by(&world, "one", &["task", "release", "t2", "--note", "Half of it"], 0);
    let shown = by(&world, "lead", &["task", "show", "t2"], 0);
    assert!(
        shown.contains("Note by one (") && shown.contains("):\n> Half of it"),
        "{shown}"
    );
    let dot = by(&world, "lead", &["task", "graph"], 0);
    assert!(
        dot.contains(r#""t1" [label="t1: Pool the \"connections\"", style=dotted];"#),
        "{dot}"
    );
    assert!(dot.contains(r#""t1" -> "t2";"#), "{dot}");
    let mermaid = by(&world, "lead", &["task", "graph", "--format", "mermaid"], 0);
    assert!(
        mermaid.contains("n0[\"t1: Pool the #34;connections#34;\"]\n"),
        "{mermaid}"
    );
    assert!(mermaid.contains("n0 --> n1\n"), "{mermaid}");
}

// rule: commands#exit-status
#[test]
fn a_refusal_by_the_rules_and_an_error_have_different_exit_statuses() {
    let world = team();
    by(
        &world,
        "lead",
        &["task", "add", "A", "--file", "src/db.ts", "--depends-on", "t9"],
        3,
    );
    by(
        &world,
        "lead",
        &["task", "add", "A", "--file", "src/db.ts", "--priority", "low"],
        0,
    );
    by(&world, "one", &["task", "claim", "t1"], 0);
    let taken = by(&world, "lead", &["task", "claim", "t1"], 3);
    assert!(
        taken.starts_with("SWITCH_TASK: Task t1 is not available (status: in_progress): \"one\" has it"),
        "{taken}"
    );
    by(&world, "one", &["task", "show", "t9"], 1);
    by(&world, "one", &["task", "claim", "../t1"], 1);
    by(&world, "lead", &["task", "edit", "t1", "--title", "two\nlines"], 1);
    by(
        &world,
        "lead",
        &[
            "task",
            "edit",
            "t1",
            "--title",
            "B",
            "--note",
            "Seen",
            "--no-dependencies",
        ],
        0,
    );
    by(&world, "lead", &["task", "assign", "t1", "zoe"], 3);
    // An agent in no team reads the only team that exists.
    let listed = by(&world, "stranger", &["task", "list"], 0);
    assert!(listed.contains("in progress"), "{listed}");
    by(&world, "stranger", &["task", "next", "--team", "alpha"], 3);
    let (code, _, error) = run(
        &world,
        &["task", "list", "--team", "alpha", "--url", "http://127.0.0.1:1"],
    );
    assert_eq!(code, 4, "{error}");
    let (code, _, _) = run(&world, &["task", "add", "--from", "missing.jsonl", "--team", "alpha"]);
    assert_eq!(code, 1);
    let long = world.clone.path().join("long.jsonl");
    std::fs::write(&long, "{}\n".repeat(400_000)).unwrap();
    let (code, _, error) = run(&world, &["task", "add", "--from", &long.display().to_string()]);
    assert!(code == 1 && error.contains("is larger than 1048576 bytes"), "{error}");
    by(&world, "lead", &["task", "rm", "t1"], 0);
}

#[test]
fn printed_messages_count_as_read() {
    let world = team();
    by(
        &world,
        "lead",
        &["message", "send", "--to", "one", "--task", "t1", "The build is broken"],
        0,
    );
    by(&world, "lead", &["message", "send", "--to", "zoe", "x"], 3);
    let kept = by(&world, "one", &["message", "read", "--keep"], 0);
    assert!(
        kept.contains("1 lead (") && kept.contains("), about t1:\n> The build is broken\n"),
        "{kept}"
    );
    let listed = by(&world, "lead", &["message", "list"], 0);
    assert!(listed.contains("> The build is broken\n(not read by one)"), "{listed}");
    assert!(by(&world, "one", &["message", "read"], 0).contains("The build is broken"));
    assert_eq!(
        by(&world, "one", &["message", "read"], 0),
        "PROCEED: There are no new messages\n"
    );
    let listed = by(&world, "lead", &["message", "list", "--member", "one"], 0);
    assert!(!listed.contains("not read by"), "{listed}");
    by(&world, "one", &["message", "send", "--idle", "Nothing to do"], 0);
    let inbox = json(&world, &["message", "read", "--json", "--agent", "lead"], 0);
    assert_eq!(inbox["messages"][0]["type"], "idle");
}

#[test]
fn a_team_is_shown_handed_over_and_ended() {
    let world = team();
    let shown = by(&world, "one", &["team", "show"], 0);
    assert!(
        shown.starts_with("PROCEED: team alpha, led by lead, 0 open tasks\nlead ("),
        "{shown}"
    );
    by(&world, "one", &["team", "hand-over", "one"], 3);
    by(&world, "lead", &["team", "hand-over", "one"], 0);
    let request = json(
        &world,
        &[
            "team",
            "shutdown",
            "request",
            "--reason",
            "It is late",
            "--json",
            "--agent",
            "one",
        ],
        0,
    );
    assert_eq!(request["shutdown_state"], "open");
    by(&world, "lead", &["team", "shutdown", "force", "s1"], 3);
    by(&world, "lead", &["team", "shutdown", "approve", "s1"], 0);
    let listed = json(&world, &["team", "list", "--json"], 0);
    assert!(listed["teams"][0]["closedAt"].is_string(), "{listed}");
    by(&world, "one", &["team", "delete", "alpha"], 0);
    assert_eq!(printed(&world, &["team", "list"], 0), "PROCEED: there are no teams\n");
    let none = run(&world, &["team", "show"]);
    assert!(none.0 == 1 && none.2.contains("there is no team"), "{none:?}");
    // A person leads without an agent.
    printed(&world, &["team", "create", "beta"], 0);
    printed(&world, &["team", "create", "gamma", "--handle", "me"], 0);
    let which = run(&world, &["team", "show"]);
    assert!(
        which.2.contains("Name one of beta, gamma with --team or COORD_TEAM"),
        "{which:?}"
    );
}

#[test]
fn the_files_of_a_task_are_claimed_from_the_working_copy_and_unlocked_where_nothing_was_changed() {
    let world = team();
    by(&world, "two", &["team", "join", "alpha"], 0);
    let add = |title: &str, file: &str| by(&world, "lead", &["task", "add", title, "--file", file], 0);
    add("Pool", "src/db.ts");
    add("Pool again", "src/db.ts");
    add("Read me", "README.md");
    by(&world, "one", &["task", "claim", "t1"], 0);
    let refused = by(&world, "two", &["task", "claim", "t2"], 3);
    assert!(
        refused.starts_with("WAIT: Task t2: File 'src/db.ts' is being written by 'one': ")
            && refused.contains("\nLOCK_CONFLICT\nReady in alpha: t3 of lead ("),
        "{refused}"
    );
    let check = by(&world, "two", &["check", "src/db.ts"], 3);
    assert!(
        check.contains("Ready in alpha: t3 of lead (") && check.contains("): \u{201c}Read me\u{201d}\n"),
        "{check}"
    );
    let next = by(&world, "two", &["task", "next"], 0);
    assert!(
        next.contains("t3 [in_progress, two]") && next.contains("Passed over t2: 'src/db.ts' is locked by "),
        "{next}"
    );
    // Nothing was changed, so that there is nothing to push.
    by(&world, "two", &["task", "release", "t3"], 0);
    // Agent two has worked on something else meanwhile, and waits from now on.
    by(&world, "two", &["task", "claim", "t2"], 3);
    by(&world, "one", &["task", "done", "t1"], 0);
    let locks = |status: &serde_json::Value| status["locks"].as_array().map(Vec::len);
    assert_eq!(locks(&json(&world, &["status", "--json"], 0)), Some(0));
    // It is the turn of the agent that was refused.
    by(&world, "one", &["task", "claim", "t2"], 3);
    by(&world, "two", &["task", "claim", "t2"], 0);
    std::fs::write(world.clone.path().join("src/db.ts"), "export const query = 3;\n").unwrap();
    let kept = by(&world, "two", &["task", "release", "t2"], 0);
    assert!(
        kept.contains("LOCKS_KEPT: You still hold 'src/db.ts' for writing"),
        "{kept}"
    );
    by(&world, "two", &["task", "claim", "t2"], 0);
    by(&world, "two", &["task", "release", "t2", "--abandon"], 0);
    assert_eq!(locks(&json(&world, &["status", "--json"], 0)), Some(0));
    by(&world, "two", &["task", "claim", "t2", "--no-files"], 0);
    assert_eq!(locks(&json(&world, &["status", "--json"], 0)), Some(0));
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
        if !is_json {
            let before = [next(), next()];
            assert!(
                before[0].starts_with("1 lead (") && before[1] == "> Before",
                "{before:?}"
            );
        }
        let text = format!("While it watches {is_json}");
        send(&text);
        if !is_json {
            let author = next();
            assert!(
                author.starts_with("2 lead (") || author.starts_with("3 lead ("),
                "{author}"
            );
        }
        let line = next();
        if is_json {
            let message: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!((&message["message"], &message["from"]), (&text.into(), &"lead".into()));
        } else {
            assert_eq!(line, format!("> {text}"));
        }
        // Its next request says that it has them.
        block_until("they are read", || {
            let listed = by(&world, "lead", &["message", "list"], 0);
            !listed.contains("not read by")
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
    assert!(left.contains("Released: t1"), "{left}");
    by(&world, "one", &["task", "claim", "t1", "--team", "alpha"], 3);
    let shown = by(&world, "lead", &["task", "show", "t1"], 0);
    assert!(shown.contains("one left the team."), "{shown}");
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
