//! Refusals by the rules of teams, as errors for agents: a code, and the next step.

use coord_protocol::{Action, AgentError, ErrorBody, ErrorCode, Metadata, Orchestration, Waiting};

use coord_domain::format_instant;
use coord_server::error::ApiError;
use coord_teams_state::teams::{Refused, TeamRefusal};

/// A refusal by the rules of a team, and the caller's pending items in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{refusal}")]
pub struct TeamRefused {
    pub refusal: TeamRefusal,
    pub waiting: Waiting,
}

impl From<TeamRefused> for ApiError {
    fn from(refused: TeamRefused) -> Self {
        match &refused.refusal {
            TeamRefusal::HeadRequired { id, field } => {
                let (field, example) = match field.as_str() {
                    "new_repo_head" => (
                        "new_repo_head",
                        "new_repo_head, the pushed commit, branch and agent_head",
                    ),
                    _ => ("agent_head", "branch and agent_head (git rev-parse HEAD)"),
                };
                let problem = format!(
                    "is required, because task {id} has files: send {example}, or \"claim_files\": false to leave them alone"
                );
                ApiError::invalid_field(field, problem)
            }
            refusal => ApiError::Extension(Box::new(AgentError {
                error: ErrorBody {
                    error: code(refusal),
                    message: refusal.to_string(),
                    field: field(refusal).map(str::to_owned),
                },
                orchestration: orchestration(refusal),
                waiting: refused.waiting,
            })),
        }
    }
}

impl From<Box<Refused>> for TeamRefused {
    fn from(refused: Box<Refused>) -> Self {
        TeamRefused {
            refusal: refused.refusal,
            waiting: refused.waiting.into(),
        }
    }
}

/// Declares for each refusal its code, the invalid field if there is one, the command, and the hint after its sentence.
macro_rules! refusals {
    ($($name:ident = $code:ident $(of $field:literal)?, $action:ident: $hint:literal;)*) => {
        fn code(refusal: &TeamRefusal) -> ErrorCode {
            match refusal {
                $(TeamRefusal::$name { .. } => ErrorCode::$code,)*
            }
        }

        fn field(refusal: &TeamRefusal) -> Option<&'static str> {
            match refusal {
                $($(TeamRefusal::$name { .. } => Some($field),)?)*
                _ => None,
            }
        }

        fn command(refusal: &TeamRefusal) -> (Action, &'static str) {
            match refusal {
                $(TeamRefusal::$name { .. } => (Action::$action, $hint),)*
            }
        }
    };
}

refusals! {
    NoTeam = UnknownTeam of "team", Stop: "list the teams, or create one";
    NoTask = UnknownTask of "id", Stop: "list the tasks of the team";
    NotAMember = NotAMember, Stop: "join the team first";
    NotLeader = NotLeader, Stop: "send the leader a message";
    NotCreator = NotCreator, Stop: "send one of them a message";
    Superseded = Superseded, Stop: "leave its inbox and its tasks to that agent";
    TeamClosed = TeamClosed, Stop: "read it, or create another team to continue";
    TeamExists = TeamExists of "name", Stop: "join it, or choose another name";
    TooMany = TooMany, Stop: "send fewer, or complete, release or remove some first";
    AlreadyMember = AlreadyMember, Stop: "continue with this handle";
    HandleTaken = HandleTaken of "handle", Stop: "another login has this handle: choose another";
    // Its sentence has the alternative.
    LeaderStays = LeaderStays, Stop: "";
    MembersLive = MembersLive, Wait: "ask for a shutdown, or wait until they have left";
    NoRecipient = UnknownRecipient, Stop: "show the team: it has the handles of its members";
    HasStopped = UnknownRecipient, Stop: "name another member, or wait until it has joined again";
    InboxFull = InboxFull, Wait: "wait until that member has read messages";
    CursorAhead = CursorAhead of "cursor", Stop: "read without a cursor";
    KeyReused = KeyReused of "request_key", Stop: "send another key";
    TaskExists = TaskExists, Stop: "leave the id out, or choose another";
    NoDependency = UnknownDependency of "dependencies", Stop: "list the tasks of the team, or name a task of the same request by its ref";
    NoBlocked = UnknownDependency of "blocks", Stop: "list the tasks of the team, or name a task of the same request by its ref";
    Circular = CircularDependency of "dependencies", Stop: "leave one of these dependencies out";
    InvalidTransition = InvalidTransition, Stop: "a status only moves forward: claim the task, then complete it";
    NotByEdit = InvalidTransition, Stop: "claim it, and complete it once the work is done";
    TaskUnavailable = TaskUnavailable, SwitchTask: "take another task";
    TaskTaken = TaskTaken, SwitchTask: "take another task, or wait until the claim ends";
    HeldBack = TaskHeldBack, SwitchTask: "take another task";
    Reserved = TaskReserved, SwitchTask: "take another task, or wait until the reservation ends";
    DependenciesUnmet = DependenciesUnmet, SwitchTask: "work on its dependencies first";
    ShuttingDown = ShuttingDown, Stop: "complete or release your tasks, and answer the shutdown; if you have approved it, wait until it is over";
    ClaimLost = ClaimLost, Stop: "do not write your changes";
    NotOwner = NotOwner, Stop: "claim it first";
    NotesFull = NotesFull, Stop: "leave the note out, or edit the description instead";
    // It becomes an error of the field: see `From<TeamRefused>`.
    HeadRequired = InvalidField, Stop: "";
    OtherBranch = OtherBranch of "branch", Stop: "work on that branch, or take another task";
    FilesClaimed = FilesClaimed, SwitchTask: "complete or release that task first";
    DependedOn = DependedOn, Stop: "send unlink=true to remove it anyway";
    ShutdownOpen = ShutdownOpen, Wait: "wait until it has ended";
    NoShutdown = UnknownShutdown, Stop: "show the team: it has the open shutdown, if there is one";
    NotAsked = UnknownShutdown, Stop: "leave the answer to its target";
    Answered = ShutdownAnswered, Stop: "end your work in this team";
    TooEarly = ShutdownTooEarly, Wait: "the members may still answer";
}

/// The hint for a member that has approved the shutdown.
const STOPPED: &str = "you have stopped: join the team again to continue; you can claim tasks once no shutdown is open";

/// The next step: the sentence of the refusal, and the hint.
fn orchestration(refusal: &TeamRefusal) -> Orchestration {
    use TeamRefusal as Refusal;
    let (action, hint) = match refusal {
        Refusal::ShuttingDown { id, .. } if id.is_empty() => (Action::Stop, STOPPED),
        _ => command(refusal),
    };
    let mut reason = refusal.to_string();
    let (task_id, task_owner, until) = match refusal {
        Refusal::TaskTaken { id, owner, expires, .. } => (Some(id), Some(owner), Some(*expires)),
        Refusal::Reserved { id, assignee, until } => (Some(id), Some(assignee), Some(*until)),
        Refusal::ClaimLost { id, owner, .. } | Refusal::NotOwner { id, owner, .. } => {
            (Some(id), Some(owner).filter(|owner| !owner.is_empty()), None)
        }
        Refusal::TaskUnavailable { id, .. }
        | Refusal::NotByEdit { id, .. }
        | Refusal::HeldBack { id, .. }
        | Refusal::DependenciesUnmet { id, .. }
        | Refusal::NotesFull { id }
        | Refusal::OtherBranch { id, .. }
        | Refusal::FilesClaimed { id, .. }
        | Refusal::DependedOn { id, .. } => (Some(id), None, None),
        Refusal::TooEarly { respond_by, .. } => (None, None, Some(*respond_by)),
        _ => (None, None, None),
    };
    if let Refusal::TaskTaken { owner, .. } = refusal {
        reason.push_str(&format!(": \"{owner}\" has it"));
    }
    if let Some(until) = until {
        reason.push_str(&format!(" until {}", format_instant(until)));
    }
    if !hint.is_empty() {
        reason.push_str("; ");
        reason.push_str(hint);
    }
    let orchestration = Orchestration::new(action, reason);
    if task_id.is_none() {
        return orchestration;
    }
    orchestration.with(Metadata {
        task_id: task_id.cloned(),
        task_owner: task_owner.cloned(),
        retry_after: until.map(seconds_until),
        ..Metadata::default()
    })
}

/// Seconds until a time in Unix milliseconds, at least one. Uses this process's clock, which is close to the store's.
fn seconds_until(until: i64) -> i64 {
    (until - chrono::Utc::now().timestamp_millis()).div_euclid(1000).max(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the refusals: its words are as many `1`.
    fn all() -> Vec<TeamRefusal> {
        let text = || "1".to_owned();
        macro_rules! refusals {
            ($($variant:ident { $($field:ident: $value:expr),* })*) => {
                vec![$(TeamRefusal::$variant { $($field: $value),* }),*]
            };
        }
        refusals! {
            NoTeam { team: text() }
            NotAMember { who: text(), team: text() }
            Superseded { handle: text(), agent: text() }
            TeamClosed { team: text() }
            TeamExists { team: text() }
            TooMany { what: text(), most: 1 }
            AlreadyMember { handle: text(), team: text() }
            HandleTaken { handle: text(), team: text() }
            NotLeader { leader: text(), team: text() }
            LeaderStays { team: text() }
            MembersLive { team: text(), live: vec![text()], count: 1 }
            NoRecipient { handle: text(), team: text() }
            HasStopped { handle: text(), team: text() }
            InboxFull { handle: text(), unread: 1 }
            CursorAhead { cursor: 1, newest: 1 }
            KeyReused { key: text() }
            NoTask { id: text(), team: text() }
            TaskExists { id: text() }
            NoDependency { id: text() }
            NoBlocked { id: text() }
            Circular { ring: vec![text()], more: 1 }
            InvalidTransition { from: text(), to: text() }
            NotByEdit { id: text(), from: text(), to: text() }
            TaskUnavailable { id: text(), status: text() }
            TaskTaken { id: text(), status: text(), owner: text(), expires: 1 }
            HeldBack { id: text(), lapses: 1, creator: text(), leader: text() }
            Reserved { id: text(), assignee: text(), until: 1 }
            DependenciesUnmet { id: text(), unmet: vec![text()] }
            ShuttingDown { id: text(), reason: text() }
            ClaimLost { id: text(), owner: text(), status: text() }
            NotOwner { id: text(), owner: text(), status: text() }
            NotCreator { creator: text(), leader: text() }
            NotesFull { id: text() }
            HeadRequired { id: text(), field: text() }
            OtherBranch { id: text(), branch: text(), sent: text() }
            FilesClaimed { id: text(), other: text(), file: text() }
            DependedOn { id: text(), other: text() }
            ShutdownOpen { id: text(), target: text(), by: text() }
            NoShutdown { id: text(), team: text() }
            NotAsked { id: text(), handle: text() }
            Answered { id: text(), handle: text() }
            TooEarly { id: text(), respond_by: 1 }
        }
    }

    fn name(refusal: &TeamRefusal) -> String {
        let text = format!("{refusal:?}");
        text.split(' ').next().unwrap_or_default().to_owned()
    }

    /// Agents obey the action: it is part of the protocol.
    #[test]
    fn each_refusal_has_its_action() {
        let of = |action| {
            let refusals = all();
            let names = refusals
                .iter()
                .filter(|refusal| orchestration(refusal).action == action);
            names.map(name).collect::<Vec<_>>()
        };
        assert_eq!(
            of(Action::Wait),
            ["MembersLive", "InboxFull", "ShutdownOpen", "TooEarly"]
        );
        assert_eq!(
            of(Action::SwitchTask),
            [
                "TaskUnavailable",
                "TaskTaken",
                "HeldBack",
                "Reserved",
                "DependenciesUnmet",
                "FilesClaimed"
            ]
        );
        assert_eq!(of(Action::Stop).len(), all().len() - 10);
    }

    /// Some only named the problem.
    #[test]
    fn each_refusal_names_the_next_step() {
        for refusal in all() {
            let says_it_itself = ["LeaderStays", "HeadRequired"].contains(&name(&refusal).as_str());
            let sentence = refusal.to_string();
            let reason = orchestration(&refusal).reason;
            let rest = reason.strip_prefix(&sentence).unwrap_or_else(|| panic!("{reason}"));
            let hint = rest.split_once("; ").map_or("", |(_, hint)| hint);
            assert_eq!(hint.is_empty(), says_it_itself, "{reason}");
        }
    }

    #[test]
    fn a_temporary_refusal_has_retry_after() {
        let until = chrono::Utc::now().timestamp_millis() + 60_000;
        let (id, name) = ("t1".to_owned(), "bob".to_owned());
        let taken = TeamRefusal::TaskTaken {
            id: id.clone(),
            status: "in_progress".to_owned(),
            owner: name.clone(),
            expires: until,
        };
        let reserved = TeamRefusal::Reserved {
            id,
            assignee: name,
            until,
        };
        for refusal in [taken, reserved] {
            let seconds = orchestration(&refusal).metadata.unwrap().retry_after.unwrap();
            assert!((58..=61).contains(&seconds), "{seconds}");
        }
    }

    /// Stopped members were told to answer the shutdown that they had approved.
    #[test]
    fn a_stopped_member_must_rejoin_and_a_requested_one_must_answer_the_shutdown() {
        let hint = |id: &str| {
            let (id, reason) = (id.to_owned(), "It is late".to_owned());
            orchestration(&TeamRefusal::ShuttingDown { id, reason }).reason
        };
        assert!(
            hint("").contains("; you have stopped: join the team again"),
            "{}",
            hint("")
        );
        assert!(!hint("").contains("answer the shutdown"));
        assert!(hint("s1").contains("answer the shutdown") && hint("s1").contains("wait until it is over"));
    }
}
