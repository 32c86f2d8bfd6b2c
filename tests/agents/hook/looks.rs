//! The activity of other agents, as the model gets it.

use serde_json::Value;

use super::{claude, session};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, Form};
use coord_test_worlds::world::World;

/// The text for the model in the body of an answer, in the agent's form.
pub fn context(form: &Form, body: &Value) -> Option<String> {
    let field = match form.agent {
        "claude-code" | "codex" | "gemini" => &body["hookSpecificOutput"]["additionalContext"],
        "cursor" => &body["additional_context"],
        "copilot" => &body["additionalContext"],
        _ => &body["context"],
    };
    field.as_str().map(str::to_owned)
}

/// Whether an agent takes text for its model, by its documents: at the start, at a prompt. After a tool, all do.
pub(super) fn takes(form: &Form) -> (bool, bool) {
    match form.agent {
        "claude-code" | "codex" | "gemini" => (true, true),
        "cursor" | "copilot" => (true, false),
        _ => (false, true),
    }
}

#[test]
fn a_session_gets_the_locks_of_others_and_no_text_when_it_is_alone() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let ada = session(&world, form, None);
        ada.may_edit("b.txt");
        for answer in [ada.starts(), ada.gets_prompt("Change b.txt a bit")] {
            let outcome = (answer.status, ada.text(&answer));
            assert_eq!(outcome, (0, None), "{}: {answer:?}", form.agent);
        }
        let bob = claude(&world, "bob");
        bob.gets_prompt("Rewrite a.txt");
        bob.may_edit("a.txt");
        let start = ada.text(&ada.starts());
        let prompt = ada.text(&ada.gets_prompt("And now the rest"));
        let (at_start, at_prompt) = takes(form);
        for (text, is_taken) in [(start, at_start), (prompt, at_prompt)] {
            assert_eq!(text.is_some(), is_taken, "{}: {text:?}", form.agent);
            let Some(text) = text else { continue };
            assert_has(&text, &[" (bob): a.txt: \u{201c}Rewrite a.txt\u{201d}"]);
            assert!(!text.contains("b.txt"), "{text}");
        }
    }
}

/// The whole list came again with each prompt.
#[test]
fn a_prompt_gets_the_changes_since_the_last_one() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
        let (ada, bob) = (session(&world, form, None), claude(&world, "bob"));
        let next_text = || ada.text(&ada.gets_prompt("Go on with it"));
        bob.gets_prompt("Rewrite it all");
        bob.may_edit("a.txt");
        ada.starts();
        if matches!(form.agent, "cursor" | "copilot") {
            assert_eq!(next_text(), None, "{}", form.agent);
            continue;
        }
        if form.agent == "opencode" {
            // Its session has no room for it.
            assert_has(&next_text().unwrap(), &["a.txt"]);
        }
        assert_eq!(next_text(), None, "{}", form.agent);
        bob.may_edit("b.txt");
        let text = next_text().unwrap();
        assert!(text.contains(" (bob): a.txt, b.txt: "), "{}: {text}", form.agent);
        assert_eq!(next_text(), None, "{}", form.agent);
        bob.ends_turn();
        let text = next_text().unwrap();
        assert!(text.contains(" (bob): now holds no files"), "{}: {text}", form.agent);
        assert_eq!(next_text(), None, "{}", form.agent);
    }
}

#[test]
fn many_sessions_are_listed_in_at_most_twelve_lines() {
    let world = World::with(&[("a.txt", "a")]);
    for number in 0..13 {
        claude(&world, &format!("agent-{number}")).may_edit(&format!("new-{number}.txt"));
    }
    let ada = session(&world, &CLAUDE_CODE, None);
    let text = ada.text(&ada.starts()).unwrap();
    assert_eq!(text.lines().count(), 12, "{text}");
    assert!(text.ends_with("and 3 more"), "{text}");
}
