use serde::Deserialize;

use super::scripts::{DELETE_TEAM, LEAVE_TEAM};
use crate::teams::{TeamOutcome, TeamTerms, run};
use coord_state::admission::RequestKind;
use coord_store::Store;

/// The answer of `leave_team.lua`.
#[derive(Deserialize)]
struct LeaveAnswer {
    #[serde(default)]
    given_back: Vec<String>,
}

/// Ends the caller's membership, and returns the tasks that it released.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn leave_team(store: &dyn Store, terms: &TeamTerms<'_>) -> TeamOutcome<Vec<String>> {
    run(store, &LEAVE_TEAM, terms, RequestKind::Release, &(), |reply| {
        reply.object_of("LEFT").map(|answer: LeaveAnswer| answer.given_back)
    })
    .await
}

/// Removes a team that is closed, or that has no other live member.
///
/// # Errors
/// As those of [`leave_team`].
pub async fn delete_team(store: &dyn Store, terms: &TeamTerms<'_>) -> TeamOutcome<()> {
    run(store, &DELETE_TEAM, terms, RequestKind::Release, &(), |reply| {
        reply.check_outcome("DELETED")
    })
    .await
}
