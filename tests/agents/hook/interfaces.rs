//! Edits that change what others can import, and those that keep it: the hook tells them apart before the file is written.

use coord_protocol::{InterfacePromise, LockMode, LockStatus, PostRequest};
use serde_json::{Value, json};

use super::{Answer, Session, claude, client, locks, session};
use crate::commands::printed;
use crate::texts::assert_has;
use coord_test_support::waiting::block_until_served;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, after};
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

const KEEPS: Option<InterfacePromise> = Some(InterfacePromise::Keeps);

/// A clone in which `src/auth.ts` imports `src/db.ts`, as the server knows.
fn world() -> World {
    let world = World::with(&[("src/db.ts", DB), ("src/auth.ts", AUTH)]);
    claude(&world, "carol").starts();
    assert!(post(&world, "carol", "src/db.ts", LockStatus::Writing));
    // The graph is built after the first requests.
    block_until_served("the graph is known", || {
        let is_granted = post(&world, "dave", "src/auth.ts", LockStatus::Writing);
        releases(&world, "dave", "src/auth.ts");
        !is_granted
    });
    releases(&world, "carol", "src/db.ts");
    world
}

/// Sends the request of a program without hooks; returns whether it was granted.
fn post(world: &World, who: &str, file: &str, status: LockStatus) -> bool {
    let request = PostRequest {
        repo_url: Some(REPO_URL.to_owned()),
        branch: Some("main".to_owned()),
        file_paths: Some(vec![file.to_owned()]),
        status: Some(status),
        message: Some("Reading the code that pools connections".to_owned()),
        agent_head: Some(world.clone.git(&["rev-parse", "HEAD"])),
        abandon: (status == LockStatus::Open).then_some(true),
        ..PostRequest::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let response = runtime.block_on(client(world, who).post_status(&request));
    response.unwrap().success
}

fn releases(world: &World, who: &str, file: &str) {
    post(world, who, file, LockStatus::Open);
}

/// Returns the interface promise of the lock on `file`.
fn interface(world: &World, file: &str) -> Option<InterfacePromise> {
    let held = locks(world).into_iter().find(|lock| lock.file_path == file);
    let held = held.unwrap_or_else(|| panic!("nobody holds {file}"));
    assert_eq!(held.status, LockMode::Writing);
    held.interface
}

impl Session<'_> {
    /// A call that replaces one line of `file`, in the form of the agent.
    fn replacement(&self, file: &str, (old, new): (&str, &str)) -> (&'static str, Value) {
        let (event, mut call) = self.edit_call(file);
        let path = self.folder.join(file);
        let strings = json!({ "file_path": path, "old_string": old, "new_string": new });
        let (of_name, of_input, name, input) = match self.form.agent {
            "claude-code" => ("tool_name", "tool_input", "Edit", strings),
            "cursor" => ("tool_name", "tool_input", "StrReplace", strings),
            "gemini" => ("tool_name", "tool_input", "replace", strings),
            "codex" => {
                let lines = format!("*** Update File: {}\n@@\n-{old}\n+{new}\n", path.display());
                let patch = json!({ "command": format!("*** Begin Patch\n{lines}*** End Patch\n") });
                ("tool_name", "tool_input", "apply_patch", patch)
            }
            "copilot" => {
                let strings = json!({ "path": path, "old_str": old, "new_str": new });
                ("toolName", "toolArgs", "edit", strings)
            }
            _ => {
                let strings = json!({ "filePath": path, "oldString": old, "newString": new });
                ("tool", "args", "edit", strings)
            }
        };
        call[of_name] = json!(name);
        call[of_input] = input;
        (event, call)
    }

    /// Before one line of `file` is replaced.
    fn replaces(&self, file: &str, lines: (&str, &str)) -> Answer {
        self.call(self.replacement(file, lines))
    }

    #[track_caller]
    fn may_replace(&self, file: &str, lines: (&str, &str)) {
        self.assert_allowed(&self.replaces(file, lines), lines.1);
    }

    /// Returns why the replacement is denied.
    #[track_caller]
    fn may_not_replace(&self, file: &str, lines: (&str, &str)) -> String {
        self.assert_denied(&self.replaces(file, lines), lines.1)
    }

    /// Replaces the line, and reports it to the hook.
    fn has_replaced(&self, file: &str, (old, new): (&str, &str)) {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{text}");
        std::fs::write(&path, text.replacen(old, new, 1)).unwrap();
        self.call(after(self.form, self.replacement(file, (old, new))));
    }

    /// Runs `command` in the clone between its two events; returns the text for the model after it.
    fn runs_in_shell(&self, command: &str) -> Option<String> {
        assert!(self.world.in_shell(self.folder, command).status.success());
        self.text(&self.has_run(command))
    }
}

fn back((old, new): (&'static str, &'static str)) -> (&'static str, &'static str) {
    (new, old)
}

// rule: locks#hooks-compare
#[test]
fn an_edit_that_changes_what_others_import_is_denied_beside_a_writer_of_a_neighbor_in_the_form_of_each_agent() {
    let world = world();
    for form in ALL {
        let (ada, bob) = (session(&world, form, Some("ada")), session(&world, form, Some("bob")));
        let agent = form.agent;
        // Both write bodies, at the same time.
        for (who, file, lines) in [(&ada, "src/db.ts", BODY), (&bob, "src/auth.ts", LOGIN)] {
            who.may_replace(file, lines);
            assert_eq!(interface(&world, file), KEEPS, "{agent}");
            who.has_replaced(file, lines);
        }
        // The head of a function that bob's file imports.
        let denial = ada.may_not_replace("src/db.ts", HEAD);
        assert_has(
            &denial,
            &[", imports 'src/db.ts'", "'bob'", "src/db.ts (`query` changed)"],
        );
        assert_eq!(interface(&world, "src/db.ts"), KEEPS, "{agent}");
        // Bob is done: now ada's edit is allowed, and blocks bob's.
        bob.may_replace("src/auth.ts", back(LOGIN));
        bob.has_replaced("src/auth.ts", back(LOGIN));
        releases(&world, "bob", "src/auth.ts");
        ada.may_replace("src/db.ts", HEAD);
        ada.has_replaced("src/db.ts", HEAD);
        assert_eq!(interface(&world, "src/db.ts"), None, "{agent}");
        assert_has(&bob.may_not_replace("src/auth.ts", LOGIN), &["src/db.ts", "ada"]);
        // Another edit of a body does not bring the head back; one that does allows bob's edit.
        ada.may_replace("src/db.ts", back(BODY));
        ada.has_replaced("src/db.ts", back(BODY));
        assert_eq!(interface(&world, "src/db.ts"), None, "{agent}");
        ada.may_replace("src/db.ts", back(HEAD));
        ada.has_replaced("src/db.ts", back(HEAD));
        assert_eq!(interface(&world, "src/db.ts"), KEEPS, "{agent}");
        bob.may_replace("src/auth.ts", LOGIN);
        releases(&world, "ada", "src/db.ts");
        releases(&world, "bob", "src/auth.ts");
    }
}

#[test]
fn an_edit_that_fails_and_what_a_command_writes_are_seen_afterwards() {
    let world = world();
    let (ada, bob) = (claude(&world, "ada"), claude(&world, "bob"));
    ada.may_replace("src/db.ts", HEAD);
    assert_eq!(interface(&world, "src/db.ts"), None);
    let (_, mut failed) = after(&CLAUDE_CODE, ada.replacement("src/db.ts", HEAD));
    failed["hook_event_name"] = json!("PostToolUseFailure");
    ada.call(("PostToolUseFailure", failed));
    assert_eq!(interface(&world, "src/db.ts"), KEEPS);
    // A command changes the head, which nobody could know before.
    let changes_head = "sed -i 's/sql: string/sql: Buffer/' src/db.ts";
    ada.may_run(changes_head);
    assert_eq!(interface(&world, "src/db.ts"), KEEPS);
    assert_eq!(ada.runs_in_shell(changes_head), None);
    assert_eq!(interface(&world, "src/db.ts"), None);
    // The same beside a neighbor.
    let restores = "git checkout -q -- src/db.ts";
    ada.may_run(restores);
    ada.runs_in_shell(restores);
    ada.may_replace("src/db.ts", BODY);
    bob.may_replace("src/auth.ts", LOGIN);
    ada.may_run(changes_head);
    let text = ada.runs_in_shell(changes_head).unwrap_or_default();
    assert_has(&text, &["INTERFACE_CHANGED", "`query` changed", "src/auth.ts", "bob"]);
    assert_eq!(interface(&world, "src/db.ts"), KEEPS, "it was not granted");
}

#[test]
fn an_incomparable_file_counts_as_changed_and_a_new_one_does_not() {
    let world = world();
    let ada = claude(&world, "ada");
    let writes = |file: &str, content: &str| {
        let (event, mut call) = ada.edit_call(file);
        call["tool_name"] = json!("Write");
        call["tool_input"] = json!({ "file_path": ada.folder.join(file), "content": content });
        ada.assert_allowed(&ada.call((event, call)), file);
        interface(&world, file)
    };
    let damaged = "export function query(sql: string) {";
    let large = format!("{DB}// {}", "x".repeat(2 << 20));
    let formatted = "export function query(sql: string)\n{ return sql }\n";
    assert_eq!(writes("src/new.ts", "export const a = 1;"), KEEPS);
    assert_eq!(writes("src/db.ts", damaged), None);
    assert_eq!(writes("src/db.ts", DB), KEEPS);
    assert_eq!(writes("src/db.ts", &large), None);
    assert_eq!(writes("src/db.ts", formatted), KEEPS);
    // The text to replace does not exist.
    ada.may_replace("src/db.ts", ("nowhere", "x"));
    assert_eq!(interface(&world, "src/db.ts"), None);
}

#[test]
fn a_planned_claim_keeps_where_hooks_see_the_edits_and_changes_elsewhere() {
    let world = world();
    let claims = |agent: &str| {
        let claim = ["claim", "src/db.ts", "-m", "Pooling the connections", "--agent", agent];
        printed(&world, &claim, 0);
        interface(&world, "src/db.ts")
    };
    // The session of this process, by its conversation.
    let ada = session(&world, &CLAUDE_CODE, None);
    assert_eq!(claims("nobody"), None, "no hook knows this agent");
    let release = ["release", "src/db.ts", "--agent", "nobody", "--abandon"];
    printed(&world, &release, 0);
    ada.starts();
    ada.may_replace("src/auth.ts", LOGIN);
    let holder = locks(&world)[0].agent_id.clone().unwrap();
    assert_eq!(claims(&holder), KEEPS);
    // An earlier change counts, and a claim that only renews cannot take that back.
    ada.has_replaced("src/db.ts", HEAD);
    assert_eq!(interface(&world, "src/db.ts"), None);
    assert_eq!(claims(&holder), None);
}
