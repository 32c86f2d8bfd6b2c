//! The recorded results of tools: failures, and contents by their bytes.

use std::path::Path;

use serde_json::json;

use super::recording::{OF_B, mutations};
use super::{session, write};
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::{CLAUDE_CODE, COPILOT, CURSOR, Call, Form, GEMINI};
use coord_test_worlds::world::World;

/// A tool that failed was recorded as a success.
// rule: hooks#failed-tools
#[test]
fn a_tool_that_failed_is_recorded_as_a_failure_and_what_it_wrote_is_found() {
    type Failed = fn(&Path) -> Call;
    let forms: [(&Form, Failed); 4] = [
        (&CLAUDE_CODE, |folder| {
            let (_, mut call) = (CLAUDE_CODE.after_shell)(folder, "make");
            call["hook_event_name"] = json!("PostToolUseFailure");
            call["error"] = json!("exit status 2");
            ("PostToolUseFailure", call)
        }),
        (&GEMINI, |folder| {
            let (event, mut call) = (GEMINI.after_shell)(folder, "make");
            call["tool_response"]["error"] = json!({ "message": "exit status 2", "type": "shell_execute_error" });
            (event, call)
        }),
        (&COPILOT, |folder| {
            let (event, mut call) = (COPILOT.after_shell)(folder, "make");
            call["toolResult"] = json!({ "resultType": "failure", "textResultForLlm": "exit status 2" });
            (event, call)
        }),
        (&COPILOT, |folder| {
            let (_, mut call) = (COPILOT.after_shell)(folder, "make");
            call.as_object_mut().unwrap().remove("toolResult");
            call["error"] = json!("exit status 2");
            ("postToolUseFailure", call)
        }),
    ];
    for (form, failed) in forms {
        let world = World::with(&[("a.txt", "a")]);
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, form, None);
        let fails = |work: &dyn Fn()| {
            ada.may_run("make");
            work();
            fake.paths();
            ada.call(failed(ada.folder));
            fake.recorded()
        };
        let entries = fails(&|| ());
        assert_eq!(entries.len(), 1, "{}: {entries:?}", form.agent);
        assert_eq!(entries[0]["kind"], "call", "{}", form.agent);
        assert_eq!(entries[0]["error_message"], "the tool has failed", "{}", form.agent);
        let entries = fails(&|| write(&world, "a.txt", "b"));
        assert_eq!(mutations(&entries), [("a.txt", OF_B)], "{}", form.agent);
    }
}

/// Contents were decoded before they were hashed, and the hash was of what was on disk when the hook ran.
#[test]
fn the_hash_is_of_the_bytes_that_the_tool_wrote() {
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    let mut hashes = Vec::new();
    // None of them is UTF-8, and a decoder makes the same of all.
    for bytes in [b"\xff", b"\xfe", b"\x80"] {
        ada.may_run("make");
        std::fs::write(world.clone.path().join("a.txt"), bytes).unwrap();
        fake.paths();
        ada.has_run("make");
        let entries = fake.recorded();
        hashes.extend(mutations(&entries).into_iter().map(|(_, hash)| hash.to_owned()));
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 3, "{hashes:?}");
    // The input of Cursor's tool is the whole content, which is `b`; someone else writes before the hook runs.
    let world = World::with(&[("a.txt", "a")]);
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CURSOR, None);
    ada.may_edit("a.txt");
    write(&world, "a.txt", "theirs");
    fake.paths();
    ada.has_edited("a.txt");
    assert_eq!(mutations(&fake.recorded()), [("a.txt", OF_B)]);
}
