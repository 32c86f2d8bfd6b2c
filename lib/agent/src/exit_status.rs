//! Exit statuses of commands that ask a server.

use std::fmt;
use std::process::ExitCode;

use coord_mcp::Outcome;
use coord_protocol::{Action, ErrorCode, Status};

/// Exit statuses of commands that ask a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// PROCEED, or the request was carried out.
    Done = 0,
    /// The request is invalid: fix it.
    Error = 1,
    /// Refused by the rules: a conflicting lock, PULL, PUSH, a limit.
    Refused = 3,
    /// The server did not answer, so the state of the locks is unknown.
    Offline = 4,
}

/// A failed request, as the error of a command.
#[derive(Debug)]
pub(crate) struct FailedRequest {
    pub sentence: String,
    pub status: ExitStatus,
}

impl fmt::Display for FailedRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.sentence)
    }
}

impl std::error::Error for FailedRequest {}

impl ExitStatus {
    /// The status of a command that is done, or that the rules refused.
    pub fn refused_if(is_refused: bool) -> ExitStatus {
        match is_refused {
            true => ExitStatus::Refused,
            false => ExitStatus::Done,
        }
    }

    /// The status of a command that failed with `error`.
    pub fn of_error(error: &anyhow::Error) -> ExitStatus {
        error
            .downcast_ref::<FailedRequest>()
            .map_or(ExitStatus::Error, |failed| failed.status)
    }

    pub fn of(outcome: &Outcome) -> ExitStatus {
        let of_error = |code: ErrorCode| match code {
            ErrorCode::StoreUnavailable
            | ErrorCode::SourceUnavailable
            | ErrorCode::SourceLimited
            | ErrorCode::IdentityUnavailable
            | ErrorCode::TimedOut => ExitStatus::Offline,
            ErrorCode::RateLimited => ExitStatus::Refused,
            code if code.is_team_rule() || code.status() == 409 => ExitStatus::Refused,
            _ => ExitStatus::Error,
        };
        match outcome {
            Outcome::Check(response) => match (response.status, response.orchestration.action) {
                (Status::Offline, _) => ExitStatus::Offline,
                (_, Action::Proceed) => ExitStatus::Done,
                _ => ExitStatus::Refused,
            },
            Outcome::Post(response) if response.success => ExitStatus::Done,
            Outcome::Post(response) => match &response.error {
                Some(error) if of_error(error.error) == ExitStatus::Offline => ExitStatus::Offline,
                _ => ExitStatus::Refused,
            },
            Outcome::Intent(response) if !response.success => ExitStatus::Refused,
            Outcome::Intent(_) | Outcome::Team(_) => ExitStatus::Done,
            Outcome::Refused(error) => of_error(error.error.error),
            Outcome::Malformed(_) => ExitStatus::Error,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        (status as u8).into()
    }
}

#[cfg(test)]
mod tests {
    use coord_protocol::{AgentError, ErrorBody, Orchestration, PostResponse};
    use coord_server::error::ApiError;
    use coord_server::operations::Refusal;

    use super::*;

    #[test]
    fn refused_offline_and_error_outcomes_have_distinct_exit_statuses() {
        let post = |code: ErrorCode, action: Action| {
            Outcome::Post(PostResponse::refusal(code, Orchestration::new(action, "why")))
        };
        let refused = |code: ErrorCode| {
            let error = ErrorBody {
                error: code,
                message: "why".to_owned(),
                field: None,
            };
            let orchestration = Orchestration::new(Action::Stop, "why");
            Outcome::Refused(AgentError {
                error,
                orchestration,
                waiting: coord_protocol::Waiting::default(),
            })
        };
        let offline = || Outcome::from(Refusal::of_check(&ApiError::StoreUnavailable("why".to_owned()), None));
        for (outcome, status) in [
            (post(ErrorCode::LockConflict, Action::Wait), ExitStatus::Refused),
            (post(ErrorCode::NotPushed, Action::Push), ExitStatus::Refused),
            (post(ErrorCode::LockLost, Action::Stop), ExitStatus::Refused),
            (post(ErrorCode::StoreUnavailable, Action::Stop), ExitStatus::Offline),
            (refused(ErrorCode::RateLimited), ExitStatus::Refused),
            (refused(ErrorCode::SourceLimited), ExitStatus::Offline),
            (refused(ErrorCode::Unauthorized), ExitStatus::Error),
            (refused(ErrorCode::UnknownBranch), ExitStatus::Error),
            (offline(), ExitStatus::Offline),
        ] {
            assert_eq!(ExitStatus::of(&outcome), status, "{outcome:?}");
        }
    }
}
