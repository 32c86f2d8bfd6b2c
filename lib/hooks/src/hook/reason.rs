//! Sentences for agents: why a tool is denied, and the next step.

use coord_agent::next_command::missing_branch_clause;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_intents::ledger::blank_credentials;
use coord_protocol::sentence::list_first;
use coord_protocol::{Action, ClientError, ErrorCode, Orchestration, PostResponse};

/// The documented sentence for agents when the locks are unknown.
fn offline(why: &str) -> String {
    format!("OFFLINE_MODE: {why}. Reading allowed, Writing disabled.")
}

/// The next step if no intent is selected.
pub(super) const SELECT_INTENT: &str = "select an intent with the tool select_active_intent or `coord intent select \
                                        ID` (`coord intent list` shows them), then repeat the call";

/// A refusal: the action, the reason and the next step.
pub(super) fn refusal(response: &PostResponse) -> String {
    refusal_with_code(
        response.error.as_ref().map(|error| error.error),
        &response.orchestration,
    )
}

pub(super) fn refusal_with_code(code: Option<ErrorCode>, orchestration: &Orchestration) -> String {
    let next = match code {
        Some(ErrorCode::IntentRequired | ErrorCode::IntentNotActive) => SELECT_INTENT,
        Some(ErrorCode::IntentBlocked | ErrorCode::BudgetExhausted | ErrorCode::CircuitOpen) => {
            "stop this work and ask your user: a person can unblock it (`coord intent unblock ID`); you may still \
             read, push and release files"
        }
        Some(ErrorCode::ScopeViolation) => return scope_refusal(&orchestration.reason),
        Some(code) if code.is_caller_mistake() => return format!("FIX: {}", orchestration.reason),
        Some(ErrorCode::FileOwned) => "work on something else, or ask your user, who may take the file over",
        _ => return describe(orchestration),
    };
    let name = match orchestration.action {
        Action::SwitchTask => "SWITCH_TASK",
        _ => "STOP",
    };
    format!("{name}: {}. Next: {next}.", orchestration.reason.trim_end_matches('.'))
}

pub(super) fn scope_refusal(reason: &str) -> String {
    format!(
        "STOP: {}. Next: leave the file alone, or propose an intent that supplements this one (`coord intent new \
         --supplements ID`) and select it.",
        reason.trim_end_matches('.')
    )
}

/// Why a claim for `work` has no valid response.
pub(super) async fn claim_failure(error: &ClientError, work: &Work) -> String {
    match error {
        ClientError::Refused { error, .. } if error.error == ErrorCode::UnknownBranch => format!(
            "STOP: branch {} is not known to the server. Next: {}, then repeat the edit.",
            work.branch,
            missing_branch_clause(work).await
        ),
        error => failure(error),
    }
}

/// Why a request has no valid response.
pub(super) fn failure(error: &ClientError) -> String {
    match error {
        ClientError::Refused {
            error, orchestration, ..
        } => match orchestration {
            Some(orchestration) => refusal_with_code(Some(error.error), orchestration),
            None => format!("STOP: {}", error.message),
        },
        error => offline(&error.to_string()),
    }
}

/// Why there is no connection to the server.
pub(super) fn unreachable(error: &anyhow::Error) -> String {
    offline(&format!("{error:#}"))
}

fn describe(orchestration: &Orchestration) -> String {
    let Orchestration {
        action,
        command,
        reason,
        ..
    } = orchestration;
    // This documented sentence is not changed.
    if reason.starts_with("OFFLINE_MODE") {
        return reason.clone();
    }
    let run = match command.as_deref() {
        Some(command) => format!("run `{command}`, then repeat the edit"),
        None => "repeat the edit after that".to_owned(),
    };
    let (name, next) = match action {
        Action::Pull => ("PULL", run),
        Action::Push => ("PUSH", run),
        Action::Wait if orchestration.is_for_background() => (
            "WAIT",
            format!(
                "`{}` in the background; {}",
                command.as_deref().unwrap_or_default(),
                free_files(orchestration).map_or("other work meanwhile".to_owned(), |free| format!(
                    "meanwhile, free: {free}"
                ))
            ),
        ),
        Action::Wait => ("WAIT", format!("{run}, or work on something else first")),
        Action::SwitchTask => {
            let examples = free_files(orchestration).map(|free| format!(", such as {free}"));
            (
                "SWITCH_TASK",
                format!("work on something else first{}", examples.unwrap_or_default()),
            )
        }
        Action::Stop => ("STOP", "leave the file alone, and tell your user".to_owned()),
        Action::Proceed => ("PROCEED", "repeat the edit".to_owned()),
    };
    format!("{name}: {}. Next: {next}.", reason.trim_end_matches('.'))
}

/// Files that the server reports as free, as a list.
fn free_files(orchestration: &Orchestration) -> Option<String> {
    let free = &orchestration.metadata.as_ref()?.free;
    (!free.is_empty()).then(|| list_files(free))
}

/// The message for a claim of `files`: the session's task, if that is known.
pub(super) fn claim_message(notes: &SessionNotes, files: &[String]) -> String {
    let task = notes.task.clone();
    task.unwrap_or_else(|| format!("Editing {}", list_files(files)))
}

/// A list of files for a sentence.
pub(super) fn list_files(files: &[impl AsRef<str>]) -> String {
    const MAX_LISTED: usize = 5;
    list_first(files.iter().map(|file| file.as_ref()), MAX_LISTED)
}

/// The first sentence of a prompt, as the message of claims, which others see. A dot within a word, as in the name of a
/// file, does not end the sentence.
pub(super) fn first_sentence(prompt: &str) -> Option<String> {
    const MAX_CHARS: usize = 160;
    let mut sentence = String::new();
    for word in prompt.split_whitespace().take(MAX_CHARS) {
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.extend(word.chars().filter(|character| !character.is_control()));
        if word.ends_with(['.', '!', '?']) {
            break;
        }
    }
    let sentence = blank_credentials(sentence.trim_end_matches(['.', '!', '?']));
    let sentence: String = sentence.chars().take(MAX_CHARS).collect();
    Some(sentence).filter(|sentence| sentence.chars().count() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_of_a_prompt_is_its_task() {
        for (prompt, sentence) in [
            (
                "Fix src/db.ts so that it retries. Then push.",
                Some("Fix src/db.ts so that it retries"),
            ),
            ("Add\n a   test for a.rs", Some("Add a test for a.rs")),
            ("Why? Because", Some("Why")),
            (
                "Deploy with API_KEY=0123456789abcdef please",
                Some("Deploy with API_KEY=[redacted] please"),
            ),
            ("ok", None),
            ("", None),
        ] {
            assert_eq!(first_sentence(prompt).as_deref(), sentence, "{prompt}");
        }
        assert_eq!(first_sentence(&"ä".repeat(500)).unwrap().chars().count(), 160);
    }

    #[test]
    fn the_reason_of_a_denial_leads_with_the_action_and_ends_with_the_next_step() {
        let wait = Orchestration::new(
            Action::Wait,
            "File 'a.ts' is locked by user 'bob' (DIRECT): Adding a pool",
        );
        assert_eq!(
            describe(&wait),
            "WAIT: File 'a.ts' is locked by user 'bob' (DIRECT): Adding a pool. Next: run `sleep 5`, then repeat the edit, or work on \
             something else first."
        );
        let pull = Orchestration::new(Action::Pull, "Your working copy lacks commit 1a2b3c4 of origin/main");
        assert_eq!(
            describe(&pull),
            "PULL: Your working copy lacks commit 1a2b3c4 of origin/main. Next: run `git pull --rebase`, then repeat the edit."
        );
        let offline = "OFFLINE_MODE: Vercel is unreachable. Reading allowed, Writing disabled.";
        assert_eq!(describe(&Orchestration::new(Action::Stop, offline)), offline);
    }
}
