//! A session that has ended its turn is woken by a file that is free, or by a message.

use std::process::Child;
use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;
use serde_json::{Value, json};

use super::looks::context;
use super::{Answer, Session, claude, held, session};
use crate::commands::printed;
use crate::processes::start_with;
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{CLAUDE_CODE, COPILOT, Form};
use coord_test_worlds::world::World;

/// The session's hook that waits, as the agent runs it in the background.
fn waiting(ada: &Session<'_>, entrypoint: &str, more: Value) -> Child {
    let (_, mut call) = (ada.form.turn_end)(ada.folder);
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let event = match ada.form.agent {
        "copilot" => "notification",
        _ => "Idle",
    };
    let mut command = ada.world.coord(ada.folder);
    command
        .args(["hook", ada.form.agent, event])
        .env("CLAUDE_CODE_ENTRYPOINT", entrypoint)
        .env("COORD_AGENT", ada.holder.unwrap());
    start_with(command, &call.to_string())
}

/// In which the agent waits in the background.
pub fn interactive(ada: &Session<'_>) -> Child {
    waiting(ada, "cli", json!({ "notification_type": "agent_idle" }))
}

pub fn answered(running: Child) -> Answer {
    Answer::of(&running.wait_with_output().unwrap())
}

/// The text that wakes the model.
pub fn woken(form: &Form, answer: &Answer) -> String {
    match form.agent {
        "copilot" => context(form, &answer.body).unwrap_or_default(),
        _ => {
            assert_eq!(answer.status, 2, "{answer:?}");
            answer.aside.clone()
        }
    }
}

/// Until the hook waits in the place of the session.
pub fn block_until_it_waits(world: &World, holder: &str) {
    let waiter = world.sessions().join(format!("{holder}.notes.waiter"));
    block_until("the hook waits", || waiter.exists());
}

// rule: hooks#rewake
#[test]
fn a_file_that_is_free_again_is_the_sessions_and_wakes_it() {
    for form in [&CLAUDE_CODE, &COPILOT] {
        let world = World::with(&[("a.txt", "a")]);
        let (ada, bob) = (session(&world, form, Some("ada")), claude(&world, "bob"));
        bob.may_edit("a.txt");
        ada.may_not_edit("a.txt");
        ada.ends_turn();
        let hook = interactive(&ada);
        block_until_it_waits(&world, "ada");
        bob.ends_turn();
        let answer = answered(hook);
        let text = woken(form, &answer);
        assert!(text.starts_with("Coord: you hold a.txt now"), "{answer:?}");
        assert_eq!(held(&world), ["a.txt ada"]);
        // It waits for nothing any more.
        assert_eq!(answered(interactive(&ada)).status, 0);
    }
}

#[test]
fn a_message_wakes_the_session_and_is_handed_over_once() {
    let world = World::with(&[("a.txt", "a")]);
    let run = |who: &str, args: &[&str]| printed(&world, &[args, &["--agent", who]].concat(), 0);
    run("lead", &["team", "create", "alpha"]);
    run("ada", &["team", "join", "alpha"]);
    let ada = claude(&world, "ada");
    ada.starts();
    ada.ends_turn();
    let hook = interactive(&ada);
    block_until_it_waits(&world, "ada");
    run("lead", &["message", "send", "--to", "ada", "query() is async now"]);
    let text = woken(&CLAUDE_CODE, &answered(hook));
    assert_has(&text, &["\n> query() is async now"]);
    let text = ada.text(&ada.gets_prompt("Go on with it"));
    assert!(!text.unwrap_or_default().contains("query()"));
}

// rule: hooks#rewake
#[test]
fn the_idle_hook_ends_at_once_without_a_queued_claim_or_a_listener() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = claude(&world, "ada");
    let started = Instant::now();
    let is_silent = |hook: Child| {
        let answer = answered(hook);
        assert_eq!((answer.status, answer.body), (0, Value::Null), "{}", answer.aside);
    };
    is_silent(interactive(&ada));
    claude(&world, "bob").may_edit("a.txt");
    ada.may_not_edit("a.txt");
    // The agent would wait for the hook, or another agent runs the same hooks.
    is_silent(waiting(&ada, "sdk-cli", json!({})));
    is_silent(waiting(&ada, "", json!({})));
    let eve = session(&world, &COPILOT, Some("eve"));
    eve.may_not_edit("a.txt");
    let completed = json!({ "notification_type": "shell_completed" });
    is_silent(waiting(&eve, "cli", completed));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn a_prompt_ends_the_wait_and_so_does_a_newer_one() {
    let world = World::with(&[("a.txt", "a")]);
    let (ada, bob) = (claude(&world, "ada"), claude(&world, "bob"));
    bob.may_edit("a.txt");
    ada.may_not_edit("a.txt");
    let first = interactive(&ada);
    block_until_it_waits(&world, "ada");
    ada.gets_prompt("Do something else");
    assert_eq!(answered(first).status, 0);
    assert_eq!(held(&world), ["a.txt bob"]);
}
