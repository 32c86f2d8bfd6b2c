//! Responses to refused agents.

use coord_protocol::{AgentError, CheckResponse, PostResponse};
use serde::Serialize;

use super::check::offline_check;
use super::post::{offline_post, refused_post};
use crate::error::ApiError;
use coord_domain::CommitSha;

/// An error as an agent gets it: a whole response where nothing is known, or where the rules refuse it; otherwise the error with a
/// command.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Refusal {
    /// Of a check.
    Check(CheckResponse),
    /// Of a claim or a release.
    Post(PostResponse),
    /// Of any request of an agent.
    Agent(AgentError),
}

impl Refusal {
    /// That of a check, for which `head` is still known.
    pub fn of_check(error: &ApiError, head: Option<&CommitSha>) -> Self {
        if error.is_offline() {
            Refusal::Check(offline_check(error, head))
        } else {
            Refusal::Agent(error.for_agent())
        }
    }

    /// That of a claim or a release.
    pub fn of_post(error: &ApiError) -> Self {
        match error {
            error if error.is_offline() => Refusal::Post(offline_post(error)),
            ApiError::TooManyLocks(_) | ApiError::LockTaken(_) => Refusal::Post(refused_post(error)),
            error => Refusal::Agent(error.for_agent()),
        }
    }
}
