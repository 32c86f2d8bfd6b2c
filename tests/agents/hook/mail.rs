//! Messages of teams are put before the model, each once; at the end of a turn what waits keeps an agent going.

use std::io::Write;
use std::process::Stdio;

use coord_protocol::teams::{JoinTeamRequest, MemberFields, TeamActor};
use serde_json::{Value, json};

use super::looks::takes;
use super::{Answer, Session, claude, session};
use crate::commands::printed;
use crate::mcp::Agent;
use crate::texts::assert_has;
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, OPENCODE};
use coord_test_worlds::world::{REPO_URL, World};

/// Runs `coord ARGS` as the agent `who`, which must do it.
fn does(world: &World, who: &str, args: &[&str]) -> String {
    printed(world, &[args, &["--agent", who]].concat(), 0)
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

impl Session<'_> {
    /// Runs a command; returns the text for the model after it.
    fn text_after_tool(&self) -> Option<String> {
        self.text(&self.has_run("ls"))
    }

    /// Gets a prompt; returns the text for the model beside it, or nothing.
    fn text_at_prompt(&self) -> String {
        self.text(&self.gets_prompt("Go on with the work")).unwrap_or_default()
    }

    /// Ends its turn; returns the reason for which it has to go on.
    fn reason_to_go_on(&self) -> Option<String> {
        self.kept_going(&self.ends_turn())
    }

    /// Why the answer to the end of a turn keeps the agent going, in its form.
    fn kept_going(&self, answer: &Answer) -> Option<String> {
        assert_eq!(answer.status, 0, "{answer:?}");
        let body = &answer.body;
        let reason = match self.form.agent {
            "claude-code" | "codex" | "copilot" if body["decision"] == "block" => &body["reason"],
            "gemini" if body["decision"] == "deny" => &body["reason"],
            "cursor" => &body["followup_message"],
            "opencode" => &body["goOn"],
            _ => &Value::Null,
        };
        reason.as_str().map(str::to_owned)
    }
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
            let mut text = ada.text(&call());
            if !is_taken {
                // This event cannot carry text, so the message comes with the next event that can.
                assert_eq!(text, None, "{name}");
                text = ada.text_after_tool();
            }
            let text = text.unwrap_or_else(|| panic!("{name}: nothing"));
            assert_has(&text, &["from \"lead\" (login ", &format!("\n> News at the {moment}")]);
            assert_eq!(text.matches("Message ").count(), 1, "{name}: {text}");
            let unproved = "what was printed is not proved to have arrived";
            assert_eq!(unread(&world), 1, "{name}: {unproved}");
            assert_eq!((ada.text_after_tool(), unread(&world)), (None, 0), "{name}");
        }
    }
}

#[test]
fn a_message_that_could_not_be_printed_is_delivered_again() {
    let world = with_team();
    send_to_ada(&world, "Hello");
    let (event, call) = (CLAUDE_CODE.prompt)(world.clone.path(), "Go on");
    let mut command = world.coord(world.clone.path());
    command.env("COORD_AGENT", "ada").args(["hook", "claude-code", event]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = pipes.stderr(Stdio::null()).spawn().unwrap();
    drop(running.stdout.take());
    let mut input = running.stdin.take().unwrap();
    input.write_all(call.to_string().as_bytes()).unwrap();
    drop(input);
    running.wait().unwrap();
    let text = claude(&world, "ada").text_after_tool().expect("it comes again");
    assert_has(&text, &["\n> Hello"]);
}

#[test]
fn hooks_that_run_at_one_time_hand_a_message_over_once() {
    let world = with_team();
    let ada = claude(&world, "ada");
    for round in 0..3 {
        send_to_ada(&world, &format!("Round {round}"));
        let mut texts: Vec<String> = std::thread::scope(|scope| {
            let calls: Vec<_> = (0..6).map(|_| scope.spawn(|| ada.text_after_tool())).collect();
            calls.into_iter().filter_map(|call| call.join().unwrap()).collect()
        });
        // Where one that was first noticed nothing, the next call does.
        texts.extend(ada.text_after_tool());
        let all = texts.join("\n");
        assert_eq!(all.matches(&format!("> Round {round}")).count(), 1, "{all}");
    }
}

// rule: hooks#mail
#[test]
fn a_hook_repeats_nothing_that_a_command_or_tool_has_shown() {
    let world = with_team();
    let ada = claude(&world, "ada");
    send_to_ada(&world, "By command");
    assert_has(&does(&world, "ada", &["message", "read"]), &["By command"]);
    assert_eq!(ada.text(&ada.has_run("coord message read")), None);

    for (groups, tool, arguments) in [
        ("messages", "message_read", json!({})),
        ("opencode", "read-messages", json!({ "teamName": "alpha" })),
        ("opencode", "poll-inbox", json!({ "teamName": "alpha" })),
    ] {
        send_to_ada(&world, "By tool");
        let mut command = world.coord(world.clone.path());
        command.args(["mcp", "--tools", groups]).env("COORD_AGENT", "ada");
        let mut client = Agent::start(command);
        assert_has(&client.call(tool, arguments).to_string(), &["By tool"]);
        // A hook of another tool that ends meanwhile knows nothing of it: twice is better than never.
        let (event, mut call) = (CLAUDE_CODE.after_shell)(world.clone.path(), "");
        call["tool_name"] = json!(format!("mcp__coord__{tool}"));
        call["tool_input"] = json!({});
        assert_eq!(ada.text(&ada.call((event, call))), None, "{tool}");
        assert_eq!((ada.text_after_tool(), unread(&world)), (None, 0), "{tool}");
    }
}

/// Each line of a message takes a mark, so that one of empty lines had no room, and everything after it waited for ever.
#[test]
fn a_message_of_empty_lines_is_handed_over_with_those_after_it() {
    let world = with_team();
    let ada = claude(&world, "ada");
    send_to_ada(&world, &format!("x{}y", "\n".repeat(4096)));
    send_to_ada(&world, "After it");
    assert_has(&ada.text_at_prompt(), &["more bytes: ", "\n> After it"]);
    ada.has_run("ls");
    assert_eq!(unread(&world), 0);
}

#[test]
fn a_hook_of_many_teams_reads_each_of_them_in_turn() {
    let teams = ["beta", "gamma", "delta", "epsilon", "zeta"];
    let world = with_team();
    for team in teams {
        does(&world, "lead", &["team", "create", team]);
        does(&world, "ada", &["team", "join", team]);
        let news = format!("News of {team}");
        let send = ["message", "send", "--team", team, "--to", "ada", &news];
        does(&world, "lead", &send);
    }
    let ada = claude(&world, "ada");
    let mut texts = vec![ada.text(&ada.starts()).unwrap()];
    texts.extend((0..2).filter_map(|_| ada.text_after_tool()));
    let all = texts.join("\n");
    for team in teams {
        assert_eq!(all.matches(&format!("> News of {team}")).count(), 1, "{all}");
    }
}

#[test]
fn an_agent_that_takes_a_handle_over_gets_its_unacknowledged_messages() {
    let world = with_team();
    send_to_ada(&world, "Hello");
    let first = claude(&world, "ada");
    assert_has(&first.text_at_prompt(), &["> Hello"]);
    // It dies. Another one takes its handle over, whose hooks learn from the server that it is in a team.
    let request = JoinTeamRequest {
        caller: TeamActor {
            repo_url: Some(REPO_URL.to_owned()),
            agent_id: Some("ada-2".to_owned()),
        },
        member: MemberFields {
            handle: Some("ada".to_owned()),
            ..Default::default()
        },
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = super::client(&world, "ada-2");
    runtime.block_on(client.join_team("alpha", &request)).unwrap();
    let second = claude(&world, "ada-2");
    assert_has(&second.text(&second.starts()).unwrap(), &["> Hello"]);
    let text = first.text_after_tool().unwrap();
    assert!(text.starts_with("Coord: SUPERSEDED: "), "{text}");
    assert_eq!(first.text_after_tool(), None, "once");
}

// rule: hooks#mail-shutdown
#[test]
fn a_shutdown_is_shown_until_it_is_answered() {
    let world = with_team();
    let ada = claude(&world, "ada");
    let shutdown = |who: &str, args: &[&str]| does(&world, who, &[&["team", "shutdown"], args].concat());
    shutdown("lead", &["request", "--target", "ada", "--reason", "The day is over"]);
    let first = ada.text_after_tool().unwrap();
    let request = "SHUTDOWN_REQUESTED: \"lead\" asks you, \"ada\"";
    assert_has(&first, &[request, "\n> The day is over"]);
    assert_eq!(ada.text_after_tool(), None);
    assert_has(&ada.text_at_prompt(), &["SHUTDOWN_REQUESTED"]);
    shutdown("ada", &["reject", "s1", "--reason", "Not yet"]);
    assert_eq!(ada.text_at_prompt(), "");
}

// rule: hooks#mail-cost
#[test]
fn an_agent_in_no_team_pays_nothing_after_a_tool_and_at_an_edit() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::of(&world);
    let ada = claude(&world, "ada");
    ada.starts();
    let requests = fake.paths().into_iter().filter(|path| path == "/api/teams").count();
    assert_eq!(requests, 1, "at the start of the session");
    ada.gets_prompt("Change a.txt");
    ada.may_edit("a.txt");
    ada.has_edited("a.txt");
    ada.has_run("ls");
    ada.ends_turn();
    let paths = fake.paths();
    for path in ["/api/teams", "/api/tasks", "/api/messages/read"] {
        assert!(!paths.iter().any(|asked| asked == path), "{paths:?}");
    }
}

#[test]
fn the_response_to_a_claim_makes_a_hook_read_its_team() {
    let world = with_team();
    // The session knows nothing of a team, as where another program has joined for it.
    for file in std::fs::read_dir(world.sessions()).unwrap().flatten() {
        if file.file_name().to_string_lossy().ends_with(".mail") {
            std::fs::write(file.path(), r#"{"teams":{}}"#).unwrap();
        }
    }
    send_to_ada(&world, "Hello");
    let ada = claude(&world, "ada");
    assert_eq!(ada.text_after_tool(), None);
    ada.may_edit("a.txt");
    assert_has(&ada.text(&ada.has_edited("a.txt")).unwrap(), &["> Hello"]);
}

// rule: hooks#keep-going
#[test]
fn a_ready_task_or_a_message_keeps_an_agent_going_and_never_twice_in_a_row() {
    for form in ALL {
        let world = with_team();
        let ada = session(&world, form, Some("ada"));
        let name = form.agent;
        does(&world, "lead", &["task", "add", "Mend the pool"]);
        assert_eq!(ada.reason_to_go_on(), None, "{name}: nobody wishes it");
        world.clone.git(&["config", "coord.keepGoing", "true"]);
        let reason = ada.reason_to_go_on().expect(name);
        assert_has(&reason, &["task t1 of team \"alpha\" is ready", "\n> Mend the pool"]);
        assert_eq!(ada.reason_to_go_on(), None, "{name}: twice in a row");
        // A message waits, and is handed over with that.
        does(&world, "ada", &["task", "claim", "t1"]);
        assert_eq!(ada.reason_to_go_on(), None, "{name}: no task is ready");
        send_to_ada(&world, "One more thing");
        let reason = ada.reason_to_go_on().expect(name);
        assert_has(&reason, &["\n> One more thing"]);
        assert_eq!(ada.reason_to_go_on(), None, "{name}: twice in a row");
        let outcome = (ada.reason_to_go_on(), unread(&world));
        assert_eq!(outcome, (None, 0), "{name}: it was handed over");
    }
}

#[test]
fn no_agent_is_kept_going_for_a_task_it_cannot_claim() {
    let world = with_team();
    world.clone.git(&["config", "coord.keepGoing", "true"]);
    let ada = claude(&world, "ada");
    let lead = |args: &[&str]| does(&world, "lead", args);
    lead(&["task", "add", "Mend the pool"]);
    // The agent says that a hook has begun this turn.
    let (event, mut call) = (CLAUDE_CODE.turn_end)(world.clone.path());
    call["stop_hook_active"] = json!(true);
    assert_eq!(ada.kept_going(&ada.call((event, call))), None);
    // The task is kept for another one.
    lead(&["task", "assign", "t1", "lead"]);
    assert_eq!(ada.reason_to_go_on(), None);
    lead(&["task", "add", "Mend the roof"]);
    assert_has(&ada.reason_to_go_on().unwrap(), &["task t2"]);
    ada.ends_turn();
    lead(&["task", "claim", "t2"]);
    // Another agent holds its file.
    lead(&["claim", "b.txt", "--message", "Change b"]);
    lead(&["task", "add", "Mend b", "--file", "b.txt"]);
    assert_eq!(ada.reason_to_go_on(), None);
    lead(&["task", "add", "Mend a", "--file", "a.txt"]);
    assert_has(&ada.reason_to_go_on().unwrap(), &["task t4"]);
    ada.ends_turn();
    // It has stopped for good.
    lead(&["team", "shutdown", "request", "--target", "ada"]);
    ada.has_run("ls");
    does(&world, "ada", &["team", "shutdown", "approve", "s1"]);
    assert_eq!(ada.reason_to_go_on(), None);
}

#[test]
fn the_option_does_what_the_setting_does() {
    let world = with_team();
    does(&world, "lead", &["task", "add", "Mend the pool"]);
    let ada = session(&world, &OPENCODE, Some("ada"));
    let answer = ada.call_with((OPENCODE.turn_end)(ada.folder), &["--keep-going"]);
    assert_has(&ada.kept_going(&answer).unwrap(), &["t1"]);
}
