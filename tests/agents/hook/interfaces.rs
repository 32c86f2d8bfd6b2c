//! Edits that change what others can import, and those that keep it: the hook tells them apart before the file is written.

use coord_protocol::{InterfacePromise, LockMode, LockStatus, PostRequest};
use serde_json::{Value, json};

use super::looks::context;
use super::{Answer, Session, client, locks, session};
use crate::commands::parts;
use coord_test_support::waiting::block_until_served;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, Form, after};
use coord_test_worlds::world::{REPO_URL, World};

const DB: &str = "export function query(sql: string) {\n  return sql;\n}\n";
const AUTH: &str = "import { query } from './db';\nexport function login() {\n  return query('1');\n}\n";

/// Lines of the head of `query`, and of the bodies of both functions, with others in their places.
const HEAD: (&str, &str) = (
    "export function query(sql: string) {",
    "export function query(sql: string, limit: number) {",
);
const BODY: (&str, &str) = ("  return sql;", "  return sql.trim();");
const LOGIN: (&str, &str) = ("  return query('1');", "  return query('2');");

/// A call that replaces one line of `file`, in the form of each agent.
fn replaces(session: &Session<'_>, file: &str, (old, new): (&str, &str)) -> (&'static str, Value) {
    let path = session.folder.join(file);
    let (event, mut call) = (session.form.edit)(session.folder, &path);
    let shown = path.display();
    let (of_name, of_input, name, input) = match session.form.agent {
        "claude-code" => (
            "tool_name",
            "tool_input",
            "Edit",
            json!({ "file_path": path, "old_string": old, "new_string": new }),
        ),
        "codex" => (
            "tool_name",
            "tool_input",
            "apply_patch",
            json!({ "command": format!("*** Begin Patch\n*** Update File: {shown}\n@@\n-{old}\n+{new}\n*** End Patch\n") }),
        ),
        "cursor" => (
            "tool_name",
            "tool_input",
            "StrReplace",
            json!({ "file_path": path, "old_string": old, "new_string": new }),
        ),
        "gemini" => (
            "tool_name",
            "tool_input",
            "replace",
            json!({ "file_path": path, "old_string": old, "new_string": new }),
        ),
        "copilot" => (
            "toolName",
            "toolArgs",
            "edit",
            json!({ "path": path, "old_str": old, "new_str": new }),
        ),
        _ => (
            "tool",
            "args",
            "edit",
            json!({ "filePath": path, "oldString": old, "newString": new }),
        ),
    };
    call[of_name] = json!(name);
    call[of_input] = input;
    (event, call)
}

/// A clone in which `src/auth.ts` imports `src/db.ts`, as the server knows.
fn world(form: &Form) -> World {
    let world = World::with(&[("src/db.ts", DB), ("src/auth.ts", AUTH)]);
    session(&world, form, Some("carol")).starts();
    let carol = claims(&world, "carol", "src/db.ts", LockStatus::Writing, None);
    assert!(carol.success, "{carol:?}");
    // The graph is built after the first requests.
    block_until_served("the graph is known", || {
        let is_granted = claims(&world, "dave", "src/auth.ts", LockStatus::Writing, None).success;
        claims(&world, "dave", "src/auth.ts", LockStatus::Open, None);
        !is_granted
    });
    for (who, file) in [("carol", "src/db.ts"), ("dave", "src/auth.ts")] {
        claims(&world, who, file, LockStatus::Open, None);
    }
    world
}

/// A request of a program without hooks.
fn claims(
    world: &World,
    who: &str,
    file: &str,
    status: LockStatus,
    interface: Option<InterfacePromise>,
) -> coord_protocol::PostResponse {
    let head = world.clone.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let request = PostRequest {
        repo_url: Some(REPO_URL.to_owned()),
        branch: Some("main".to_owned()),
        file_paths: Some(vec![file.to_owned()]),
        status: Some(status),
        message: Some("Reading the code that pools connections".to_owned()),
        agent_head: Some(head),
        abandon: (status == LockStatus::Open).then_some(true),
        interface,
        ..PostRequest::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(client(world, who).post_status(&request)).unwrap()
}

/// Returns the interface promise of the lock on `file`.
fn interface(world: &World, file: &str) -> Option<InterfacePromise> {
    let held = locks(world).into_iter().find(|lock| lock.file_path == file);
    let held = held.unwrap_or_else(|| panic!("nobody holds {file}"));
    assert_eq!(held.status, LockMode::Writing);
    held.interface
}

impl Session<'_> {
    /// Before one line of `file` is replaced.
    fn replaces(&self, file: &str, lines: (&str, &str)) -> Answer {
        self.call(replaces(self, file, lines))
    }

    /// Replaces the line, and tells the hook so.
    fn has_replaced(&self, file: &str, (old, new): (&str, &str)) -> Answer {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        std::fs::write(&path, text.replacen(old, new, 1)).unwrap();
        self.call(after(self.form, replaces(self, file, (old, new))))
    }
}

fn back((old, new): (&'static str, &'static str)) -> (&'static str, &'static str) {
    (new, old)
}

// rule: locks#hooks-compare
#[test]
fn an_edit_that_changes_what_others_import_is_denied_beside_a_writer_of_a_neighbor_in_the_form_of_each_agent() {
    let world = world(&CLAUDE_CODE);
    for form in ALL {
        let (ada, bob) = (session(&world, form, Some("ada")), session(&world, form, Some("bob")));
        let agent = form.agent;
        // Both write bodies, at the same time.
        for (who, file, lines) in [(&ada, "src/db.ts", BODY), (&bob, "src/auth.ts", LOGIN)] {
            assert_eq!(who.denial(&who.replaces(file, lines)), None, "{agent}");
            assert_eq!(interface(&world, file), Some(InterfacePromise::Keeps), "{agent}");
            who.has_replaced(file, lines);
        }
        // The head of a function that bob's file imports.
        let denial = ada.denial(&ada.replaces("src/db.ts", HEAD)).unwrap_or_default();
        for part in [", imports 'src/db.ts'", "'bob'", "src/db.ts (`query` changed)"] {
            assert!(denial.contains(part), "{agent}: {denial}");
        }
        assert_eq!(interface(&world, "src/db.ts"), Some(InterfacePromise::Keeps), "{agent}");
        // Bob is done: now ada's edit is allowed, and blocks bob's.
        assert_eq!(bob.denial(&bob.replaces("src/auth.ts", back(LOGIN))), None, "{agent}");
        bob.has_replaced("src/auth.ts", back(LOGIN));
        claims(&world, "bob", "src/auth.ts", LockStatus::Open, None);
        assert_eq!(ada.denial(&ada.replaces("src/db.ts", HEAD)), None, "{agent}");
        ada.has_replaced("src/db.ts", HEAD);
        assert_eq!(interface(&world, "src/db.ts"), None, "{agent}");
        let denial = bob.denial(&bob.replaces("src/auth.ts", LOGIN)).unwrap_or_default();
        assert!(
            denial.contains("src/db.ts") && denial.contains("ada"),
            "{agent}: {denial}"
        );
        // Another edit of a body does not bring the head back, and one that does lets bob in.
        assert_eq!(ada.denial(&ada.replaces("src/db.ts", back(BODY))), None, "{agent}");
        ada.has_replaced("src/db.ts", back(BODY));
        assert_eq!(interface(&world, "src/db.ts"), None, "{agent}");
        assert_eq!(ada.denial(&ada.replaces("src/db.ts", back(HEAD))), None, "{agent}");
        ada.has_replaced("src/db.ts", back(HEAD));
        assert_eq!(interface(&world, "src/db.ts"), Some(InterfacePromise::Keeps), "{agent}");
        assert_eq!(bob.denial(&bob.replaces("src/auth.ts", LOGIN)), None, "{agent}");
        for (who, file) in [("ada", "src/db.ts"), ("bob", "src/auth.ts")] {
            claims(&world, who, file, LockStatus::Open, None);
        }
    }
}

#[test]
fn an_edit_that_fails_and_what_a_command_writes_are_seen_afterwards() {
    let world = world(&CLAUDE_CODE);
    let (ada, bob) = (
        session(&world, &CLAUDE_CODE, Some("ada")),
        session(&world, &CLAUDE_CODE, Some("bob")),
    );
    assert_eq!(ada.denial(&ada.replaces("src/db.ts", HEAD)), None);
    assert_eq!(interface(&world, "src/db.ts"), None);
    let (_, mut failed) = after(&CLAUDE_CODE, replaces(&ada, "src/db.ts", HEAD));
    failed["hook_event_name"] = json!("PostToolUseFailure");
    ada.call(("PostToolUseFailure", failed));
    assert_eq!(interface(&world, "src/db.ts"), Some(InterfacePromise::Keeps));
    // A command changes the head, which nobody could know before.
    let command = "sed -i 's/sql: string/sql: Buffer/' src/db.ts";
    assert_eq!(ada.denial(&ada.runs(command)), None);
    assert_eq!(interface(&world, "src/db.ts"), Some(InterfacePromise::Keeps));
    assert!(world.in_shell(world.clone.path(), command).status.success());
    let text = context(&CLAUDE_CODE, &ada.has_run(command).body);
    assert_eq!(text, None);
    assert_eq!(interface(&world, "src/db.ts"), None);
    // The same beside a neighbor.
    let command = "git checkout -q -- src/db.ts";
    assert_eq!(ada.denial(&ada.runs(command)), None);
    assert!(world.in_shell(world.clone.path(), command).status.success());
    ada.has_run(command);
    assert_eq!(ada.denial(&ada.replaces("src/db.ts", BODY)), None);
    assert_eq!(bob.denial(&bob.replaces("src/auth.ts", LOGIN)), None);
    let command = "sed -i 's/sql: string/sql: Buffer/' src/db.ts";
    assert_eq!(ada.denial(&ada.runs(command)), None);
    assert!(world.in_shell(world.clone.path(), command).status.success());
    let text = context(&CLAUDE_CODE, &ada.has_run(command).body).unwrap_or_default();
    for part in ["INTERFACE_CHANGED", "`query` changed", "src/auth.ts", "bob"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(
        interface(&world, "src/db.ts"),
        Some(InterfacePromise::Keeps),
        "it was not let in"
    );
}

#[test]
fn an_incomparable_file_counts_as_changed_and_a_new_one_does_not() {
    let world = world(&CLAUDE_CODE);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    let writes = |file: &str, content: &str| {
        let (event, mut call) = (CLAUDE_CODE.edit)(ada.folder, &ada.folder.join(file));
        call["tool_name"] = json!("Write");
        call["tool_input"] = json!({ "file_path": ada.folder.join(file), "content": content });
        assert_eq!(ada.denial(&ada.call((event, call))), None, "{file}");
        interface(&world, file)
    };
    assert_eq!(
        writes("src/new.ts", "export const a = 1;"),
        Some(InterfacePromise::Keeps)
    );
    assert_eq!(
        writes("src/db.ts", "export function query(sql: string) {"),
        None,
        "damaged"
    );
    assert_eq!(writes("src/db.ts", DB), Some(InterfacePromise::Keeps));
    let large = format!("{DB}// {}", "x".repeat(2 << 20));
    assert_eq!(writes("src/db.ts", &large), None, "too large");
    let formatted = "export function query(sql: string)\n{ return sql }\n";
    assert_eq!(writes("src/db.ts", formatted), Some(InterfacePromise::Keeps));
    // The text to replace does not exist.
    assert_eq!(ada.denial(&ada.replaces("src/db.ts", ("nowhere", "x"))), None);
    assert_eq!(interface(&world, "src/db.ts"), None);
}

#[test]
fn a_planned_claim_keeps_where_hooks_see_the_edits_and_changes_elsewhere() {
    let world = world(&CLAUDE_CODE);
    let run = |args: &[&str]| {
        let (status, out, error) = parts(&world.run(args));
        assert_eq!(status, 0, "{args:?}: {out}{error}");
    };
    // The session of this process, by its conversation.
    let ada = session(&world, &CLAUDE_CODE, None);
    run(&[
        "claim",
        "src/db.ts",
        "-m",
        "Pooling the connections",
        "--agent",
        "nobody",
    ]);
    assert_eq!(interface(&world, "src/db.ts"), None, "no hook knows this agent");
    run(&["release", "src/db.ts", "--agent", "nobody", "--abandon"]);
    ada.starts();
    assert_eq!(ada.denial(&ada.replaces("src/auth.ts", LOGIN)), None);
    let holder = locks(&world)[0].agent_id.clone().unwrap();
    run(&[
        "claim",
        "src/db.ts",
        "-m",
        "Pooling the connections",
        "--agent",
        &holder,
    ]);
    assert_eq!(interface(&world, "src/db.ts"), Some(InterfacePromise::Keeps));
    // An earlier change counts, and a claim that only renews cannot take that back.
    ada.has_replaced("src/db.ts", HEAD);
    assert_eq!(interface(&world, "src/db.ts"), None);
    run(&[
        "claim",
        "src/db.ts",
        "-m",
        "Pooling the connections",
        "--agent",
        &holder,
    ]);
    assert_eq!(interface(&world, "src/db.ts"), None);
}
