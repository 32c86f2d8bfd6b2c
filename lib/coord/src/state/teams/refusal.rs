//! Refusals by the rules of teams: nothing was changed.

use super::waiting::Waiting;
use crate::state::reply::Reply;
use crate::store::StoreError;

/// A refusal by the rules of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub refusal: TeamRefusal,
    /// What waits for the caller in the team.
    pub waiting: Waiting,
}

/// Why the rules of a team refuse a request. [`std::fmt::Display`] writes the documented sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentences name the fields")]
pub enum TeamRefusal {
    /// There is no such team.
    #[error("Team \"{team}\" does not exist")]
    NoTeam { team: String },
    /// The caller is not in the team.
    #[error("\"{who}\" is not a member of team \"{team}\"")]
    NotAMember { who: String, team: String },
    /// Another agent of the same login has the handle now.
    #[error("Agent \"{handle}\" goes on as another agent (\"{agent}\"): this one is superseded")]
    Superseded { handle: String, agent: String },
    /// The team is closed.
    #[error("Team \"{team}\" is closed")]
    TeamClosed { team: String },
    /// A team of that name exists.
    #[error("Team \"{team}\" already exists")]
    TeamExists { team: String },
    /// A bound is reached.
    #[error("There can be no more than {most} {what}")]
    TooMany { what: String, most: u64 },
    /// The caller is in the team.
    #[error("Agent \"{handle}\" is already a member of team \"{team}\"")]
    AlreadyMember { handle: String, team: String },
    /// The handle is another login's.
    #[error("Agent \"{handle}\" is already a member of team \"{team}\"")]
    HandleTaken { handle: String, team: String },
    /// Only the leader may do this.
    #[error("Only \"{leader}\", the leader of team \"{team}\", may do this")]
    NotLeader { leader: String, team: String },
    /// The leader cannot leave.
    #[error("The leader cannot leave team \"{team}\": hand it over, or delete it")]
    LeaderStays { team: String },
    /// Others are at work in the team.
    #[error("Team \"{team}\" cannot be deleted: {count} other members are live: {live}")]
    MembersLive { team: String, live: String, count: u64 },
    /// The named member is not in the team.
    #[error("Recipient \"{handle}\" is not a member of team \"{team}\"")]
    NoRecipient { handle: String, team: String },
    /// The named member has approved a shutdown.
    #[error("Agent \"{handle}\" has stopped in team \"{team}\"")]
    HasStopped { handle: String, team: String },
    /// An inbox has no room.
    #[error("The inbox of \"{handle}\" has {unread} unread messages")]
    InboxFull { handle: String, unread: u64 },
    /// The cursor is none that was given.
    #[error("The cursor {cursor} is ahead of the newest message, {newest}")]
    CursorAhead { cursor: u64, newest: u64 },
    /// The key of the request was used for another one.
    #[error("The request_key \"{key}\" was used for another request")]
    KeyReused { key: String },
    /// There is no such task.
    #[error("Task {id} not found in team {team}")]
    NoTask { id: String, team: String },
    /// A task of that id exists.
    #[error("Task {id} already exists")]
    TaskExists { id: String },
    /// A dependency does not exist.
    #[error("Dependency task {id} does not exist")]
    NoDependency { id: String },
    /// A task that is to depend on it does not exist.
    #[error("Blocked task {id} does not exist")]
    NoBlocked { id: String },
    /// The dependencies would close a ring.
    #[error("Circular dependency detected: {ring}")]
    Circular { ring: String },
    /// Status only goes forward.
    #[error("Invalid status transition: {from} -> {to}")]
    InvalidTransition { from: String, to: String },
    /// An edit of fields does not change the status.
    #[error("An edit does not make task {id} {to}: it is {from}")]
    NotByEdit { id: String, from: String, to: String },
    /// The task is completed.
    #[error("Task {id} is not available (status: {status})")]
    TaskUnavailable { id: String, status: String },
    /// Another member has the task.
    #[error("Task {id} is not available (status: {status})")]
    TaskTaken {
        id: String,
        status: String,
        owner: String,
        /// Unix milliseconds.
        expires: i64,
    },
    /// Its claims have lapsed too often.
    #[error("Task {id} is held back: its claim lapsed {lapses} times; \"{creator}\" or \"{leader}\" can clear it")]
    HeldBack {
        id: String,
        lapses: u64,
        creator: String,
        leader: String,
    },
    /// The task is kept for another member.
    #[error("Task {id} is reserved for \"{assignee}\"")]
    Reserved {
        id: String,
        assignee: String,
        /// Unix milliseconds.
        until: i64,
    },
    /// The team is strict, and dependencies are not met.
    #[error("Task {id} dependencies are not met: {unmet}")]
    DependenciesUnmet { id: String, unmet: String },
    /// The caller stops, or is asked to.
    #[error("No task is given while a shutdown is open or approved: {reason}")]
    ShuttingDown {
        /// Empty once it is approved.
        id: String,
        reason: String,
    },
    /// Another member has the claim now.
    #[error("The claim of task {id} was lost (status: {status}, owner: {owner})")]
    ClaimLost { id: String, owner: String, status: String },
    /// The caller has no claim of the task.
    #[error("Task {id} is not yours (status: {status}, owner: {owner})")]
    NotOwner { id: String, owner: String, status: String },
    /// Neither its creator nor the leader.
    #[error("Only \"{creator}\", who created the task, or \"{leader}\", the leader, may do this")]
    NotCreator { creator: String, leader: String },
    /// The task has no room for a note.
    #[error("Task {id} has no room for another note")]
    NotesFull { id: String },
    /// The request names no working copy, and the task has files.
    #[error("Task {id} names files, and the request names no working copy: {field} is missing")]
    HeadRequired { id: String, field: String },
    /// The files are of another branch.
    #[error("The files of task {id} are of branch {branch}, not of {sent}")]
    OtherBranch { id: String, branch: String, sent: String },
    /// The files are claimed with a task of the caller.
    #[error("Task {id} cannot have '{file}' now, which is claimed with task {other}")]
    FilesClaimed {
        id: String,
        /// Its team and its id.
        other: String,
        file: String,
    },
    /// Another task depends on it.
    #[error("Cannot delete task {id} because task {other} depends on it")]
    DependedOn { id: String, other: String },
    /// Another shutdown is open.
    #[error("Shutdown {id} of \"{target}\" is open, by \"{by}\"")]
    ShutdownOpen { id: String, target: String, by: String },
    /// No such shutdown is open.
    #[error("{} in team \"{team}\"", not_open(id))]
    NoShutdown { id: String, team: String },
    /// The shutdown is another member's.
    #[error("Shutdown {id} does not ask \"{handle}\"")]
    NotAsked { id: String, handle: String },
    /// The caller has answered.
    #[error("\"{handle}\" has approved shutdown {id}, which is final")]
    Answered { id: String, handle: String },
    /// The time to respond is not over.
    #[error("Shutdown {id} can be forced later")]
    TooEarly {
        id: String,
        /// Unix milliseconds.
        respond_by: i64,
    },
}

fn not_open(shutdown: &str) -> String {
    match shutdown {
        "" => "No shutdown is open".to_owned(),
        id => format!("Shutdown {id} is not open"),
    }
}

/// Reads `REFUSED`, of which the outcome is read already.
pub(super) fn read_refusal(mut reply: Reply) -> Result<TeamRefusal, StoreError> {
    let code = reply.text()?;
    let mut words = reply.texts()?.into_iter();
    let broken = reply.malformed(&format!("the words of {code}"));
    let refusal = decode(&code, &mut || words.next());
    refusal.ok_or(broken)
}

fn decode(code: &str, next: &mut dyn FnMut() -> Option<String>) -> Option<TeamRefusal> {
    /// Reads the words in their order, each as the type of its field.
    macro_rules! read {
        ($variant:ident { $($field:ident),* }) => {{
            $(let $field = next()?.parse().ok()?;)*
            TeamRefusal::$variant { $($field),* }
        }};
    }
    Some(match code {
        "NO_TEAM" => read!(NoTeam { team }),
        "NOT_A_MEMBER" => read!(NotAMember { who, team }),
        "SUPERSEDED" => read!(Superseded { handle, agent }),
        "TEAM_CLOSED" => read!(TeamClosed { team }),
        "TEAM_EXISTS" => read!(TeamExists { team }),
        "TOO_MANY" => read!(TooMany { what, most }),
        "ALREADY_MEMBER" => read!(AlreadyMember { handle, team }),
        "HANDLE_TAKEN" => read!(HandleTaken { handle, team }),
        "NOT_LEADER" => read!(NotLeader { leader, team }),
        "LEADER_STAYS" => read!(LeaderStays { team }),
        "MEMBERS_LIVE" => read!(MembersLive { team, live, count }),
        "NO_RECIPIENT" => read!(NoRecipient { handle, team }),
        "HAS_STOPPED" => read!(HasStopped { handle, team }),
        "INBOX_FULL" => read!(InboxFull { handle, unread }),
        "CURSOR_AHEAD" => read!(CursorAhead { cursor, newest }),
        "KEY_REUSED" => read!(KeyReused { key }),
        "NO_TASK" => read!(NoTask { id, team }),
        "TASK_EXISTS" => read!(TaskExists { id }),
        "NO_DEPENDENCY" => read!(NoDependency { id }),
        "NO_BLOCKED" => read!(NoBlocked { id }),
        "CIRCULAR" => read!(Circular { ring }),
        "INVALID_TRANSITION" => read!(InvalidTransition { from, to }),
        "TASK_UNAVAILABLE" => read!(TaskUnavailable { id, status }),
        "TASK_TAKEN" => read!(TaskTaken {
            id,
            status,
            owner,
            expires
        }),
        "HELD_BACK" => read!(HeldBack {
            id,
            lapses,
            creator,
            leader
        }),
        "RESERVED" => read!(Reserved { id, assignee, until }),
        "DEPENDENCIES_UNMET" => read!(DependenciesUnmet { id, unmet }),
        "SHUTTING_DOWN" => read!(ShuttingDown { id, reason }),
        "CLAIM_LOST" => read!(ClaimLost { id, owner, status }),
        "NOT_OWNER" => read!(NotOwner { id, owner, status }),
        "NOT_CREATOR" => read!(NotCreator { creator, leader }),
        "NOTES_FULL" => read!(NotesFull { id }),
        "HEAD_REQUIRED" => read!(HeadRequired { id, field }),
        "OTHER_BRANCH" => read!(OtherBranch { id, branch, sent }),
        "FILES_CLAIMED" => read!(FilesClaimed { id, other, file }),
        "DEPENDED_ON" => read!(DependedOn { id, other }),
        "SHUTDOWN_OPEN" => read!(ShutdownOpen { id, target, by }),
        "NO_SHUTDOWN" => read!(NoShutdown { id, team }),
        "NOT_ASKED" => read!(NotAsked { id, handle }),
        "ANSWERED" => read!(Answered { id, handle }),
        "TOO_EARLY" => read!(TooEarly { id, respond_by }),
        _ => return None,
    })
}
