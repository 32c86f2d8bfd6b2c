//! Hooks that cannot do their work.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{hook, output_of, session, write};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, after};
use coord_test_worlds::world::World;

/// A port on which nothing listens: that of a listener that is gone.
fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

// rule: hooks#on-error
#[test]
fn writes_without_a_server_are_denied_and_all_else_is_allowed() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        world.clone.git(&["config", "coord.url", &nowhere()]);
        let ada = session(&world, form, None);
        for reason in [ada.may_not_edit("a.txt"), ada.may_not_run("tee a.txt")] {
            assert!(reason.starts_with("OFFLINE_MODE: "), "{reason}");
            assert!(reason.ends_with("Reading allowed, Writing disabled."), "{reason}");
        }
        for answer in [
            ada.runs("cat a.txt"),
            ada.starts(),
            ada.gets_prompt("Read a.txt"),
            ada.ends_turn(),
            ada.ends(),
        ] {
            ada.assert_allowed(&answer, "no write");
        }
        let answer = ada.call_with(ada.edit_call("a.txt"), &["--on-error", "allow"]);
        ada.assert_allowed(&answer, "--on-error allow");
        assert_has(&output_of(&answer), &["OFFLINE_MODE"]);
    }
}

// rule: hooks#input
#[test]
fn input_that_is_not_of_the_form_denies_a_tool_and_fails_elsewhere() {
    let world = World::with(&[("a.txt", "a")]);
    for form in ALL {
        let ada = session(&world, form, None);
        let run = |args: &[&str], input: &str| {
            let args = [&[form.agent], args].concat();
            hook(&world, ada.folder, None, &args, input)
        };
        let (before, mut nameless) = ada.edit_call("a.txt");
        let (after, _) = after(form, ada.edit_call("a.txt"));
        let (end, _) = (form.turn_end)(ada.folder);
        for field in ["tool_input", "toolArgs", "args"] {
            if nameless.get(field).is_some() {
                nameless[field] = json!({});
            }
        }
        // Copilot denies by every status but 0; 2 denies in all of them.
        let allowed = if form.agent == "copilot" { 0 } else { 1 };
        for (input, why) in [
            ("", "not JSON"),
            ("[1]", "not a JSON object"),
            ("{}", "names no tool"),
            (&nameless.to_string(), "names no file"),
        ] {
            for (args, status) in [(&[before][..], 2), (&[before, "--on-error", "allow"], allowed)] {
                let answer = run(args, input);
                assert_eq!(answer.status, status, "{} {args:?} {why}: {answer:?}", form.agent);
                assert!(answer.aside.contains(why), "{} {args:?} {why}: {answer:?}", form.agent);
            }
        }
        // After a tool, nothing fails.
        for input in ["", "[1]", "{}", "no JSON"] {
            let answer = run(&[after], input);
            assert_eq!(answer.status, 0, "{} {input}: {answer:?}", form.agent);
        }
        let answer = run(&[end], "no JSON");
        assert_eq!(answer.status, 1, "{}: {answer:?}", form.agent);
        let answer = run(&["NoSuchEvent"], "{}");
        assert_eq!(answer.status, 1, "{}: {answer:?}", form.agent);
        assert_has(&answer.aside, &["NoSuchEvent", before]);
    }
    assert_eq!(world.server(), None);
}

// rule: hooks#input
#[test]
fn input_that_does_not_end_is_not_waited_for() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = world.coord(world.clone.path());
    command.args(["hook", "claude-code", "PreToolUse"]);
    let pipes = command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut running = pipes.spawn().unwrap();
    let input = running.stdin.take();
    let ended = running.wait_with_output().unwrap();
    drop(input);
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("did not end"));
}

/// Some versions of Copilot CLI leave the pipe open, and each tool was denied after two seconds.
#[test]
fn input_that_is_whole_is_not_waited_for_to_end() {
    let world = World::with(&[("a.txt", "a")]);
    for form in ALL {
        let (event, call) = session(&world, form, None).read_call("a.txt", false);
        let mut command = world.coord(world.clone.path());
        command.args(["hook", form.agent, event]).stdin(Stdio::piped());
        let mut running = command.stdout(Stdio::null()).spawn().unwrap();
        let mut input = running.stdin.take().unwrap();
        input.write_all(call.to_string().as_bytes()).unwrap();
        let ended = running.wait().unwrap();
        drop(input);
        assert!(ended.success(), "{}: {ended}", form.agent);
    }
}

/// Byte-order marks, halves of surrogate pairs and large results made hooks deny edits.
#[test]
fn bytes_that_agents_really_send_are_understood() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let ada = session(&world, form, Some("ada"));
        let (event, call) = ada.edit_call("a.txt");
        let marked = format!("\u{feff}\u{feff} {call}");
        let half = call.to_string().replacen('{', "{\"x\":\"half \\ud83d\",", 1);
        for input in [marked, half] {
            let answer = hook(&world, ada.folder, ada.holder, &[form.agent, event], &input);
            ada.assert_allowed(&answer, &input);
        }
        // As all of the forms write it.
        write(&world, "a.txt", "b");
        let (event, mut call) = after(form, ada.edit_call("a.txt"));
        call["tool_response"] = json!({ "originalFile": "A".repeat(3 << 20) });
        let answer = ada.call((event, call));
        assert_eq!(answer.status, 0, "{}: {answer:?}", form.agent);
        // The hook recognizes the agent's own change.
        ada.may_edit("a.txt");
    }
}

// rule: hooks#last-run
#[test]
fn each_call_is_noted_by_its_event() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = session(&world, &CLAUDE_CODE, None);
    let mark = |event: &str| world.clone.path().join(".git/coord/hooks/claude-code").join(event);
    assert!(!mark("PreToolUse").exists());
    ada.runs("cat a.txt");
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = std::fs::File::options().append(true).open(mark("PreToolUse"));
    file.unwrap().set_modified(old).unwrap();
    ada.edits("a.txt");
    assert_ne!(std::fs::metadata(mark("PreToolUse")).unwrap().modified().unwrap(), old);
    ada.ends_turn();
    assert!(mark("Stop").exists());
}
