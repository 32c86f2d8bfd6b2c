//! Messages of teams are put before the model, each once; at the end of a turn what waits keeps an agent going.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::looks::context;
use super::{Answer, Session, session};
use crate::mcp::Agent;
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, Form, OPENCODE};
use coord_test_worlds::world::World;

/// Runs `coord ARGS` as the agent `who`, which must do it.
fn does(world: &World, who: &str, args: &[&str]) -> String {
    let mut all = args.to_vec();
    all.extend(["--agent", who]);
    let output = world.run(&all);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// A clone with the team `alpha`, led by `lead`, with the member `ada`.
fn with_team() -> World {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    does(&world, "lead", &["team", "create", "alpha"]);
    does(&world, "ada", &["team", "join", "alpha"]);
    world
}

fn send_to_ada(world: &World, text: &str) {
    does(world, "lead", &["message", "send", "--to", "ada", text]);
}

/// How many messages `ada` has not proved to have.
fn unread(world: &World) -> u64 {
    let shown: Value = serde_json::from_str(&does(world, "lead", &["team", "show", "alpha", "--json"])).unwrap();
    let members = shown["team"]["members"].as_array().unwrap();
    let ada = members.iter().find(|member| member["agentId"] == "ada").unwrap();
    ada["unread"].as_u64().unwrap()
}

/// Where an agent takes text for its model, by its documents: at the start, at a prompt. After a tool, all do.
fn takes(form: &Form) -> (bool, bool) {
    match form.agent {
        "claude-code" | "codex" | "gemini" => (true, true),
        "cursor" | "copilot" => (true, false),
        _ => (false, true),
    }
}

/// Why the answer to the end of a turn keeps the agent going, in its form.
fn kept_going(form: &Form, answer: &Answer) -> Option<String> {
    assert_eq!(answer.status, 0, "{answer:?}");
    let body = &answer.body;
    let reason = match form.agent {
        "claude-code" | "codex" | "copilot" if body["decision"] == "block" => &body["reason"],
        "gemini" if body["decision"] == "deny" => &body["reason"],
        "cursor" => &body["followup_message"],
        "opencode" => &body["goOn"],
        _ => &Value::Null,
    };
    reason.as_str().map(str::to_owned)
}

// rule: hooks#mail
#[test]
fn a_message_is_handed_over_once_wherever_the_agent_takes_text() {
    for form in ALL {
        let world = with_team();
        let ada = session(&world, form, Some("ada"));
        let (at_start, at_prompt) = takes(form);
        let moments: [(&str, bool, &dyn Fn() -> Answer); 3] = [
            ("start", at_start, &|| ada.starts()),
            ("prompt", at_prompt, &|| ada.gets_prompt("Go on with the work")),
            ("tool", true, &|| ada.has_run("ls")),
        ];
        for (moment, is_taken, call) in moments {
            let name = format!("{} {moment}", form.agent);
            send_to_ada(&world, &format!("News at the {moment}"));
            let text = context(form, &call().body);
            // Where the event has no room, the next one that has brings it.
            let text = match is_taken {
                true => text,
                false => {
                    assert_eq!(text, None, "{name}");
                    context(form, &ada.has_run("ls").body)
                }
            };
            let text = text.unwrap_or_else(|| panic!("{name}: nothing"));
            assert!(
                text.contains("from \"lead\" (login ") && text.contains(&format!("\n> News at the {moment}")),
                "{name}: {text}"
            );
            assert_eq!(text.matches("Message ").count(), 1, "{name}: {text}");
            assert_eq!(
                unread(&world),
                1,
                "{name}: what was printed is not proved to have arrived"
            );
            let again = context(form, &ada.has_run("ls").body);
            assert_eq!((again, unread(&world)), (None, 0), "{name}");
        }
    }
}

#[test]
fn a_message_that_could_not_be_printed_is_delivered_again() {
    let world = with_team();
    send_to_ada(&world, "Hello");
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    let (event, call) = (CLAUDE_CODE.prompt)(world.clone.path(), "Go on");
    let mut running = world
        .coord(world.clone.path())
        .env("COORD_AGENT", "ada")
        .args(["hook", "claude-code", event])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(running.stdout.take());
    running
        .stdin
        .take()
        .unwrap()
        .write_all(call.to_string().as_bytes())
        .unwrap();
    running.wait().unwrap();
    let text = context(&CLAUDE_CODE, &ada.has_run("ls").body).expect("it comes again");
    assert!(text.contains("\n> Hello"), "{text}");
}

#[test]
fn hooks_that_run_at_one_time_hand_a_message_over_once() {
    let world = with_team();
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    for round in 0..3 {
        send_to_ada(&world, &format!("Round {round}"));
        let texts: Vec<String> = std::thread::scope(|scope| {
            let calls: Vec<_> = (0..6).map(|_| scope.spawn(|| ada.has_run("ls"))).collect();
            let answers = calls.into_iter().map(|call| call.join().unwrap());
            answers
                .filter_map(|answer| context(&CLAUDE_CODE, &answer.body))
                .collect()
        });
        // Where one that was first noticed nothing, the next call does.
        let last = context(&CLAUDE_CODE, &ada.has_run("ls").body);
        let all = [texts, last.into_iter().collect()].concat().join("\n");
        assert_eq!(all.matches(&format!("> Round {round}")).count(), 1, "{all}");
    }
}

// rule: hooks#mail
#[test]
fn a_hook_repeats_nothing_that_a_command_or_tool_has_shown() {
    let world = with_team();
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    send_to_ada(&world, "By command");
    let printed = does(&world, "ada", &["message", "read"]);
    assert!(printed.contains("By command"), "{printed}");
    assert_eq!(context(&CLAUDE_CODE, &ada.has_run("coord message read").body), None);

    for (groups, tool, arguments) in [
        ("messages", "message_read", json!({})),
        ("opencode", "read-messages", json!({ "teamName": "alpha" })),
        ("opencode", "poll-inbox", json!({ "teamName": "alpha" })),
    ] {
        send_to_ada(&world, "By tool");
        let mut command = world.coord(world.clone.path());
        command.args(["mcp", "--tools", groups]).env("COORD_AGENT", "ada");
        let mut client = Agent::start(command);
        let read = client.call(tool, arguments);
        assert!(read.to_string().contains("By tool"), "{read}");
        // A hook of another tool that ends meanwhile knows nothing of it: twice is better than never.
        let (event, mut call) = (CLAUDE_CODE.after_shell)(world.clone.path(), "");
        call["tool_name"] = json!(format!("mcp__coord__{tool}"));
        call["tool_input"] = json!({});
        assert_eq!(context(&CLAUDE_CODE, &ada.call((event, call)).body), None, "{tool}");
        assert_eq!(
            (context(&CLAUDE_CODE, &ada.has_run("ls").body), unread(&world)),
            (None, 0),
            "{tool}"
        );
    }
}

/// Each line of a message takes a mark, so that one of empty lines had no room, and everything after it waited for ever.
#[test]
fn a_message_of_empty_lines_is_handed_over_with_those_after_it() {
    let world = with_team();
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    send_to_ada(&world, &format!("x{}y", "\n".repeat(4096)));
    send_to_ada(&world, "After it");
    let text = context(&CLAUDE_CODE, &ada.gets_prompt("Go on").body).unwrap();
    assert!(text.contains("more bytes: ") && text.contains("\n> After it"), "{text}");
    ada.has_run("ls");
    assert_eq!(unread(&world), 0);
}

#[test]
fn a_hook_of_many_teams_reads_each_of_them_in_turn() {
    let world = with_team();
    for team in ["beta", "gamma", "delta", "epsilon", "zeta"] {
        does(&world, "lead", &["team", "create", team]);
        does(&world, "ada", &["team", "join", team]);
        let sent = format!("News of {team}");
        does(
            &world,
            "lead",
            &["message", "send", "--team", team, "--to", "ada", &sent],
        );
    }
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    let mut texts = vec![context(&CLAUDE_CODE, &ada.starts().body).unwrap()];
    texts.extend((0..2).filter_map(|_| context(&CLAUDE_CODE, &ada.has_run("ls").body)));
    let all = texts.join("\n");
    for team in ["beta", "gamma", "delta", "epsilon", "zeta"] {
        assert_eq!(all.matches(&format!("> News of {team}")).count(), 1, "{all}");
    }
}

#[test]
fn an_agent_that_takes_a_handle_over_gets_its_unacknowledged_messages() {
    let world = with_team();
    send_to_ada(&world, "Hello");
    let first = session(&world, &CLAUDE_CODE, Some("ada"));
    assert!(
        context(&CLAUDE_CODE, &first.gets_prompt("Go on").body)
            .unwrap()
            .contains("> Hello")
    );
    // It dies. Another one takes its handle over, whose hooks learn from the server that it is in a team.
    let client = super::client(&world, "ada-2");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let request = coord_protocol::teams::JoinTeamRequest {
        caller: coord_protocol::teams::TeamActor {
            repo_url: Some(coord_test_worlds::world::REPO_URL.to_owned()),
            agent_id: Some("ada-2".to_owned()),
        },
        member: coord_protocol::teams::MemberFields {
            handle: Some("ada".to_owned()),
            ..Default::default()
        },
    };
    runtime.block_on(client.join_team("alpha", &request)).unwrap();
    let second = session(&world, &CLAUDE_CODE, Some("ada-2"));
    assert!(
        context(&CLAUDE_CODE, &second.starts().body)
            .unwrap()
            .contains("> Hello")
    );
    let text = context(&CLAUDE_CODE, &first.has_run("ls").body).unwrap();
    assert!(text.starts_with("Coord: SUPERSEDED: "), "{text}");
    assert_eq!(context(&CLAUDE_CODE, &first.has_run("ls").body), None, "once");
}

// rule: hooks#mail-shutdown
#[test]
fn a_shutdown_is_shown_until_it_is_answered() {
    let world = with_team();
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    does(
        &world,
        "lead",
        &[
            "team",
            "shutdown",
            "request",
            "--target",
            "ada",
            "--reason",
            "The day is over",
        ],
    );
    let text_of = |answer: &Answer| context(&CLAUDE_CODE, &answer.body).unwrap_or_default();
    let first = text_of(&ada.has_run("ls"));
    assert!(
        first.contains("SHUTDOWN_REQUESTED: \"lead\" asks you, \"ada\"") && first.contains("\n> The day is over"),
        "{first}"
    );
    assert_eq!(text_of(&ada.has_run("ls")), "");
    assert!(text_of(&ada.gets_prompt("And now?")).contains("SHUTDOWN_REQUESTED"));
    does(
        &world,
        "ada",
        &["team", "shutdown", "reject", "s1", "--reason", "Not yet"],
    );
    assert_eq!(text_of(&ada.gets_prompt("And now?")), "");
}

// rule: hooks#mail-cost
#[test]
fn an_agent_in_no_team_pays_nothing_after_a_tool_and_at_an_edit() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::of(&world);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    ada.starts();
    let requests = fake.paths().into_iter().filter(|path| path == "/api/teams").count();
    assert_eq!(requests, 1, "at the start of the session");
    ada.gets_prompt("Change a.txt");
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    ada.has_edited("a.txt");
    ada.has_run("ls");
    ada.ends_turn();
    let paths = fake.paths();
    let about_teams = ["/api/teams", "/api/tasks", "/api/messages/read"];
    assert!(
        !paths.iter().any(|path| about_teams.contains(&path.as_str())),
        "{paths:?}"
    );
}

#[test]
fn the_response_to_a_claim_makes_a_hook_read_its_team() {
    let world = with_team();
    // The session knows nothing of a team, as where another program has joined for it.
    let sessions = world.sessions();
    for file in std::fs::read_dir(&sessions).unwrap().flatten() {
        if file.file_name().to_string_lossy().ends_with(".mail") {
            std::fs::write(file.path(), r#"{"teams":{}}"#).unwrap();
        }
    }
    send_to_ada(&world, "Hello");
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    assert_eq!(context(&CLAUDE_CODE, &ada.has_run("ls").body), None);
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    assert!(
        context(&CLAUDE_CODE, &ada.has_edited("a.txt").body)
            .unwrap()
            .contains("> Hello")
    );
}

// rule: hooks#keep-going
#[test]
fn a_ready_task_or_a_message_keeps_an_agent_going_and_never_twice_in_a_row() {
    for form in ALL {
        let world = with_team();
        let ada = session(&world, form, Some("ada"));
        let name = form.agent;
        does(&world, "lead", &["task", "add", "Mend the pool"]);
        assert_eq!(kept_going(form, &ada.ends_turn()), None, "{name}: nobody wishes it");
        world.clone.git(&["config", "coord.keepGoing", "true"]);
        let reason = kept_going(form, &ada.ends_turn()).unwrap_or_else(|| panic!("{name}: not kept going"));
        assert!(
            reason.contains("task t1 of team \"alpha\" is ready") && reason.contains("\n> Mend the pool"),
            "{name}: {reason}"
        );
        assert_eq!(kept_going(form, &ada.ends_turn()), None, "{name}: twice in a row");
        // A message waits, and is handed over with that.
        does(&world, "ada", &["task", "claim", "t1"]);
        assert_eq!(kept_going(form, &ada.ends_turn()), None, "{name}: no task is ready");
        send_to_ada(&world, "One more thing");
        let reason = kept_going(form, &ada.ends_turn()).unwrap();
        assert!(reason.contains("\n> One more thing"), "{name}: {reason}");
        assert_eq!(kept_going(form, &ada.ends_turn()), None, "{name}: twice in a row");
        assert_eq!(
            (kept_going(form, &ada.ends_turn()), unread(&world)),
            (None, 0),
            "{name}: it was handed over"
        );
    }
}

#[test]
fn no_agent_is_kept_going_for_a_task_it_cannot_claim() {
    let world = with_team();
    world.clone.git(&["config", "coord.keepGoing", "true"]);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    does(&world, "lead", &["task", "add", "Mend the pool"]);
    // The agent says that a hook has begun this turn.
    let continued = |ada: &Session<'_>| {
        let (event, mut call) = (CLAUDE_CODE.turn_end)(world.clone.path());
        call["stop_hook_active"] = json!(true);
        kept_going(&CLAUDE_CODE, &ada.call((event, call)))
    };
    assert_eq!(continued(&ada), None);
    // The task is kept for another one.
    does(&world, "lead", &["task", "assign", "t1", "lead"]);
    assert_eq!(kept_going(&CLAUDE_CODE, &ada.ends_turn()), None);
    does(&world, "lead", &["task", "add", "Mend the roof"]);
    assert!(kept_going(&CLAUDE_CODE, &ada.ends_turn()).unwrap().contains("task t2"));
    ada.ends_turn();
    does(&world, "lead", &["task", "claim", "t2"]);
    // Another agent holds its file.
    does(&world, "lead", &["claim", "b.txt", "--message", "Change b"]);
    does(&world, "lead", &["task", "add", "Mend b", "--file", "b.txt"]);
    assert_eq!(kept_going(&CLAUDE_CODE, &ada.ends_turn()), None);
    does(&world, "lead", &["task", "add", "Mend a", "--file", "a.txt"]);
    assert!(kept_going(&CLAUDE_CODE, &ada.ends_turn()).unwrap().contains("task t4"));
    ada.ends_turn();
    // It has stopped for good.
    does(&world, "lead", &["team", "shutdown", "request", "--target", "ada"]);
    ada.has_run("ls");
    does(&world, "ada", &["team", "shutdown", "approve", "s1"]);
    assert_eq!(kept_going(&CLAUDE_CODE, &ada.ends_turn()), None);
}

#[test]
fn the_option_does_what_the_setting_does() {
    let world = with_team();
    does(&world, "lead", &["task", "add", "Mend the pool"]);
    let (event, call) = (OPENCODE.turn_end)(world.clone.path());
    let args = ["opencode", event, "--keep-going"];
    let answer = super::hook(&world, world.clone.path(), Some("ada"), &args, &call.to_string());
    assert!(kept_going(&OPENCODE, &answer).unwrap().contains("t1"));
}
