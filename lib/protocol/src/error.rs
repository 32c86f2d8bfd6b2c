//! Stable codes, and the body of an error.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::orchestration::{Action, Orchestration};
use crate::waiting::Waiting;

/// Declares the codes with their HTTP status and their spelling on the wire. `of a team` marks codes of team rules.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:literal $text:literal $(, of a $group:ident)?;)*) => {
        /// A stable code. Later versions may have more.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
        pub enum ErrorCode {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nHTTP status ", stringify!($status), ".")]
                #[serde(rename = $text)]
                $name,
            )*
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

            /// The HTTP status of a response with this code.
            pub fn status(self) -> u16 {
                match self {
                    $(ErrorCode::$name => $status,)*
                    ErrorCode::Unknown => 500,
                }
            }

            /// Whether the caller has to fix the call and repeat it.
            pub fn is_caller_mistake(self) -> bool {
                matches!(self, ErrorCode::InvalidField | ErrorCode::MalformedBody)
            }

            /// Whether the rules of a team refuse a request with this code.
            pub fn is_team_rule(self) -> bool {
                match self {
                    $($(ErrorCode::$name => stringify!($group) == "team",)?)*
                    _ => false,
                }
            }
        }
    };
}

codes! {
    /// A field is missing or not valid.
    InvalidField = 400 "INVALID_FIELD";
    /// The body is not JSON of the right shape.
    MalformedBody = 400 "MALFORMED_BODY";
    /// The body did not arrive in time.
    SlowBody = 400 "SLOW_BODY";
    /// No credential, or a bad one.
    Unauthorized = 401 "UNAUTHORIZED";
    /// The request is not for this server.
    Forbidden = 403 "FORBIDDEN";
    /// The credential is not valid for this repository.
    ForbiddenRepository = 403 "FORBIDDEN_REPOSITORY";
    /// No such route.
    UnknownRoute = 404 "UNKNOWN_ROUTE";
    /// The repository is not served.
    UnknownRepository = 404 "UNKNOWN_REPOSITORY";
    /// The repository has no such branch.
    UnknownBranch = 404 "UNKNOWN_BRANCH";
    /// The graph has no such file.
    UnknownFile = 404 "UNKNOWN_FILE";
    /// The route does not accept this method.
    MethodNotAllowed = 405 "METHOD_NOT_ALLOWED";
    /// Blocked by someone else's lock.
    LockConflict = 409 "LOCK_CONFLICT";
    /// A lock that the caller wants to release has another holder now.
    LockLost = 409 "LOCK_LOST";
    /// A person force-released a lock of the caller.
    LockTaken = 409 "LOCK_TAKEN";
    /// The changes are not on the branch.
    NotPushed = 409 "NOT_PUSHED";
    /// The working copy does not contain the head of the branch.
    StaleHead = 409 "STALE_HEAD";
    /// The repository has no such intent.
    UnknownIntent = 404 "UNKNOWN_INTENT";
    /// Only a person may do this: a request without `agent_id`, of a login that may approve.
    PersonRequired = 403 "PERSON_REQUIRED";
    /// Each claim to write has to cite an intent.
    IntentRequired = 409 "INTENT_REQUIRED";
    /// The intent is unknown, has ended, has not begun, or was changed since it was selected.
    IntentNotActive = 409 "INTENT_NOT_ACTIVE";
    /// The intent is blocked.
    IntentBlocked = 409 "INTENT_BLOCKED";
    /// A file is outside of the scope of the intent, or ignored.
    ScopeViolation = 409 "SCOPE_VIOLATION";
    /// Another active intent owns a file.
    FileOwned = 409 "FILE_OWNED";
    /// The budget of the intent is spent.
    BudgetExhausted = 409 "BUDGET_EXHAUSTED";
    /// The same tool call was made too often in a row.
    CircuitOpen = 409 "CIRCUIT_OPEN";
    /// An intent with this id exists.
    IntentExists = 409 "INTENT_EXISTS";
    /// The status of the intent does not allow this change.
    IntentTransition = 409 "INTENT_TRANSITION";
    /// The scope of an intent is frozen once it has begun.
    ScopeFrozen = 409 "SCOPE_FROZEN";
    /// The scope of an intent covers too much.
    ScopeTooBroad = 409 "SCOPE_TOO_BROAD";
    /// The scope of an intent overlaps that of an active one.
    ScopeOverlap = 409 "SCOPE_OVERLAP";
    /// Not all criteria are met.
    CriteriaUnmet = 409 "CRITERIA_UNMET";
    /// The repository has too many intents, or too many active ones.
    TooManyIntents = 409 "TOO_MANY_INTENTS";
    /// The repository has no such team.
    UnknownTeam = 404 "UNKNOWN_TEAM";
    /// The team has no such task.
    UnknownTask = 404 "UNKNOWN_TASK";
    /// The caller is not in the team.
    NotAMember = 403 "NOT_A_MEMBER", of a team;
    /// Only the leader may do this.
    NotLeader = 403 "NOT_LEADER", of a team;
    /// Only the creator of the task and the leader may do this.
    NotCreator = 403 "NOT_CREATOR", of a team;
    /// Another agent of the same login has taken over the caller's handle.
    Superseded = 409 "SUPERSEDED", of a team;
    /// The team is closed.
    TeamClosed = 409 "TEAM_CLOSED", of a team;
    /// A team with this name exists.
    TeamExists = 409 "TEAM_EXISTS", of a team;
    /// A bound of teams is reached.
    TooMany = 409 "TOO_MANY", of a team;
    /// The caller is in the team.
    AlreadyMember = 409 "ALREADY_MEMBER", of a team;
    /// Another login has the handle.
    HandleTaken = 409 "HANDLE_TAKEN", of a team;
    /// The leader cannot leave.
    LeaderStays = 409 "LEADER_STAYS", of a team;
    /// Others are at work in the team.
    MembersLive = 409 "MEMBERS_LIVE", of a team;
    /// A recipient is not in the team.
    UnknownRecipient = 409 "UNKNOWN_RECIPIENT", of a team;
    /// An inbox has no room.
    InboxFull = 409 "INBOX_FULL", of a team;
    /// The cursor is ahead of the newest message.
    CursorAhead = 409 "CURSOR_AHEAD", of a team;
    /// The `request_key` was used for another request.
    KeyReused = 409 "KEY_REUSED", of a team;
    /// A task with this id exists.
    TaskExists = 409 "TASK_EXISTS", of a team;
    /// The files of the task belong to another branch.
    OtherBranch = 409 "OTHER_BRANCH", of a team;
    /// A file of the task is claimed with a task that the caller has.
    FilesClaimed = 409 "FILES_CLAIMED", of a team;
    /// A task that is named as a dependency, or as dependent, does not exist.
    UnknownDependency = 409 "UNKNOWN_DEPENDENCY", of a team;
    /// The dependencies would form a cycle.
    CircularDependency = 409 "CIRCULAR_DEPENDENCY", of a team;
    /// A status only goes forward.
    InvalidTransition = 409 "INVALID_TRANSITION", of a team;
    /// The task is completed.
    TaskUnavailable = 409 "TASK_UNAVAILABLE", of a team;
    /// Another member has the task.
    TaskTaken = 409 "TASK_TAKEN", of a team;
    /// Claims of the task have expired too often.
    TaskHeldBack = 409 "TASK_HELD_BACK", of a team;
    /// The task is kept for another member.
    TaskReserved = 409 "TASK_RESERVED", of a team;
    /// The team is strict, and dependencies are not met.
    DependenciesUnmet = 409 "DEPENDENCIES_UNMET", of a team;
    /// The caller has stopped, or was asked to.
    ShuttingDown = 409 "SHUTTING_DOWN", of a team;
    /// Another member has the claim now.
    ClaimLost = 409 "CLAIM_LOST", of a team;
    /// The caller has no claim of the task.
    NotOwner = 409 "NOT_OWNER", of a team;
    /// The task has no room for a note.
    NotesFull = 409 "NOTES_FULL", of a team;
    /// Another task depends on it.
    DependedOn = 409 "DEPENDED_ON", of a team;
    /// Another shutdown is open.
    ShutdownOpen = 409 "SHUTDOWN_OPEN", of a team;
    /// No such shutdown is open, or it does not ask the caller.
    UnknownShutdown = 409 "UNKNOWN_SHUTDOWN", of a team;
    /// The caller has approved the shutdown.
    ShutdownAnswered = 409 "SHUTDOWN_ANSWERED", of a team;
    /// The time to respond to the shutdown is not over.
    ShutdownTooEarly = 409 "SHUTDOWN_TOO_EARLY", of a team;
    /// The repository has too many locks.
    TooManyLocks = 409 "TOO_MANY_LOCKS";
    /// The files have too many locks or neighbors for one request.
    TooMuchAtOnce = 413 "TOO_MUCH_AT_ONCE";
    /// The body is too large.
    BodyTooLarge = 413 "BODY_TOO_LARGE";
    /// Path and query are too long.
    UriTooLong = 414 "URI_TOO_LONG";
    /// The body is compressed.
    UnsupportedEncoding = 415 "UNSUPPORTED_ENCODING";
    /// The content type is not JSON.
    UnsupportedMediaType = 415 "UNSUPPORTED_MEDIA_TYPE";
    /// Too many requests.
    RateLimited = 429 "RATE_LIMITED";
    /// A bug in the server.
    Internal = 500 "INTERNAL";
    /// The response took too long.
    TimedOut = 503 "TIMED_OUT";
    /// Callers cannot be verified now.
    IdentityUnavailable = 503 "IDENTITY_UNAVAILABLE";
    /// No store is configured, or it does not respond.
    StoreUnavailable = 503 "STORE_UNAVAILABLE";
    /// The repository cannot be read.
    SourceUnavailable = 503 "SOURCE_UNAVAILABLE";
    /// The rate limit of the repository's source is used up.
    SourceLimited = 503 "SOURCE_LIMITED";
}

impl ErrorCode {
    /// Whether Coord cannot determine the locks, because the store, the source or the token issuer is unavailable.
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

    /// The command for a claim that an intent refuses with this code; `None` for other codes.
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
    /// The problem, its place, and the fix. A refusal by the rules has none: the reason of its command says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(required = true)]
    pub message: String,
    /// The field or header that was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub field: Option<String>,
}

/// The code of a refusal by the rules. Its sentence is the reason of the command.
#[derive(Clone, Debug, ToSchema)]
pub struct RefusalCode {
    /// A stable code.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z_]*$")]
    pub error: ErrorCode,
    /// The field that was wrong.
    #[schema(nullable = false)]
    pub field: Option<String>,
}

/// An error as agents get it: with a command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct AgentError {
    /// The error.
    #[serde(flatten)]
    pub error: ErrorBody,
    /// The next step.
    pub orchestration: Orchestration,
    /// Pending items for the caller, if the rules of its team refuse the request.
    #[serde(flatten)]
    pub waiting: Waiting,
}
