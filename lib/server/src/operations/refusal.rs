//! Responses to refused agents.

use coord_protocol::{AgentError, CheckResponse, PostResponse};
use serde::Serialize;

use super::check::offline_check;
use super::post::{offline_post, refused_post};
use crate::error::ApiError;
use coord_domain::CommitSha;

/// The response to an error. If Coord is offline or the lock rules refuse the request, it is a whole response;
/// otherwise it is the error with a command.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Refusal {
    Check(CheckResponse),
    /// The response to a claim or a release.
    Post(PostResponse),
    /// The response to any request of an agent.
    Agent(AgentError),
}

impl Refusal {
    /// The response to a check, with `head` if it is known.
    pub fn of_check(error: &ApiError, head: Option<&CommitSha>) -> Self {
        if error.is_offline() {
            Refusal::Check(offline_check(error, head))
        } else {
            Refusal::Agent(error.for_agent())
        }
    }

    /// The response to a claim or a release.
    pub fn of_post(error: &ApiError) -> Self {
        match error {
            error if error.is_offline() => Refusal::Post(offline_post(error)),
            ApiError::TooManyLocks(_) | ApiError::LockTaken(_) => Refusal::Post(refused_post(error)),
            error => Refusal::Agent(error.for_agent()),
        }
    }
}
