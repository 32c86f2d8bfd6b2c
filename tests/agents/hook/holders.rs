//! The holder is the conversation of the input, whatever processes are between the agent and the hook, and below it the
//! writer.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, held, held_files, hook, locks, write};
use crate::mcp::{action, agent as mcp_agent, warnings};
use crate::processes::{assert_success, output_with, program_like};
use crate::texts::assert_has;
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
        hook(self.world, self.folder(), None, &args, &self.input(call))
    }

    fn folder(&self) -> &Path {
        self.world.clone.path()
    }

    /// Why an edit of `file` is denied.
    fn edits(&self, file: &str) -> Option<String> {
        (self.form.denial)(&self.call((self.form.edit)(self.folder(), &self.folder().join(file))))
    }

    #[track_caller]
    fn may_edit(&self, file: &str) {
        assert_eq!(self.edits(file), None, "{} {}: {file}", self.form.agent, self.name);
    }

    /// Returns why an edit of `file` is denied.
    #[track_caller]
    fn may_not_edit(&self, file: &str) -> String {
        match self.edits(file) {
            Some(reason) => reason,
            None => panic!("{} {} edits {file}", self.form.agent, self.name),
        }
    }

    fn starts(&self) {
        self.call((self.form.start)(self.folder()));
    }

    /// Gets a prompt; returns the answer as a text.
    fn gets_prompt(&self, prompt: &str) -> String {
        self.call((self.form.prompt)(self.folder(), prompt)).body.to_string()
    }

    fn ends(&self) {
        self.call((self.form.end)(self.folder()));
    }

    /// The turn ends, with more fields.
    fn stops(&self, event: &str, more: &Value) {
        let (_, mut call) = (self.form.turn_end)(self.folder());
        call["hook_event_name"] = json!(event);
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call((event, call));
    }
}

/// A program between the agent and the hook, which lives for one call, and whose command line does not show what it starts.
#[track_caller]
fn may_edit_behind_a_launcher(who: &Conversation<'_>, file: &str) {
    let (event, call) = (who.form.edit)(who.folder(), &who.folder().join(file));
    let coord = who.world.coord(who.folder());
    let mut awk = program_like(&coord, "awk");
    let run = format!("'{}' hook {} {event}", coord.get_program().display(), who.form.agent);
    awk.arg("BEGIN { exit system(ENVIRON[\"RUN\"]) }").env("RUN", run);
    let answer = Answer::of(&output_with(awk, &who.input(call)));
    assert_eq!((who.form.denial)(&answer), None, "{}: {answer:?}", who.form.agent);
}

/// An agent's second edit was denied by its first, because each call had another process above it.
// rule: holders#launchers
#[test]
fn behind_a_launcher_all_calls_and_the_mcp_server_are_one_holder() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = conversation(&world, &CLAUDE_CODE, "one");
    may_edit_behind_a_launcher(&ada, "a.txt");
    may_edit_behind_a_launcher(&ada, "a.txt");
    ada.may_edit("a.txt");
    let mut mcp = mcp_agent(&world);
    assert_eq!(action(&mcp.claim(&["a.txt"])), "PROCEED");
    let reason = conversation(&world, &CLAUDE_CODE, "two").may_not_edit("a.txt");
    assert!(reason.starts_with("WAIT: "), "{reason}");
}

/// Several conversations in one process were one holder, and both wrote.
#[test]
fn conversations_of_one_process_exclude_each_other() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let (one, two) = (conversation(&world, form, "one"), conversation(&world, form, "two"));
        one.may_edit("a.txt");
        two.may_not_edit("a.txt");
        two.may_edit("b.txt");
        one.may_not_edit("b.txt");
        one.may_edit("a.txt");
        two.may_edit("b.txt");
    }
}

/// A conversation that was resumed was locked out by its former process.
#[test]
fn a_conversation_that_is_resumed_in_another_process_has_its_files() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let ada = conversation(&world, form, "one");
        may_edit_behind_a_launcher(&ada, "a.txt");
        write(&world, "a.txt", "changed");
        ada.ends();
        assert_eq!(held_files(&world), ["a.txt"], "{}: it is not pushed", form.agent);
        ada.starts();
        ada.may_edit("a.txt");
        conversation(&world, form, "two").may_not_edit("a.txt");
    }
}

/// Cursor and Copilot CLI run the hooks of Claude Code besides their own.
// rule: holders#two-forms
#[test]
fn the_hooks_of_two_forms_are_one_holder_of_one_conversation() {
    for names in [
        ["cursor", "claude-code"],
        ["copilot", "claude-code"],
        ["claude-code", "cursor"],
    ] {
        let forms = names.map(|name| ALL.into_iter().find(|form| form.agent == name).unwrap());
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        for (name, file) in [("one", "a.txt"), ("two", "b.txt")] {
            for form in forms {
                conversation(&world, form, name).may_edit(file);
            }
        }
        for form in forms {
            conversation(&world, form, "two").may_not_edit("a.txt");
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
        lead.may_edit("a.txt");
        let lead_id = locks(&world)[0].agent_id.clone().unwrap();
        one.may_edit("a.txt");
        assert_eq!(held(&world), [format!("a.txt {lead_id}::a1")], "{}", form.agent);
        for other in [&lead, &two] {
            assert_has(&other.may_not_edit("a.txt"), &[&format!("{lead_id}::a1")]);
        }
        two.may_edit("b.txt");
        // The lead is notified once.
        assert_has(&lead.gets_prompt("Go on"), &["TAKEN_OVER: ", "a.txt"]);
        let context = lead.gets_prompt("Go on");
        assert!(!context.contains("TAKEN_OVER: "), "{context}");

        // At a subagent's end, its lead gets the lead's files and what is not pushed; the rest is released.
        write(&world, "b.txt", "changed");
        one.stops("SubagentStop", &json!({}));
        lead.may_edit("a.txt");
        two.stops("SubagentStop", &json!({}));
        assert_eq!(held(&world), [format!("a.txt {lead_id}"), format!("b.txt {lead_id}")]);
        assert_has(&lead.gets_prompt("Go on"), &["GIVEN_BACK: ", "b.txt"]);
    }
}

// rule: holders#writer-ends
#[test]
fn an_unchanged_file_of_a_subagent_is_released_at_its_end() {
    let world = World::with(&[("a.txt", "a")]);
    let lead = conversation(&world, &CLAUDE_CODE, "one");
    let one = writer(&lead, "a1");
    one.may_edit("a.txt");
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
    ada.may_edit("a.txt");
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
    let [holder, ada, bob] = ["one", "two", "three"].map(|name| conversation(&world, &CLAUDE_CODE, name));
    holder.may_edit("a.txt");
    assert!(!ada.may_not_edit("a.txt").contains(" in the queue"));
    assert_has(&bob.may_not_edit("a.txt"), &["number 2 in the queue"]);
    ada.ends();
    holder.ends();
    bob.may_edit("a.txt");
}

// rule: holders#writer-intent
#[test]
fn a_subagent_cites_the_intent_that_its_session_has_selected() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let lead = conversation(&world, &CLAUDE_CODE, "one");
    lead.starts();
    writer(&lead, "a1").may_edit("a.txt");
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
    let [holder, ada] = ["one", "two"].map(|name| conversation(&world, &CLAUDE_CODE, name));
    holder.gets_prompt("Make the pool of connections grow and shrink with the load of the day");
    holder.may_edit("src/db.ts");
    let denial = ada.may_not_edit("src/db.ts");
    let (reason, next) = denial.split_once(". Next: ").unwrap();
    let beginning = "WAIT: File 'src/db.ts' is being written by 'claude-code-";
    assert!(reason.starts_with(beginning), "{denial}");
    assert_has(
        reason,
        &[": “Make the pool of connections grow…”; its lock expires in "],
    );
    let command = "`coord wait src/db.ts` in the background; ";
    assert!(next.starts_with(command), "{denial}");
    assert!(denial.split_whitespace().count() <= 30, "{denial}");
    // A neighbor, which is blocked since nothing says that the interface of either stays.
    let denial = ada.may_not_edit("src/page.ts");
    let beginning = "WAIT: 'src/page.ts' imports 'src/db.ts', being written by 'claude-code-";
    assert!(denial.starts_with(beginning), "{denial}");
    let (refusal, changes) = denial.split_once(" Your edit changes ").unwrap();
    assert!(refusal.split_whitespace().count() <= 30, "{denial}");
    assert!(changes.ends_with(" one that keeps it is granted."), "{denial}");
}

/// `arguments` of a tool of Claude Code as the hook has changed them.
fn rewritten(who: &Conversation<'_>, tool: &str, arguments: &Value) -> Value {
    let (event, mut call) = (who.form.shell)(who.folder(), "x");
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
        // One conversation: the process shows which.
        assert_eq!(rewritten(&lead, "Bash", &claim), Value::Null);
        assert_eq!(rewritten(&lead, "mcp__coord__post_status", &post), Value::Null);
        let one = writer(&lead, "a1");
        let input = rewritten(&one, "mcp__coord__post_status", &post);
        let id = input["agent_id"].as_str().unwrap();
        assert!(id.ends_with("::a1"), "{input}");
        assert_eq!(input["file_paths"], post["file_paths"], "{input}");
        let input = rewritten(&one, "Bash", &claim);
        let coord = world.coord(lead.folder());
        let folder = Path::new(coord.get_program()).parent().unwrap().display();
        let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
        let mut shell = program_like(&coord, "sh");
        shell.args(["-c", input["command"].as_str().unwrap()]).env("PATH", path);
        assert_success(&shell.output().unwrap());
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
    let of_claude = "/hookSpecificOutput/updatedInput";
    for (form, tool, place) in [
        (&CLAUDE_CODE, "mcp__coord__post_status", of_claude),
        (&CODEX, "mcp__coord__post_status", of_claude),
        (&GEMINI, "mcp_coord_post_status", "/hookSpecificOutput/tool_input"),
        (&COPILOT, "coord-post_status", "/modifiedArgs"),
        (&OPENCODE, "coord_post_status", "/args"),
    ] {
        let world = World::with(&[("a.txt", "a")]);
        let ada = conversation(&world, form, "one");
        ada.may_edit("a.txt");
        let holder = held(&world)[0].replace("a.txt ", "");
        let call_tool = |more: Value| {
            let mut arguments = json!({ "file_paths": ["a.txt"], "status": "WRITING", "message": "Changing the pool" });
            let fields = more.as_object().unwrap().clone();
            arguments.as_object_mut().unwrap().extend(fields);
            let (event, mut call) = (form.shell)(world.clone.path(), "x");
            for (of_name, of_input) in [("tool_name", "tool_input"), ("toolName", "toolArgs"), ("tool", "args")] {
                if call.get(of_name).is_some() {
                    call[of_name] = json!(tool);
                    call[of_input] = arguments.clone();
                }
            }
            let answer = ada.call((event, call));
            assert_eq!((form.denial)(&answer), None, "{answer:?}");
            (arguments, answer.body.pointer(place).cloned().unwrap_or_default())
        };
        let shop = "https://github.com/acme/shop";
        let (mut arguments, rewritten) = call_tool(json!({ "repo_url": shop, "branch": "main" }));
        arguments["agent_id"] = json!(holder);
        assert_eq!(rewritten, arguments, "{}", form.agent);
        // Fields that the model sets itself stay, and `coord mcp` needs none of them.
        let named = json!({ "repo_url": shop, "agent_id": "ada" });
        assert_eq!(call_tool(named).1, Value::Null);
        assert_eq!(call_tool(json!({})).1, Value::Null);
    }
}

/// A server for the tools of a process with two conversations granted each what the other wrote.
// rule: holders#session-unknown
#[test]
fn an_mcp_server_of_two_conversations_gets_wait_and_session_unknown() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    conversation(&world, &CODEX, "one").may_edit("a.txt");
    conversation(&world, &CODEX, "two").may_edit("b.txt");
    let mut mcp = mcp_agent(&world);
    for file in ["a.txt", "b.txt"] {
        let answer = mcp.claim(&[file]);
        assert_eq!(action(&answer), "WAIT", "{answer}");
        assert_eq!(warnings(&answer, "SESSION_UNKNOWN").len(), 1, "{answer}");
    }
}
