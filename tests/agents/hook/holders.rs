//! The holder is the conversation of the input, whatever processes are between the agent and the hook, and below it the
//! writer.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Answer, held, held_files, hook, locks};
use crate::mcp::{action, agent as mcp_agent};
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX, COPILOT, Form, GEMINI, OPENCODE};
use coord_test_worlds::world::World;

/// The fields that name the conversation, of each agent.
const CONVERSATION: [&str; 4] = ["session_id", "conversation_id", "sessionId", "sessionID"];

/// A conversation in the clone, in the form of an agent.
struct Conversation<'a> {
    world: &'a World,
    form: &'a Form,
    name: &'a str,
    /// The writer within it.
    writer: Option<&'a str>,
}

fn conversation<'a>(world: &'a World, form: &'a Form, name: &'a str) -> Conversation<'a> {
    Conversation {
        world,
        form,
        name,
        writer: None,
    }
}

impl Conversation<'_> {
    fn input(&self, mut call: Value) -> String {
        for field in CONVERSATION {
            if call.get(field).is_some() {
                call[field] = json!(self.name);
            }
        }
        if let Some(writer) = self.writer {
            call["agent_id"] = json!(writer);
        }
        call.to_string()
    }

    fn call(&self, (event, call): (&str, Value)) -> Answer {
        let args = [self.form.agent, event];
        hook(self.world, self.world.clone.path(), None, &args, &self.input(call))
    }

    /// Why an edit of `file` is denied.
    fn edits(&self, file: &str) -> Option<String> {
        let folder = self.world.clone.path();
        (self.form.denial)(&self.call((self.form.edit)(folder, &folder.join(file))))
    }

    fn starts(&self) -> Answer {
        self.call((self.form.start)(self.world.clone.path()))
    }

    fn ends(&self) -> Answer {
        self.call((self.form.end)(self.world.clone.path()))
    }

    /// The turn ends, with more fields.
    fn stops(&self, event: &str, more: &Value) -> Answer {
        let (_, mut call) = (self.form.turn_end)(self.world.clone.path());
        call["hook_event_name"] = json!(event);
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let args = [self.form.agent, event];
        hook(self.world, self.world.clone.path(), None, &args, &self.input(call))
    }
}

/// A program between the agent and the hook, which lives for one call, and whose command line does not show what it starts.
fn edits_behind_a_launcher(who: &Conversation<'_>, file: &str) -> Option<String> {
    let folder = who.world.clone.path();
    let (event, call) = (who.form.edit)(folder, &folder.join(file));
    let coord = who.world.coord(folder);
    let program = coord.get_program().to_owned();
    let mut awk = Command::new("awk");
    awk.arg("BEGIN { exit system(ENVIRON[\"RUN\"]) }").current_dir(folder);
    for (name, value) in coord.get_envs() {
        match value {
            Some(value) => awk.env(name, value),
            None => awk.env_remove(name),
        };
    }
    let run = format!("'{}' hook {} {event}", program.display(), who.form.agent);
    let pipes = awk.env("RUN", run).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let input = who.input(call);
    running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    (who.form.denial)(&Answer::of(&running.wait_with_output().unwrap()))
}

/// An agent's second edit was denied by its first, because each call had another process above it.
// rule: holders#launchers
#[test]
fn behind_a_launcher_all_calls_and_the_mcp_server_are_one_holder() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = conversation(&world, &CLAUDE_CODE, "one");
    assert_eq!(edits_behind_a_launcher(&ada, "a.txt"), None);
    assert_eq!(edits_behind_a_launcher(&ada, "a.txt"), None);
    assert_eq!(ada.edits("a.txt"), None);
    let mut mcp = mcp_agent(&world);
    assert_eq!(action(&mcp.claim(&["a.txt"])), "PROCEED");
    let bob = conversation(&world, &CLAUDE_CODE, "two");
    assert!(bob.edits("a.txt").unwrap().starts_with("WAIT: "));
}

/// Several conversations in one process were one holder, and both wrote.
#[test]
fn conversations_of_one_process_exclude_each_other() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let (one, two) = (conversation(&world, form, "one"), conversation(&world, form, "two"));
        assert_eq!(one.edits("a.txt"), None, "{}", form.agent);
        assert!(two.edits("a.txt").is_some(), "{}", form.agent);
        assert_eq!(two.edits("b.txt"), None, "{}", form.agent);
        assert_eq!(one.edits("a.txt"), None, "{}", form.agent);
    }
}

/// A conversation that was resumed was locked out by its former process.
#[test]
fn a_conversation_that_is_resumed_in_another_process_has_its_files() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let ada = conversation(&world, form, "one");
        assert_eq!(edits_behind_a_launcher(&ada, "a.txt"), None, "{}", form.agent);
        std::fs::write(world.clone.path().join("a.txt"), "changed").unwrap();
        ada.ends();
        assert_eq!(held_files(&world), ["a.txt"], "{}: it is not pushed", form.agent);
        ada.starts();
        assert_eq!(ada.edits("a.txt"), None, "{}", form.agent);
        let bob = conversation(&world, form, "two");
        assert!(bob.edits("a.txt").is_some(), "{}", form.agent);
    }
}

/// Cursor and Copilot CLI run the hooks of Claude Code besides their own.
// rule: holders#two-forms
#[test]
fn the_hooks_of_two_forms_are_one_holder_of_one_conversation() {
    for first in ["cursor", "copilot", "claude-code"] {
        let form = |name: &str| ALL.into_iter().find(|form| form.agent == name).unwrap();
        let second = if first == "claude-code" {
            "cursor"
        } else {
            "claude-code"
        };
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        for (name, file) in [("one", "a.txt"), ("two", "b.txt")] {
            for agent in [first, second] {
                assert_eq!(
                    conversation(&world, form(agent), name).edits(file),
                    None,
                    "{agent} {name}"
                );
            }
        }
        for agent in [first, second] {
            assert!(
                conversation(&world, form(agent), "two").edits("a.txt").is_some(),
                "{agent}"
            );
        }
    }
}

fn writer<'a>(lead: &Conversation<'a>, writer: &'a str) -> Conversation<'a> {
    Conversation {
        writer: Some(writer),
        ..conversation(lead.world, lead.form, lead.name)
    }
}

/// Subagents in one process were one holder, and both wrote.
// rule: holders#writer-takes-over
// rule: holders#writers-exclude
#[test]
fn subagents_exclude_each_other_and_take_over_what_their_lead_holds() {
    for form in [&CLAUDE_CODE, &CODEX] {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let lead = conversation(&world, form, "one");
        let (one, two) = (writer(&lead, "a1"), writer(&lead, "ann@alpha"));
        assert_eq!(lead.edits("a.txt"), None);
        let token = locks(&world)[0].clone();
        let lead_id = token.agent_id.unwrap();
        assert_eq!(one.edits("a.txt"), None, "{}", form.agent);
        assert_eq!(held(&world), [format!("a.txt {lead_id}::a1")], "{}", form.agent);
        for other in [&lead, &two] {
            let denial = other.edits("a.txt").unwrap();
            assert!(denial.contains(&format!("{lead_id}::a1")), "{denial}");
        }
        assert_eq!(two.edits("b.txt"), None);
        // The lead is told once.
        let context = lead.call((form.prompt)(world.clone.path(), "Go on")).body.to_string();
        assert!(
            context.contains("TAKEN_OVER: ") && context.contains("a.txt"),
            "{context}"
        );
        let context = lead.call((form.prompt)(world.clone.path(), "Go on")).body.to_string();
        assert!(!context.contains("TAKEN_OVER: "), "{context}");

        // Its end gives the lead back what was the lead's, and what is not pushed; the rest is released.
        std::fs::write(world.clone.path().join("b.txt"), "changed").unwrap();
        one.stops("SubagentStop", &json!({}));
        assert_eq!(lead.edits("a.txt"), None, "{}", form.agent);
        two.stops("SubagentStop", &json!({}));
        assert_eq!(held(&world), [format!("a.txt {lead_id}"), format!("b.txt {lead_id}")]);
        let context = lead.call((form.prompt)(world.clone.path(), "Go on")).body.to_string();
        assert!(
            context.contains("GIVEN_BACK: ") && context.contains("b.txt"),
            "{context}"
        );
    }
}

// rule: holders#writer-ends
#[test]
fn an_unchanged_file_of_a_subagent_is_released_at_its_end() {
    let world = World::with(&[("a.txt", "a")]);
    let lead = conversation(&world, &CLAUDE_CODE, "one");
    let one = writer(&lead, "a1");
    assert_eq!(one.edits("a.txt"), None);
    // The end of the lead's turn is not that of its subagent.
    lead.stops("Stop", &json!({}));
    assert_eq!(held_files(&world), ["a.txt"]);
    one.stops("SubagentStop", &json!({}));
    assert_eq!(held_files(&world), [""; 0]);
}

// rule: holders#session-end
#[test]
fn a_turn_that_ends_with_work_in_the_background_releases_nothing_unchanged() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = conversation(&world, &CLAUDE_CODE, "one");
    assert_eq!(ada.edits("a.txt"), None);
    let task = json!({ "id": "b1", "type": "shell", "status": "running", "description": "npm test" });
    ada.stops("Stop", &json!({ "background_tasks": [task] }));
    assert_eq!(held_files(&world), ["a.txt"]);
    ada.stops("Stop", &json!({ "background_tasks": [] }));
    assert_eq!(held_files(&world), [""; 0]);
}

/// Later agents waited for a session that had ended.
// rule: holders#session-end
#[test]
fn a_session_that_ends_waits_for_nothing() {
    let world = World::with(&[("a.txt", "a")]);
    let holder = conversation(&world, &CLAUDE_CODE, "one");
    let (ada, bob) = (
        conversation(&world, &CLAUDE_CODE, "two"),
        conversation(&world, &CLAUDE_CODE, "three"),
    );
    assert_eq!(holder.edits("a.txt"), None);
    assert!(!ada.edits("a.txt").unwrap().contains(" in the queue"));
    assert!(bob.edits("a.txt").unwrap().contains("number 2 in the queue"));
    ada.ends();
    holder.ends();
    assert_eq!(bob.edits("a.txt"), None);
}

// rule: holders#writer-intent
#[test]
fn a_subagent_cites_the_intent_that_its_session_has_selected() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let lead = conversation(&world, &CLAUDE_CODE, "one");
    lead.starts();
    assert_eq!(writer(&lead, "a1").edits("a.txt"), None);
    let claims = fake.requests_to("/api/post_status");
    let claim = claims.last().unwrap();
    assert!(claim["agent_id"].as_str().unwrap().ends_with("::a1"), "{claim}");
    assert_eq!(claim["intent_id"], "REQ-1", "{claim}");
}

#[test]
fn a_denial_names_holder_reason_expiry_and_next_step_in_thirty_words() {
    let world = World::with(&[
        ("src/db.ts", "export const a = 1;\n"),
        ("src/page.ts", "import './db';\n"),
        ("b.txt", "b"),
    ]);
    let holder = conversation(&world, &CLAUDE_CODE, "one");
    let ada = conversation(&world, &CLAUDE_CODE, "two");
    holder.call((holder.form.prompt)(
        world.clone.path(),
        "Make the pool of connections grow and shrink with the load of the day",
    ));
    assert_eq!(holder.edits("src/db.ts"), None);
    let denial = ada.edits("src/db.ts").unwrap();
    let (reason, next) = denial.split_once(". Next: ").unwrap();
    assert!(
        reason.starts_with("WAIT: File 'src/db.ts' is being written by 'claude-code-")
            && reason.contains(": “Make the pool of connections grow…”; its lock expires in "),
        "{denial}"
    );
    assert!(
        next.starts_with("`coord wait src/db.ts` in the background; "),
        "{denial}"
    );
    assert!(denial.split_whitespace().count() <= 30, "{denial}");
    // A neighbor, which is blocked since nothing says that the interface of either stays.
    let denial = ada.edits("src/page.ts").unwrap();
    assert!(
        denial.starts_with("WAIT: 'src/page.ts' imports 'src/db.ts', being written by 'claude-code-"),
        "{denial}"
    );
    let (refusal, changes) = denial.split_once(" Your edit changes ").unwrap();
    assert!(refusal.split_whitespace().count() <= 30, "{denial}");
    assert!(changes.ends_with(" one that keeps it is granted."), "{denial}");
}

/// `arguments` of a tool of Claude Code as the hook has changed them.
fn rewritten(who: &Conversation<'_>, tool: &str, arguments: &Value) -> Value {
    let (event, mut call) = (who.form.shell)(who.world.clone.path(), "x");
    call["tool_name"] = json!(tool);
    call["tool_input"] = arguments.clone();
    let answer = who.call((event, call));
    assert_eq!((who.form.denial)(&answer), None, "{answer:?}");
    answer.body["hookSpecificOutput"]["updatedInput"].clone()
}

// rule: holders#handed-down
// rule: hooks#allow
#[test]
fn commands_and_tools_of_coord_get_the_agent_id_that_the_process_cannot_show() {
    for form in [&CLAUDE_CODE, &CODEX] {
        let world = World::with(&[("a.txt", "a")]);
        let lead = conversation(&world, form, "one");
        let claim = json!({ "command": "coord claim a.txt --message 'Changing the pool'" });
        let post = json!({ "file_paths": ["a.txt"], "status": "WRITING", "message": "Changing the pool" });
        // One conversation: the process tells.
        assert_eq!(rewritten(&lead, "Bash", &claim), Value::Null);
        assert_eq!(rewritten(&lead, "mcp__coord__post_status", &post), Value::Null);
        let one = writer(&lead, "a1");
        let input = rewritten(&one, "mcp__coord__post_status", &post);
        let id = input["agent_id"].as_str().unwrap();
        assert!(
            id.ends_with("::a1") && input["file_paths"] == post["file_paths"],
            "{input}"
        );
        let input = rewritten(&one, "Bash", &claim);
        let command = input["command"].as_str().unwrap();
        let claimed = world
            .coord(world.clone.path())
            .arg("--version")
            .get_program()
            .to_owned();
        let path = std::path::Path::new(&claimed).parent().unwrap().display().to_string();
        let path = format!("{path}:{}", std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        for (name, value) in world.coord(world.clone.path()).get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let output = shell
            .args(["-c", command])
            .env("PATH", path)
            .current_dir(world.clone.path())
            .output();
        assert!(output.unwrap().status.success());
        assert_eq!(held(&world), [format!("a.txt {id}")]);
        assert_eq!(rewritten(&one, "Bash", &json!({ "command": "ls" })), Value::Null);
        // Another conversation of the process.
        let two = conversation(&world, form, "two");
        two.starts();
        let input = rewritten(&two, "mcp__coord__post_status", &post);
        assert!(!input["agent_id"].as_str().unwrap().contains("::"), "{input}");
    }
}

/// An agent was refused its own files by the tools of a server over HTTP, which took it for an agent without an id.
// rule: holders#handed-down
#[test]
fn a_call_over_http_has_the_id_of_the_conversation_where_the_agent_takes_arguments_from_hooks() {
    let taken = [
        (
            &CLAUDE_CODE,
            "mcp__coord__post_status",
            "/hookSpecificOutput/updatedInput",
        ),
        (&CODEX, "mcp__coord__post_status", "/hookSpecificOutput/updatedInput"),
        (&GEMINI, "mcp_coord_post_status", "/hookSpecificOutput/tool_input"),
        (&COPILOT, "coord-post_status", "/modifiedArgs"),
        (&OPENCODE, "coord_post_status", "/args"),
    ];
    for (form, tool, place) in taken {
        let world = World::with(&[("a.txt", "a")]);
        let ada = conversation(&world, form, "one");
        assert_eq!(ada.edits("a.txt"), None);
        let holder = held(&world)[0].replace("a.txt ", "");
        let call_tool = |more: Value| {
            let (event, mut call) = (form.shell)(world.clone.path(), "x");
            for name in ["tool_name", "toolName", "tool"] {
                if call.get(name).is_some() {
                    call[name] = json!(tool);
                }
            }
            let mut arguments = json!({ "file_paths": ["a.txt"], "status": "WRITING", "message": "Changing the pool" });
            arguments
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            for name in ["tool_input", "toolArgs", "args"] {
                if call.get(name).is_some() {
                    call[name] = arguments.clone();
                }
            }
            let answer = ada.call((event, call));
            assert_eq!((form.denial)(&answer), None, "{answer:?}");
            (arguments, answer.body.pointer(place).cloned().unwrap_or_default())
        };
        let (mut arguments, rewritten) =
            call_tool(json!({ "repo_url": "https://github.com/acme/shop", "branch": "main" }));
        arguments["agent_id"] = json!(holder);
        assert_eq!(rewritten, arguments, "{}", form.agent);
        // Fields that the model sets itself stay, and `coord mcp` needs none of them.
        assert_eq!(
            call_tool(json!({ "repo_url": "https://github.com/acme/shop", "agent_id": "ada" })).1,
            Value::Null
        );
        assert_eq!(call_tool(json!({})).1, Value::Null);
    }
}

/// A server for the tools of a process with two conversations let each in where the other wrote.
// rule: holders#session-unknown
#[test]
fn an_mcp_server_of_two_conversations_gets_wait_and_session_unknown() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let (one, two) = (conversation(&world, &CODEX, "one"), conversation(&world, &CODEX, "two"));
    assert_eq!(one.edits("a.txt"), None);
    assert_eq!(two.edits("b.txt"), None);
    let mut mcp = mcp_agent(&world);
    for file in ["a.txt", "b.txt"] {
        let answer = mcp.claim(&[file]);
        assert_eq!(action(&answer), "WAIT", "{answer}");
        let unknown = crate::mcp::warnings(&answer, "SESSION_UNKNOWN");
        assert_eq!(unknown.len(), 1, "{answer}");
    }
}
