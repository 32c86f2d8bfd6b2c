//! The one decision: the next command for an agent.

use super::LockMode;
use coord_protocol::ErrorCode;
pub use coord_protocol::{Action, Metadata, Orchestration, Status};

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `check_status`.
    Check,
    /// `post_status` with READING or WRITING.
    Claim(LockMode),
    /// `post_status` with OPEN.
    Release,
}

/// The facts about a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The store, or the source of the repository, does not respond.
    pub is_offline: bool,
    /// The caller's working copy lacks the head of the branch.
    pub is_behind: bool,
    /// The caller already holds all requested files for writing.
    pub is_renewal: bool,
    /// Someone else's lock blocks the request.
    pub is_blocked: bool,
    /// Files that the caller wrote are not on the branch.
    pub is_unpushed: bool,
    /// A lock of the caller has passed to another holder.
    pub is_lost: bool,
    /// Why intents refuse the request: the [`first_refusal`].
    pub refused: Option<ErrorCode>,
}

/// Why intents can refuse a claim to write, in the order of the checks.
const REFUSALS: [ErrorCode; 7] = [
    ErrorCode::IntentRequired,
    ErrorCode::IntentNotActive,
    ErrorCode::IntentBlocked,
    ErrorCode::ScopeViolation,
    ErrorCode::FileOwned,
    ErrorCode::BudgetExhausted,
    ErrorCode::CircuitOpen,
];

/// The code that refuses a request to which all of `codes` apply; the others are warnings.
pub fn first_refusal(codes: &[ErrorCode]) -> Option<ErrorCode> {
    REFUSALS.into_iter().find(|code| codes.contains(code))
}

/// The command for a refusal by intents. An intent that owns a file does so for a long time, so the agent should do
/// other work; every other refusal needs a person's decision.
fn refusal_action(refusal: ErrorCode) -> Action {
    match refusal {
        ErrorCode::FileOwned => Action::SwitchTask,
        _ => Action::Stop,
    }
}

/// The first status that applies to `facts`.
pub fn status(facts: Facts) -> Status {
    match facts {
        Facts { is_offline: true, .. } => Status::Offline,
        Facts { is_blocked: true, .. } | Facts { refused: Some(_), .. } => Status::Conflict,
        Facts { is_behind: true, .. } => Status::Stale,
        _ => Status::Ok,
    }
}

/// The next command for the caller. The first rule that applies wins.
pub fn decide(operation: Operation, facts: Facts) -> Action {
    let is_gated = matches!(operation, Operation::Check | Operation::Claim(LockMode::Writing));
    if let Some(refusal) = facts.refused.filter(|_| is_gated && !facts.is_offline) {
        return refusal_action(refusal);
    }
    match operation {
        Operation::Check => match status(facts) {
            Status::Offline => Action::Stop,
            Status::Conflict => Action::SwitchTask,
            Status::Stale => Action::Pull,
            Status::Ok => Action::Proceed,
        },
        _ if facts.is_offline => Action::Stop,
        Operation::Claim(LockMode::Writing) if facts.is_behind && !facts.is_renewal => Action::Pull,
        Operation::Claim(_) if facts.is_blocked => Action::Wait,
        Operation::Release if facts.is_unpushed => Action::Push,
        Operation::Release if facts.is_lost => Action::Stop,
        Operation::Claim(_) | Operation::Release => Action::Proceed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Operation = Operation::Claim(LockMode::Reading);
    const WRITE: Operation = Operation::Claim(LockMode::Writing);

    /// Facts from letters: o offline, b behind, r renewal, c conflict, u unpushed, l lost, s outside of the scope,
    /// f owned by another intent.
    fn facts(letters: &str) -> Facts {
        Facts {
            is_offline: letters.contains('o'),
            is_behind: letters.contains('b'),
            is_renewal: letters.contains('r'),
            is_blocked: letters.contains('c'),
            is_unpushed: letters.contains('u'),
            is_lost: letters.contains('l'),
            refused: match letters {
                letters if letters.contains('s') => Some(ErrorCode::ScopeViolation),
                letters if letters.contains('f') => Some(ErrorCode::FileOwned),
                _ => None,
            },
        }
    }

    #[test]
    fn the_first_rule_that_holds_decides() {
        for (operation, letters, action, command) in [
            (Operation::Check, "", Action::Proceed, None),
            (Operation::Check, "b", Action::Pull, Some("git pull --rebase")),
            (Operation::Check, "c", Action::SwitchTask, None),
            (Operation::Check, "bc", Action::SwitchTask, None),
            (Operation::Check, "o", Action::Stop, None),
            (Operation::Check, "obc", Action::Stop, None),
            (READ, "", Action::Proceed, None),
            (READ, "b", Action::Proceed, None),
            (READ, "c", Action::Wait, Some("sleep 5")),
            (READ, "bc", Action::Wait, Some("sleep 5")),
            (READ, "obc", Action::Stop, None),
            (WRITE, "", Action::Proceed, None),
            (WRITE, "b", Action::Pull, Some("git pull --rebase")),
            (WRITE, "c", Action::Wait, Some("sleep 5")),
            (WRITE, "bc", Action::Pull, Some("git pull --rebase")),
            (WRITE, "obc", Action::Stop, None),
            (Operation::Check, "s", Action::Stop, None),
            (Operation::Check, "f", Action::SwitchTask, None),
            (Operation::Check, "bcs", Action::Stop, None),
            (Operation::Check, "of", Action::Stop, None),
            (READ, "s", Action::Proceed, None),
            (READ, "cf", Action::Wait, Some("sleep 5")),
            (WRITE, "s", Action::Stop, None),
            (WRITE, "f", Action::SwitchTask, None),
            (WRITE, "bcf", Action::SwitchTask, None),
            (WRITE, "rs", Action::Stop, None),
            (WRITE, "of", Action::Stop, None),
            (Operation::Release, "s", Action::Proceed, None),
            (WRITE, "r", Action::Proceed, None),
            (WRITE, "br", Action::Proceed, None),
            (WRITE, "obr", Action::Stop, None),
            (Operation::Release, "", Action::Proceed, None),
            (Operation::Release, "b", Action::Proceed, None),
            (Operation::Release, "c", Action::Proceed, None),
            (Operation::Release, "u", Action::Push, Some("git push")),
            (Operation::Release, "l", Action::Stop, None),
            (Operation::Release, "ul", Action::Push, Some("git push")),
            (Operation::Release, "oul", Action::Stop, None),
        ] {
            let decided = decide(operation, facts(letters));
            assert_eq!(
                (decided, decided.command()),
                (action, command),
                "{operation:?} with {letters:?}"
            );
        }
    }

    #[test]
    fn the_status_names_the_first_conflict_by_rank() {
        for (letters, expected) in [
            ("", Status::Ok),
            ("b", Status::Stale),
            ("c", Status::Conflict),
            ("bc", Status::Conflict),
            ("obc", Status::Offline),
            ("f", Status::Conflict),
            ("bs", Status::Conflict),
            ("os", Status::Offline),
        ] {
            assert_eq!(status(facts(letters)), expected, "{letters:?}");
        }
    }

    #[test]
    fn of_all_refusals_by_intents_the_first_in_their_order_counts() {
        assert_eq!(first_refusal(&[]), None);
        for (index, code) in REFUSALS.into_iter().enumerate() {
            let mut codes = REFUSALS[index..].to_vec();
            codes.reverse();
            assert_eq!(first_refusal(&codes), Some(code));
            assert_eq!(code.intent_action(), Some(refusal_action(code)), "as its event has it");
        }
    }

    #[test]
    fn the_event_of_a_refusal_has_the_command_that_its_caller_got() {
        use coord_protocol::event::RefusalReason;
        for (reason, operation, letters) in [
            (RefusalReason::Stale, WRITE, "b"),
            (RefusalReason::Conflict, WRITE, "c"),
            (RefusalReason::Conflict, READ, "c"),
            (RefusalReason::NotPushed, Operation::Release, "u"),
            (RefusalReason::Lost, Operation::Release, "l"),
        ] {
            assert_eq!(reason.action(), Some(decide(operation, facts(letters))), "{reason:?}");
        }
        assert_eq!(
            RefusalReason::Full.action(),
            None,
            "it depends on whose locks there are"
        );
    }
}
