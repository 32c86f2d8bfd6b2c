//! Hooks that cannot do their work.

use serde_json::json;

use super::{Session, hook};
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE};
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
        let ada = Session {
            world: &world,
            form,
            folder: world.clone.path(),
            holder: None,
        };
        for answer in [ada.edits("a.txt"), ada.runs("tee a.txt")] {
            let reason = ada
                .denial(&answer)
                .unwrap_or_else(|| panic!("{}: {answer:?}", form.agent));
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
            assert_eq!(
                (answer.status, ada.denial(&answer)),
                (0, None),
                "{}: {answer:?}",
                form.agent
            );
        }
        let (event, call) = (form.edit)(world.clone.path(), &world.clone.path().join("a.txt"));
        let args = [form.agent, event, "--on-error", "allow"];
        let answer = hook(&world, world.clone.path(), None, &args, &call.to_string());
        assert_eq!(
            (answer.status, ada.denial(&answer)),
            (0, None),
            "{}: {answer:?}",
            form.agent
        );
        let output = format!("{} {}", answer.body, answer.aside);
        assert!(output.contains("OFFLINE_MODE"), "{output}");
    }
}

// rule: hooks#input
#[test]
fn input_that_is_not_of_the_form_denies_a_tool_and_fails_elsewhere() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.clone.path();
    for form in ALL {
        let (before, edit) = (form.edit)(folder, &folder.join("a.txt"));
        let (end, _) = (form.turn_end)(folder);
        let mut nameless = edit.clone();
        for field in ["tool_input", "toolArgs", "args"] {
            if nameless.get(field).is_some() {
                nameless[field] = json!({});
            }
        }
        for (input, why) in [
            ("", "not JSON"),
            ("[1]", "not a JSON object"),
            ("{}", "names no tool"),
            (&nameless.to_string(), "names no file"),
        ] {
            let answer = hook(&world, folder, None, &[form.agent, before], input);
            // 2 denies in all of them.
            assert_eq!(answer.status, 2, "{} {why}: {answer:?}", form.agent);
            assert!(answer.aside.contains(why), "{} {why}: {answer:?}", form.agent);
            let answer = hook(
                &world,
                folder,
                None,
                &[form.agent, before, "--on-error", "allow"],
                input,
            );
            // Copilot denies by every status but 0.
            let status = if form.agent == "copilot" { 0 } else { 1 };
            assert_eq!(answer.status, status, "{} {why}: {answer:?}", form.agent);
            assert!(answer.aside.contains(why), "{} {why}: {answer:?}", form.agent);
        }
        // After a tool, nothing fails.
        let (after, _) = coord_test_worlds::hook_forms::after(form, (form.edit)(folder, &folder.join("a.txt")));
        for input in ["", "[1]", "{}", "no JSON"] {
            let answer = hook(&world, folder, None, &[form.agent, after], input);
            assert_eq!(answer.status, 0, "{} {input}: {answer:?}", form.agent);
        }
        let answer = hook(&world, folder, None, &[form.agent, end], "no JSON");
        assert_eq!(answer.status, 1, "{}: {answer:?}", form.agent);
        let answer = hook(&world, folder, None, &[form.agent, "NoSuchEvent"], "{}");
        assert_eq!(answer.status, 1, "{}: {answer:?}", form.agent);
        assert!(
            answer.aside.contains("NoSuchEvent") && answer.aside.contains(before),
            "{answer:?}"
        );
    }
    assert_eq!(world.server(), None);
}

// rule: hooks#input
#[test]
fn input_that_does_not_end_is_not_waited_for() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = world.coord(world.clone.path());
    command.args(["hook", "claude-code", "PreToolUse"]);
    let pipes = command
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
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
        let mut command = world.coord(world.clone.path());
        let (event, call) =
            coord_test_worlds::hook_forms::read(form, world.clone.path(), &world.clone.path().join("a.txt"), false);
        command
            .args(["hook", form.agent, event])
            .stdin(std::process::Stdio::piped());
        let mut running = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        let mut input = running.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, call.to_string().as_bytes()).unwrap();
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
        let folder = world.clone.path();
        let ada = super::session(&world, form, Some("ada"));
        let (event, call) = (form.edit)(folder, &folder.join("a.txt"));
        let marked = format!("\u{feff}\u{feff} {call}");
        let half = call.to_string().replacen('{', "{\"x\":\"half \\ud83d\",", 1);
        for input in [marked, half] {
            let answer = hook(&world, folder, Some("ada"), &[form.agent, event], &input);
            assert_eq!(
                (answer.status, ada.denial(&answer)),
                (0, None),
                "{}: {answer:?}",
                form.agent
            );
        }
        // As all of the forms write it.
        std::fs::write(folder.join("a.txt"), "b").unwrap();
        let (event, mut call) = coord_test_worlds::hook_forms::after(form, (form.edit)(folder, &folder.join("a.txt")));
        call["tool_response"] = json!({ "originalFile": "A".repeat(3 << 20) });
        let answer = hook(&world, folder, Some("ada"), &[form.agent, event], &call.to_string());
        assert_eq!(answer.status, 0, "{}: {answer:?}", form.agent);
        // The hook recognizes the agent's own change.
        let answer = ada.edits("a.txt");
        assert_eq!(ada.denial(&answer), None, "{}: {answer:?}", form.agent);
    }
}

// rule: hooks#last-run
#[test]
fn each_call_is_noted_by_its_event() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = Session {
        world: &world,
        form: &CLAUDE_CODE,
        folder: world.clone.path(),
        holder: None,
    };
    let mark = |event: &str| world.clone.path().join(".git/coord/hooks/claude-code").join(event);
    assert!(!mark("PreToolUse").exists());
    ada.runs("cat a.txt");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let set = std::fs::File::options().append(true).open(mark("PreToolUse")).unwrap();
    set.set_modified(old).unwrap();
    ada.edits("a.txt");
    assert_ne!(std::fs::metadata(mark("PreToolUse")).unwrap().modified().unwrap(), old);
    ada.ends_turn();
    assert!(mark("Stop").exists());
}
