//! The one decision: what an agent is told to do next.

use serde::Serialize;
use utoipa::ToSchema;

use super::{AgentId, Claim, CommitSha, schema};

/// What an agent is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Action {
    /// Fetch what the branch has.
    Pull,
    /// Publish what was written.
    Push,
    /// Ask again soon.
    Wait,
    /// Do something else meanwhile.
    SwitchTask,
    /// Do not go on.
    Stop,
    /// Go on.
    Proceed,
}

impl Action {
    /// The shell command that carries it out, where there is one.
    pub fn command(self) -> Option<&'static str> {
        match self {
            Action::Pull => Some("git pull --rebase"),
            Action::Push => Some("git push"),
            Action::Wait => Some("sleep 5"),
            Action::SwitchTask | Action::Stop | Action::Proceed => None,
        }
    }
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// `check_status`.
    Check,
    /// `post_status` with READING or WRITING.
    Claim(Claim),
    /// `post_status` with OPEN.
    Release,
}

/// What is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The store, or the source of the repository, gives no answer.
    pub is_offline: bool,
    /// The caller's working copy lacks the head of the branch.
    pub is_behind: bool,
    /// The caller already writes all that it claims.
    pub is_renewal: bool,
    /// Another's lock stands in the way.
    pub is_blocked: bool,
    /// Files that the caller wrote are not on the branch.
    pub is_unpushed: bool,
    /// A lock that the caller had is now another's.
    pub is_lost: bool,
}

/// What `check_status` calls the situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Nothing stands in the way.
    Ok,
    /// The working copy is behind.
    Stale,
    /// Another's lock stands in the way.
    Conflict,
    /// The state cannot be asked.
    Offline,
}

/// The status of `facts`: the first that holds.
pub fn status(facts: Facts) -> Status {
    match facts {
        Facts { is_offline: true, .. } => Status::Offline,
        Facts { is_blocked: true, .. } => Status::Conflict,
        Facts { is_behind: true, .. } => Status::Stale,
        _ => Status::Ok,
    }
}

/// What to do. The first rule that holds wins.
pub fn decide(question: Question, facts: Facts) -> Action {
    match question {
        Question::Check => match status(facts) {
            Status::Offline => Action::Stop,
            Status::Conflict => Action::SwitchTask,
            Status::Stale => Action::Pull,
            Status::Ok => Action::Proceed,
        },
        _ if facts.is_offline => Action::Stop,
        Question::Claim(Claim::Writing) if facts.is_behind && !facts.is_renewal => Action::Pull,
        Question::Claim(_) if facts.is_blocked => Action::Wait,
        Question::Release if facts.is_unpushed => Action::Push,
        Question::Release if facts.is_lost => Action::Stop,
        Question::Claim(_) | Question::Release => Action::Proceed,
    }
}

/// The command as agents get it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Orchestration {
    /// Always `orchestration_command`.
    #[serde(rename = "type")]
    #[schema(schema_with = schema::orchestration_command)]
    pub kind: &'static str,
    /// What to do.
    pub action: Action,
    /// The shell command for it, or `null`.
    #[schema(schema_with = schema::command, required = true)]
    pub command: Option<&'static str>,
    /// Why, in one sentence.
    pub reason: String,
    /// Particulars of PULL, PUSH, WAIT and some others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub metadata: Option<Metadata>,
}

/// Particulars of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Metadata {
    /// Head of the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub remote_head: Option<CommitSha>,
    /// Login of the holder of the first lock in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lock_owner: Option<String>,
    /// Which agent of that person, where it has said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub lock_owner_agent: Option<String>,
    /// The files whose locks are in the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(min_items = 1)]
    pub conflicts: Vec<String>,
    /// With PUSH, the files whose work is not on the branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(min_items = 1)]
    pub unpushed: Vec<String>,
    /// Seconds until the first of them expires by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    pub retry_after: Option<i64>,
}

impl Orchestration {
    /// `action` with its command.
    pub fn new(action: Action, reason: impl Into<String>) -> Self {
        Orchestration {
            kind: "orchestration_command",
            action,
            command: action.command(),
            reason: reason.into(),
            metadata: None,
        }
    }

    /// The same with particulars.
    pub fn with(mut self, metadata: Metadata) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Question = Question::Claim(Claim::Reading);
    const WRITE: Question = Question::Claim(Claim::Writing);

    /// Facts from letters: o offline, b behind, r renewal, c conflict, u unpushed, l lost.
    fn facts(letters: &str) -> Facts {
        Facts {
            is_offline: letters.contains('o'),
            is_behind: letters.contains('b'),
            is_renewal: letters.contains('r'),
            is_blocked: letters.contains('c'),
            is_unpushed: letters.contains('u'),
            is_lost: letters.contains('l'),
        }
    }

    #[test]
    fn the_first_rule_that_holds_decides() {
        for (question, letters, action, command) in [
            (Question::Check, "", Action::Proceed, None),
            (Question::Check, "b", Action::Pull, Some("git pull --rebase")),
            (Question::Check, "c", Action::SwitchTask, None),
            (Question::Check, "bc", Action::SwitchTask, None),
            (Question::Check, "o", Action::Stop, None),
            (Question::Check, "obc", Action::Stop, None),
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
            (WRITE, "r", Action::Proceed, None),
            (WRITE, "br", Action::Proceed, None),
            (WRITE, "obr", Action::Stop, None),
            (Question::Release, "", Action::Proceed, None),
            (Question::Release, "b", Action::Proceed, None),
            (Question::Release, "c", Action::Proceed, None),
            (Question::Release, "u", Action::Push, Some("git push")),
            (Question::Release, "l", Action::Stop, None),
            (Question::Release, "ul", Action::Push, Some("git push")),
            (Question::Release, "oul", Action::Stop, None),
        ] {
            let decided = decide(question, facts(letters));
            assert_eq!(
                (decided, decided.command()),
                (action, command),
                "{question:?} with {letters:?}"
            );
        }
    }

    #[test]
    fn the_status_names_the_first_thing_in_the_way() {
        for (letters, expected) in [
            ("", Status::Ok),
            ("b", Status::Stale),
            ("c", Status::Conflict),
            ("bc", Status::Conflict),
            ("obc", Status::Offline),
        ] {
            assert_eq!(status(facts(letters)), expected, "{letters:?}");
        }
    }
}
