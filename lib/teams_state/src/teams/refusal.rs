//! Refusals by the rules of teams: nothing was changed.

use serde::Deserialize;

use coord_state::seams::Waiting;

/// A refusal by the rules of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub refusal: TeamRefusal,
    /// Pending items for the caller in the team.
    pub waiting: Waiting,
}

/// Why the rules of a team refuse a request, as `refuse()` of `modules/team.lua` writes it. [`std::fmt::Display`] writes the documented
/// sentence.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TeamRefusal {
    /// There is no such team.
    #[error("Team \"{team}\" does not exist")]
    NoTeam { team: String },
    /// The caller is not in the team.
    #[error("\"{who}\" is not a member of team \"{team}\"")]
    NotAMember { who: String, team: String },
    /// Another agent of the same login has the handle now.
    #[error("Agent \"{handle}\" is now another agent (\"{agent}\"), which supersedes this one")]
    Superseded {
        handle: String,
        /// Empty for one without an id.
        #[serde(default)]
        agent: String,
    },
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
    /// Other members of the team are live.
    #[error("Team \"{team}\" cannot be deleted: {count} other members are live: {}", live.join(", "))]
    MembersLive {
        team: String,
        /// Handles of the first 20.
        live: Vec<String>,
        count: u64,
    },
    /// The named member is not in the team.
    #[error("Recipient \"{handle}\" is not a member of team \"{team}\"")]
    NoRecipient { handle: String, team: String },
    /// The named member has approved a shutdown.
    #[error("Agent \"{handle}\" has stopped in team \"{team}\"")]
    HasStopped { handle: String, team: String },
    /// An inbox has no room.
    #[error("The inbox of \"{handle}\" has {unread} unread messages")]
    InboxFull { handle: String, unread: u64 },
    /// The cursor is after the newest message.
    #[error("The cursor {cursor} is ahead of the newest message, {newest}")]
    CursorAhead { cursor: u64, newest: u64 },
    /// The key of the request was used for another one.
    #[error("The request_key \"{key}\" was used for another request")]
    KeyReused { key: String },
    /// There is no such task.
    #[error("Task {id} not found in team {team}")]
    NoTask { id: String, team: String },
    #[error("Task {id} already exists")]
    TaskExists { id: String },
    /// A dependency does not exist.
    #[error("Dependency task {id} does not exist")]
    NoDependency { id: String },
    /// A task that should depend on it does not exist.
    #[error("Blocked task {id} does not exist")]
    NoBlocked { id: String },
    /// The dependencies would form a ring.
    #[error("Circular dependency detected: {}", ring_text(ring, *more))]
    Circular {
        /// Its tasks; new ones by id, `ref`, or `#` and their position in the request.
        ring: Vec<String>,
        /// Number of tasks that are not named.
        #[serde(default)]
        more: u64,
    },
    /// Status only goes forward.
    #[error("Invalid status transition: {from} -> {to}")]
    InvalidTransition { from: String, to: String },
    /// An edit of fields does not change the status.
    #[error("An edit cannot make task {id} {to}: it is {from}")]
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
    /// Its claims have expired too often.
    #[error(
        "Task {id} is held back because its claims expired {lapses} times: ask \"{creator}\" or \"{leader}\" to clear it"
    )]
    HeldBack {
        id: String,
        lapses: u64,
        creator: String,
        leader: String,
    },
    /// The task is reserved for another member.
    #[error("Task {id} is reserved for \"{assignee}\"")]
    Reserved {
        id: String,
        assignee: String,
        /// Unix milliseconds.
        #[serde(rename = "ends")]
        until: i64,
    },
    /// The team is strict, and dependencies are not met.
    #[error("Task {id} dependencies are not met: {}", unmet.join(", "))]
    DependenciesUnmet {
        id: String,
        #[serde(default)]
        unmet: Vec<String>,
    },
    /// The caller has approved a shutdown, or is asked to.
    #[error("No task can be claimed while a shutdown is open or approved: {reason}")]
    ShuttingDown {
        /// Empty once it is approved.
        #[serde(default)]
        id: String,
        reason: String,
    },
    /// Another member has the claim now.
    #[error("The claim of task {id} was lost (status: {status}, owner: {owner})")]
    ClaimLost {
        id: String,
        /// Empty for none. The status is empty too if the task is gone.
        #[serde(default)]
        owner: String,
        #[serde(default)]
        status: String,
    },
    /// The caller has no claim of the task.
    #[error("Task {id} is not yours (status: {status}, owner: {owner})")]
    NotOwner {
        id: String,
        /// Empty for none.
        #[serde(default)]
        owner: String,
        status: String,
    },
    /// The caller is neither the creator of the task nor the leader.
    #[error("Only \"{creator}\", who created the task, or \"{leader}\", the leader, may do this")]
    NotCreator { creator: String, leader: String },
    /// The task has no room for a note.
    #[error("Task {id} has no room for another note")]
    NotesFull { id: String },
    /// The request names no working copy, and the task has files.
    #[error("Task {id} names files, and the request names no working copy: {field} is missing")]
    HeadRequired { id: String, field: String },
    /// The files are of another branch.
    #[error("The files of task {id} are on branch {branch}, not on {sent}")]
    OtherBranch { id: String, branch: String, sent: String },
    /// The files are claimed with a task of the caller.
    #[error("Task {id} cannot claim '{file}', which is claimed with task {other}")]
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
    #[error("{} in team \"{team}\"", no_shutdown_text(id))]
    NoShutdown { id: String, team: String },
    /// The shutdown does not concern the caller.
    #[error("Shutdown {id} was not requested of \"{handle}\"")]
    NotAsked { id: String, handle: String },
    /// The caller has approved the shutdown.
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

/// The ring, from one of its tasks back to the same one; `more` is the number of tasks that are not named.
fn ring_text(ring: &[String], more: u64) -> String {
    let more = (more > 0).then(|| format!("... and {more} more"));
    let names = ring.iter().chain(&more).chain(ring.first());
    names.map(String::as_str).collect::<Vec<_>>().join(" -> ")
}

fn no_shutdown_text(id: &str) -> String {
    match id {
        "" => "No shutdown is open".to_owned(),
        id => format!("Shutdown {id} is not open"),
    }
}
