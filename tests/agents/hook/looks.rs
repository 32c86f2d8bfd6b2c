//! The activity of other agents, as the model is told.

use serde_json::Value;

use super::session;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, Form};
use coord_test_worlds::world::World;

/// The text for the model, in the agent's form, of an answer to the event `event`.
pub fn context(form: &Form, body: &Value) -> Option<String> {
    let field = match form.agent {
        "claude-code" | "codex" | "gemini" => &body["hookSpecificOutput"]["additionalContext"],
        "cursor" => &body["additional_context"],
        "copilot" => &body["additionalContext"],
        _ => &body["context"],
    };
    field.as_str().map(str::to_owned)
}

#[test]
fn a_session_gets_the_locks_of_others_and_no_text_when_it_is_alone() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let ada = session(&world, form, None);
        assert_eq!(ada.denial(&ada.edits("b.txt")), None);
        for answer in [ada.starts(), ada.gets_prompt("Change b.txt a bit")] {
            assert_eq!(
                (answer.status, context(form, &answer.body)),
                (0, None),
                "{}: {answer:?}",
                form.agent
            );
        }
        let bob = session(&world, &CLAUDE_CODE, Some("bob"));
        bob.gets_prompt("Rewrite a.txt");
        assert_eq!(bob.denial(&bob.edits("a.txt")), None);
        let start = context(form, &ada.starts().body);
        let prompt = context(form, &ada.gets_prompt("And now the rest").body);
        // The documents of each: where text for the model is taken.
        let (at_start, at_prompt) = match form.agent {
            "claude-code" | "codex" | "gemini" => (true, true),
            "cursor" | "copilot" => (true, false),
            _ => (false, true),
        };
        for (text, is_taken) in [(start, at_start), (prompt, at_prompt)] {
            assert_eq!(text.is_some(), is_taken, "{}: {text:?}", form.agent);
            let Some(text) = text else { continue };
            assert!(
                text.contains(" (bob): a.txt: \u{201c}Rewrite a.txt\u{201d}") && !text.contains("b.txt"),
                "{text}"
            );
        }
    }
}

/// The whole list came again with each prompt.
#[test]
fn a_prompt_gets_the_changes_since_the_last_one() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
        let (ada, bob) = (session(&world, form, None), session(&world, &CLAUDE_CODE, Some("bob")));
        let next_text = || context(form, &ada.gets_prompt("Go on with it").body);
        bob.gets_prompt("Rewrite it all");
        assert_eq!(bob.denial(&bob.edits("a.txt")), None);
        ada.starts();
        if matches!(form.agent, "cursor" | "copilot") {
            assert_eq!(next_text(), None, "{}", form.agent);
            continue;
        }
        if form.agent == "opencode" {
            // Its session has no room for it.
            assert!(next_text().unwrap().contains("a.txt"));
        }
        assert_eq!(next_text(), None, "{}", form.agent);
        assert_eq!(bob.denial(&bob.edits("b.txt")), None);
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
        let holder = format!("agent-{number}");
        let one = session(&world, &CLAUDE_CODE, Some(&holder));
        assert_eq!(one.denial(&one.edits(&format!("new-{number}.txt"))), None);
    }
    let ada = session(&world, &CLAUDE_CODE, None);
    let text = context(&CLAUDE_CODE, &ada.starts().body).unwrap();
    assert_eq!(text.lines().count(), 12, "{text}");
    assert!(text.ends_with("and 3 more"), "{text}");
}
