//! All errors that a caller can get. Messages are for the caller; causes go to the log. `lib/http/src/error.rs` makes
//! the responses.

use coord_protocol::{Action, AgentError, ErrorBody, ErrorCode, Metadata, Orchestration, Waiting};

use crate::heads::RefreshError;
use coord_auth::AuthError;
use coord_domain::RepoId;
use coord_events::TooManyStreams;
use coord_sources::SourceError;
use coord_state::admission::{ForceReleased, FullPart, SizeLimit};
use coord_store::StoreError;

/// An error of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// 400: a field is missing or has a value that is not allowed.
    #[error("{field} {problem}")]
    InvalidField {
        field: &'static str,
        /// The problem, worded to follow its name.
        problem: String,
    },
    /// 400: the body is not JSON of the right shape.
    #[error("{message}")]
    MalformedBody {
        /// The field, if the error is inside one.
        field: Option<String>,
        message: String,
    },
    /// 400: the body did not arrive in time.
    #[error("the body did not arrive within {0} seconds")]
    SlowBody(u64),
    /// 401: no credential, or a bad one.
    #[error("{0}")]
    Unauthorized(String),
    /// 403: the request is not for this server.
    #[error("{0}")]
    Forbidden(String),
    /// 403: the caller's credential is not valid for this repository.
    #[error("{0}")]
    ForbiddenRepository(String),
    /// 404: no such route.
    #[error(
        "this route does not exist; {}the endpoints are /api/check_status, /api/post_status, /api/graph, /api/locks, \
         /api/activity, /api/events, /api/intents, /api/ledger, /api/teams, /api/tasks, /api/messages and /api/health",
        instead.map(|instead| format!("{instead}; ")).unwrap_or_default()
    )]
    UnknownRoute {
        /// The right call, if another tool has such a route.
        instead: Option<&'static str>,
    },
    /// 404: this server does not serve the repository.
    #[error("repo_url names {repo}, which {}", unknown_repository(known, renamed_to.as_ref()))]
    UnknownRepository {
        /// The repository in the request.
        repo: RepoId,
        /// Repositories that are served.
        known: Vec<String>,
        /// The current name, if it was renamed.
        renamed_to: Option<RepoId>,
    },
    /// 404: the repository has no such branch, or no commit at all.
    #[error(
        "branch {branch} {} in {repo}{}{}",
        if *is_empty { "has no commit yet" } else { "does not exist" },
        hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default(),
        list("; did you mean ", suggestions, "or", "?")
    )]
    UnknownBranch {
        repo: RepoId,
        /// The branch in the request.
        branch: String,
        /// Branches with a similar name.
        suggestions: Vec<String>,
        /// Whether the repository has no commit at all.
        is_empty: bool,
        /// Why the branch is missing, and the fix.
        hint: Option<String>,
    },
    /// 404: the graph of the branch has no such file.
    #[error("focus names {path}, which is not among the files of commit {version}")]
    UnknownFile {
        /// The path in the request.
        path: String,
        /// Commit of the graph, abbreviated.
        version: String,
    },
    /// 403: only a person may do this.
    #[error("{0}")]
    PersonRequired(String),
    /// An extension refuses the request; nothing was changed.
    #[error("{}", .0.error.message)]
    Extension(Box<AgentError>),
    /// 405: the route has other methods.
    #[error("this endpoint accepts only {allowed}")]
    MethodNotAllowed {
        /// Allowed methods, as in the header `Allow`.
        allowed: &'static str,
    },
    /// 409: there is no room for more locks.
    #[error("{}", no_room(.0))]
    TooManyLocks(FullPart),
    /// 409: a person has force-released locks of the caller.
    #[error("{}", forced_release(.0))]
    LockTaken(Box<ForceReleased>),
    /// 413: the files have too many locks or neighbors for one request.
    #[error("these files have too many {} for one request; name fewer files", match .0 {
        SizeLimit::Locks => "locks",
        SizeLimit::Neighbors => "neighbors in the import graph",
    })]
    TooMuchAtOnce(SizeLimit),
    /// 413: the body is too large.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// 414: path and query are too long.
    #[error("path and query are longer than {0} bytes")]
    UriTooLong(usize),
    /// 415: the body has a Content-Encoding.
    #[error("send the body uncompressed, without Content-Encoding")]
    UnsupportedEncoding,
    /// 415: the body is not announced as JSON.
    #[error("send Content-Type: application/json")]
    UnsupportedMediaType,
    /// 429: too many requests.
    #[error("{reason}; try again in {retry_after_seconds} s")]
    RateLimited {
        /// Seconds until the next request is allowed; at least 1.
        retry_after_seconds: u64,
        /// The limit that is exceeded, in words.
        reason: &'static str,
    },
    /// 429: other large bodies use all the memory for them.
    #[error("this server is receiving as many large bodies as it has room for; try again in {retry_after_seconds} s")]
    TooManyBodies {
        /// Seconds until there may be room.
        retry_after_seconds: u64,
    },
    /// 500: a defect in Coord.
    #[error("the server has an internal error; its log has the cause")]
    Internal,
    /// 503: no response within the time limit.
    #[error("no response within {0} seconds; the request may or may not have taken effect, so repeat it")]
    TimedOut(u64),
    /// 503: the caller cannot be verified at the moment.
    #[error("{0}")]
    IdentityUnavailable(String),
    /// 503: the server does not respond. Clients create this error.
    #[error("{problem}")]
    NoServer {
        /// The unreachable service, as the subject of a sentence.
        name: String,
        /// Why there is no response.
        problem: String,
    },
    /// 503: no store is configured, or it does not respond.
    #[error("{0}")]
    StoreUnavailable(String),
    /// 503: the repository cannot be read, or the head of the branch is not known yet.
    #[error("{0}")]
    SourceUnavailable(String),
    /// 503: the rate limit of the repository's source is used up.
    #[error("GitHub's rate limit allows no request now; try again in {retry_after_seconds} s")]
    SourceLimited {
        /// Seconds until the next attempt.
        retry_after_seconds: u64,
    },
}

/// The second half of a sentence about a repository that is not served.
fn unknown_repository(served: &[String], renamed_to: Option<&RepoId>) -> String {
    match renamed_to {
        Some(name) => format!(
            "was renamed to {name}: send the new name; a server that was started with the old name has to be restarted \
             with the new one"
        ),
        None => format!("is not served here{}", list("; this server serves ", served, "and", "")),
    }
}

fn no_room(full: &FullPart) -> String {
    match full {
        FullPart::File(path) => {
            format!("{path} has the maximum number of locks, so nothing was claimed; wait until a reader releases it")
        }
        FullPart::Person => {
            "your agents together hold the maximum number of locks in this repository, so nothing was claimed; \
             release some first (status OPEN)"
                .to_owned()
        }
        FullPart::Repository => {
            "this repository has the maximum number of locks, so nothing was claimed; wait until some are released"
                .to_owned()
        }
        FullPart::Owners(None) => {
            "intents own the maximum number of files in this repository, so nothing was claimed; complete or abandon \
             some of them"
                .to_owned()
        }
        FullPart::Owners(Some(path)) => {
            format!("{path} already has the maximum number of owners on separate branches; nothing was claimed")
        }
    }
}

fn forced_release(forced: &ForceReleased) -> String {
    let ForceReleased { by, message, files } = forced;
    let files = match files.as_slice() {
        [first, more @ ..] if !more.is_empty() => format!("'{first}' and {} more files", more.len()),
        files => format!("'{}'", files.concat()),
    };
    format!(
        "user '{by}' force-released your lock on {files}: {message}; stop working there, and tell your user; confirm \
         with OPEN and \"abandon\": true"
    )
}

/// `before`, the names as a list (`a`, `a or b`, `a, b or c`), and `after`; an empty text without names.
fn list(before: &str, names: &[String], conjunction: &str, after: &str) -> String {
    match names {
        [] => String::new(),
        [name] => format!("{before}{name}{after}"),
        [first @ .., last] => format!("{before}{} {conjunction} {last}{after}", first.join(", ")),
    }
}

impl ApiError {
    /// The error of a missing or invalid `field`. The problem is worded to follow its name.
    pub fn invalid_field(field: &'static str, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        ApiError::InvalidField { field, problem }
    }

    /// The error of a body or a query that cannot be read.
    pub fn malformed(message: impl Into<String>) -> Self {
        ApiError::MalformedBody {
            field: None,
            message: message.into(),
        }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            ApiError::InvalidField { .. } => ErrorCode::InvalidField,
            ApiError::MalformedBody { .. } => ErrorCode::MalformedBody,
            ApiError::SlowBody(_) => ErrorCode::SlowBody,
            ApiError::Unauthorized(_) => ErrorCode::Unauthorized,
            ApiError::Forbidden(_) => ErrorCode::Forbidden,
            ApiError::ForbiddenRepository(_) => ErrorCode::ForbiddenRepository,
            ApiError::UnknownRoute { .. } => ErrorCode::UnknownRoute,
            ApiError::UnknownRepository { .. } => ErrorCode::UnknownRepository,
            ApiError::UnknownBranch { .. } => ErrorCode::UnknownBranch,
            ApiError::UnknownFile { .. } => ErrorCode::UnknownFile,
            ApiError::PersonRequired(_) => ErrorCode::PersonRequired,
            ApiError::Extension(refusal) => refusal.error.error,
            ApiError::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            ApiError::TooManyLocks(_) => ErrorCode::TooManyLocks,
            ApiError::LockTaken(_) => ErrorCode::LockTaken,
            ApiError::TooMuchAtOnce(_) => ErrorCode::TooMuchAtOnce,
            ApiError::TooLarge(_) => ErrorCode::BodyTooLarge,
            ApiError::UriTooLong(_) => ErrorCode::UriTooLong,
            ApiError::UnsupportedEncoding => ErrorCode::UnsupportedEncoding,
            ApiError::UnsupportedMediaType => ErrorCode::UnsupportedMediaType,
            ApiError::RateLimited { .. } | ApiError::TooManyBodies { .. } => ErrorCode::RateLimited,
            ApiError::Internal => ErrorCode::Internal,
            ApiError::TimedOut(_) => ErrorCode::TimedOut,
            ApiError::IdentityUnavailable(_) => ErrorCode::IdentityUnavailable,
            ApiError::NoServer { .. } | ApiError::StoreUnavailable(_) => ErrorCode::StoreUnavailable,
            ApiError::SourceUnavailable(_) => ErrorCode::SourceUnavailable,
            ApiError::SourceLimited { .. } => ErrorCode::SourceLimited,
        }
    }

    /// Whether the request failed because the store, the source or the token issuer is unavailable.
    pub fn is_offline(&self) -> bool {
        self.code().is_offline()
    }

    /// Whether the source of the repository is unavailable or limited for now.
    pub fn is_of_source(&self) -> bool {
        matches!(self, ApiError::SourceUnavailable(_) | ApiError::SourceLimited { .. })
    }

    /// Code, message and field.
    pub fn body(&self) -> ErrorBody {
        let field = match self {
            ApiError::InvalidField { field, .. } => Some((*field).to_owned()),
            ApiError::MalformedBody { field, .. } => field.clone(),
            ApiError::UnknownRepository { .. } | ApiError::ForbiddenRepository(_) => Some("repo_url".to_owned()),
            ApiError::UnknownBranch { .. } => Some("branch".to_owned()),
            ApiError::UnknownFile { .. } => Some("focus".to_owned()),
            ApiError::TooMuchAtOnce(_) | ApiError::TooManyLocks(_) => Some("file_paths".to_owned()),
            ApiError::Extension(refusal) => refusal.error.field.clone(),
            _ => None,
        };
        ErrorBody {
            error: self.code(),
            message: self.to_string(),
            field,
        }
    }

    /// Seconds until a retry, if known.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            ApiError::SourceLimited { retry_after_seconds }
            | ApiError::TooManyBodies { retry_after_seconds }
            | ApiError::RateLimited {
                retry_after_seconds, ..
            } => Some(*retry_after_seconds),
            error if error.is_offline() => Some(5),
            _ => None,
        }
    }

    /// The response to an agent: the error and a command.
    pub fn for_agent(&self) -> AgentError {
        AgentError {
            error: self.body(),
            orchestration: self.orchestration(),
            waiting: match self {
                ApiError::Extension(refusal) => refusal.waiting.clone(),
                _ => Waiting::default(),
            },
        }
    }

    /// The command for the agent.
    pub fn orchestration(&self) -> Orchestration {
        let error = self.body();
        match self {
            ApiError::TooManyBodies { retry_after_seconds }
            | ApiError::RateLimited {
                retry_after_seconds, ..
            } => Orchestration::new(Action::Wait, error.message).with(Metadata {
                retry_after: i64::try_from(*retry_after_seconds).ok(),
                ..Metadata::default()
            }),
            ApiError::Extension(refusal) => refusal.orchestration.clone(),
            ApiError::LockTaken(forced) => Orchestration::new(Action::Stop, error.message).with(Metadata {
                lock_owner: Some(forced.by.clone()),
                conflicts: forced.files.clone(),
                ..Metadata::default()
            }),
            ApiError::TooManyLocks(FullPart::File(_) | FullPart::Repository) => {
                Orchestration::new(Action::Wait, error.message)
            }
            _ if error.error.is_caller_mistake() => {
                let sentence = error.message.trim_end_matches('.');
                Orchestration::new(Action::Stop, format!("{sentence}. Fix the field and retry."))
            }
            _ => Orchestration::new(Action::Stop, error.message),
        }
    }
}

impl From<TooManyStreams> for ApiError {
    fn from(TooManyStreams(reason): TooManyStreams) -> Self {
        ApiError::RateLimited {
            retry_after_seconds: 30,
            reason,
        }
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Refused(sentence) => ApiError::Unauthorized(sentence),
            AuthError::ForbiddenRepository(sentence) => ApiError::ForbiddenRepository(sentence),
            AuthError::Unavailable(sentence) => ApiError::IdentityUnavailable(sentence),
        }
    }
}

impl From<RefreshError> for ApiError {
    fn from(error: RefreshError) -> Self {
        match error {
            RefreshError::Source(error) => error.into(),
            RefreshError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotConfigured(message) => {
                tracing::error!(%message, "no store is configured");
                ApiError::StoreUnavailable(message)
            }
            error => {
                tracing::error!(%error, "the store did not respond");
                ApiError::StoreUnavailable(
                    "the store that holds the locks cannot be reached; try again soon".to_owned(),
                )
            }
        }
    }
}

impl From<SourceError> for ApiError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::UnknownRepository {
                repo,
                known,
                renamed_to,
            } => ApiError::UnknownRepository {
                repo,
                known: known.iter().map(ToString::to_string).collect(),
                renamed_to,
            },
            SourceError::UnknownBranch {
                repo,
                branch,
                suggestions,
                is_empty,
                hint,
            } => ApiError::UnknownBranch {
                repo,
                branch: branch.to_string(),
                suggestions,
                is_empty,
                hint,
            },
            SourceError::Unreachable(cause) => {
                tracing::error!(%cause, "the repository cannot be read");
                ApiError::SourceUnavailable("the repository cannot be read; try again soon".to_owned())
            }
            SourceError::RateLimited {
                retry_after_seconds,
                is_secondary,
            } => {
                tracing::warn!(retry_after_seconds, is_secondary, "the source is rate-limited");
                ApiError::SourceLimited { retry_after_seconds }
            }
            SourceError::NotConfigured(message) => {
                tracing::error!(%message, "the source is not set up");
                ApiError::SourceUnavailable(message)
            }
        }
    }
}
