//! Stable codes, and the body of an error.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::orchestration::{Action, Orchestration};

/// Declares the codes with their spelling on the wire.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A stable code. Later versions may have more.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
        pub enum ErrorCode {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
            /// A code that this version does not know.
            #[serde(other, rename = "UNKNOWN")]
            Unknown,
        }

        impl ErrorCode {
            /// The spelling on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(ErrorCode::$name => $text,)*
                    ErrorCode::Unknown => "UNKNOWN",
                }
            }
        }
    };
}

codes! {
    /// 400: a field is missing or not valid.
    InvalidField = "INVALID_FIELD",
    /// 400: the body is not JSON of the right shape.
    MalformedBody = "MALFORMED_BODY",
    /// 400: the body did not arrive in time.
    SlowBody = "SLOW_BODY",
    /// 401: no credential, or a bad one.
    Unauthorized = "UNAUTHORIZED",
    /// 403: the request is not for this server.
    Forbidden = "FORBIDDEN",
    /// 403: the credential is not valid for this repository.
    ForbiddenRepository = "FORBIDDEN_REPOSITORY",
    /// 404: no such route.
    UnknownRoute = "UNKNOWN_ROUTE",
    /// 404: the repository is not served.
    UnknownRepository = "UNKNOWN_REPOSITORY",
    /// 404: the repository has no such branch.
    UnknownBranch = "UNKNOWN_BRANCH",
    /// 404: the graph has no such file.
    UnknownFile = "UNKNOWN_FILE",
    /// 405: the route has other methods.
    MethodNotAllowed = "METHOD_NOT_ALLOWED",
    /// 409: blocked by another's lock.
    LockConflict = "LOCK_CONFLICT",
    /// 409: a lock to be released belongs to another holder now.
    LockLost = "LOCK_LOST",
    /// 409: the changes are not on the branch.
    NotPushed = "NOT_PUSHED",
    /// 409: the working copy does not contain the head of the branch.
    StaleHead = "STALE_HEAD",
    /// 404: the repository has no such intent.
    UnknownIntent = "UNKNOWN_INTENT",
    /// 403: only a person may do this: a request without `agent_id`, of a login that may approve.
    PersonRequired = "PERSON_REQUIRED",
    /// 409: each claim to write has to cite an intent.
    IntentRequired = "INTENT_REQUIRED",
    /// 409: the intent is unknown, has ended, has not begun, or was changed since it was selected.
    IntentNotActive = "INTENT_NOT_ACTIVE",
    /// 409: the intent is blocked.
    IntentBlocked = "INTENT_BLOCKED",
    /// 409: a file is outside of the scope of the intent, or ignored.
    ScopeViolation = "SCOPE_VIOLATION",
    /// 409: another active intent owns a file.
    FileOwned = "FILE_OWNED",
    /// 409: the budget of the intent is spent.
    BudgetExhausted = "BUDGET_EXHAUSTED",
    /// 409: the same tool call was made too often in a row.
    CircuitOpen = "CIRCUIT_OPEN",
    /// 409: there is an intent with this id.
    IntentExists = "INTENT_EXISTS",
    /// 409: an intent of this status cannot be changed so.
    IntentTransition = "INTENT_TRANSITION",
    /// 409: the scope of an intent is frozen once it has begun.
    ScopeFrozen = "SCOPE_FROZEN",
    /// 409: the scope of an intent covers too much.
    ScopeTooBroad = "SCOPE_TOO_BROAD",
    /// 409: the scope of an intent meets that of an active one.
    ScopeOverlap = "SCOPE_OVERLAP",
    /// 409: not all criteria are met.
    CriteriaUnmet = "CRITERIA_UNMET",
    /// 409: the repository has too many intents, or too many active ones.
    TooManyIntents = "TOO_MANY_INTENTS",
    /// 404: the repository has no such team.
    UnknownTeam = "UNKNOWN_TEAM",
    /// 404: the team has no such task.
    UnknownTask = "UNKNOWN_TASK",
    /// 403: the caller is not in the team.
    NotAMember = "NOT_A_MEMBER",
    /// 403: only the leader may do this.
    NotLeader = "NOT_LEADER",
    /// 403: only the creator of the task and the leader may do this.
    NotCreator = "NOT_CREATOR",
    /// 409: the caller's handle has another agent of the same login now.
    Superseded = "SUPERSEDED",
    /// 409: the team is closed.
    TeamClosed = "TEAM_CLOSED",
    /// 409: there is a team with this name.
    TeamExists = "TEAM_EXISTS",
    /// 409: a bound of teams is reached.
    TooMany = "TOO_MANY",
    /// 409: the caller is in the team.
    AlreadyMember = "ALREADY_MEMBER",
    /// 409: another login has the handle.
    HandleTaken = "HANDLE_TAKEN",
    /// 409: the leader cannot leave.
    LeaderStays = "LEADER_STAYS",
    /// 409: others are at work in the team.
    MembersLive = "MEMBERS_LIVE",
    /// 409: a recipient is not in the team.
    UnknownRecipient = "UNKNOWN_RECIPIENT",
    /// 409: an inbox has no room.
    InboxFull = "INBOX_FULL",
    /// 409: the cursor is ahead of the newest message.
    CursorAhead = "CURSOR_AHEAD",
    /// 409: the `request_key` was used for another request.
    KeyReused = "KEY_REUSED",
    /// 409: there is a task with this id.
    TaskExists = "TASK_EXISTS",
    /// 409: a task that is named as a dependency, or as dependent, does not exist.
    UnknownDependency = "UNKNOWN_DEPENDENCY",
    /// 409: the dependencies would close a ring.
    CircularDependency = "CIRCULAR_DEPENDENCY",
    /// 409: a status only goes forward.
    InvalidTransition = "INVALID_TRANSITION",
    /// 409: the task is completed.
    TaskUnavailable = "TASK_UNAVAILABLE",
    /// 409: another member has the task.
    TaskTaken = "TASK_TAKEN",
    /// 409: claims of the task have lapsed too often.
    TaskHeldBack = "TASK_HELD_BACK",
    /// 409: the task is kept for another member.
    TaskReserved = "TASK_RESERVED",
    /// 409: the team is strict, and dependencies are not met.
    DependenciesUnmet = "DEPENDENCIES_UNMET",
    /// 409: the caller stops, or is asked to.
    ShuttingDown = "SHUTTING_DOWN",
    /// 409: another member has the claim now.
    ClaimLost = "CLAIM_LOST",
    /// 409: the caller has no claim of the task.
    NotOwner = "NOT_OWNER",
    /// 409: the task has no room for a note.
    NotesFull = "NOTES_FULL",
    /// 409: another task depends on it.
    DependedOn = "DEPENDED_ON",
    /// 409: another shutdown is open.
    ShutdownOpen = "SHUTDOWN_OPEN",
    /// 409: no such shutdown is open, or it does not ask the caller.
    UnknownShutdown = "UNKNOWN_SHUTDOWN",
    /// 409: the caller has approved the shutdown.
    ShutdownAnswered = "SHUTDOWN_ANSWERED",
    /// 409: the time to respond to the shutdown is not over.
    ShutdownTooEarly = "SHUTDOWN_TOO_EARLY",
    /// 409: the repository has too many locks.
    TooManyLocks = "TOO_MANY_LOCKS",
    /// 413: the files have too many locks or neighbors for one request.
    TooMuchAtOnce = "TOO_MUCH_AT_ONCE",
    /// 413: the body is too large.
    BodyTooLarge = "BODY_TOO_LARGE",
    /// 414: path and query are too long.
    UriTooLong = "URI_TOO_LONG",
    /// 415: the body is compressed.
    UnsupportedEncoding = "UNSUPPORTED_ENCODING",
    /// 415: the content type is not JSON.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE",
    /// 429: too many requests.
    RateLimited = "RATE_LIMITED",
    /// 500: a defect of the server.
    Internal = "INTERNAL",
    /// 503: the response took too long.
    TimedOut = "TIMED_OUT",
    /// 503: callers cannot be verified now.
    IdentityUnavailable = "IDENTITY_UNAVAILABLE",
    /// 503: no store is configured, or it does not respond.
    StoreUnavailable = "STORE_UNAVAILABLE",
    /// 503: the repository cannot be read.
    SourceUnavailable = "SOURCE_UNAVAILABLE",
    /// 503: the rate limit of the repository's source is used up.
    SourceLimited = "SOURCE_LIMITED",
}

impl ErrorCode {
    /// Whether nothing is known of locks, because the store, the source or the token issuer is unavailable.
    pub fn is_offline(self) -> bool {
        matches!(
            self,
            ErrorCode::StoreUnavailable
                | ErrorCode::SourceUnavailable
                | ErrorCode::SourceLimited
                | ErrorCode::IdentityUnavailable
                | ErrorCode::TimedOut
        )
    }

    /// Whether the rules of a team refuse a request with this code.
    pub fn is_of_team(self) -> bool {
        matches!(
            self,
            ErrorCode::NotAMember
                | ErrorCode::NotLeader
                | ErrorCode::NotCreator
                | ErrorCode::Superseded
                | ErrorCode::TeamClosed
                | ErrorCode::TeamExists
                | ErrorCode::TooMany
                | ErrorCode::AlreadyMember
                | ErrorCode::HandleTaken
                | ErrorCode::LeaderStays
                | ErrorCode::MembersLive
                | ErrorCode::UnknownRecipient
                | ErrorCode::InboxFull
                | ErrorCode::CursorAhead
                | ErrorCode::KeyReused
                | ErrorCode::TaskExists
                | ErrorCode::UnknownDependency
                | ErrorCode::CircularDependency
                | ErrorCode::InvalidTransition
                | ErrorCode::TaskUnavailable
                | ErrorCode::TaskTaken
                | ErrorCode::TaskHeldBack
                | ErrorCode::TaskReserved
                | ErrorCode::DependenciesUnmet
                | ErrorCode::ShuttingDown
                | ErrorCode::ClaimLost
                | ErrorCode::NotOwner
                | ErrorCode::NotesFull
                | ErrorCode::DependedOn
                | ErrorCode::ShutdownOpen
                | ErrorCode::UnknownShutdown
                | ErrorCode::ShutdownAnswered
                | ErrorCode::ShutdownTooEarly
        )
    }

    /// The command of a claim that intents refuse with this code; none for other codes.
    pub fn intent_action(self) -> Option<Action> {
        match self {
            ErrorCode::FileOwned => Some(Action::SwitchTask),
            ErrorCode::IntentRequired
            | ErrorCode::IntentNotActive
            | ErrorCode::IntentBlocked
            | ErrorCode::ScopeViolation
            | ErrorCode::BudgetExhausted
            | ErrorCode::CircuitOpen => Some(Action::Stop),
            _ => None,
        }
    }
}

/// The part of a response that describes an error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ErrorBody {
    /// A stable code.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z_]*$")]
    pub error: ErrorCode,
    /// What was wrong, where, and what to send instead.
    pub message: String,
    /// The field or header that was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
}

/// An error as agents get it: with a command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AgentError {
    /// The error.
    #[serde(flatten)]
    pub error: ErrorBody,
    /// What to do next.
    pub orchestration: Orchestration,
}
