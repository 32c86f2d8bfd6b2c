//! Teams are created, joined and handed over.

use serde::{Deserialize, Serialize};

use super::scripts::{CREATE_TEAM, HAND_OVER, JOIN_TEAM};
use super::terms::{TeamOutcome, TeamTerms, run};
use coord_domain::team::Handle;
use coord_state::admission::{RequestKind, is_false};
use coord_store::Store;

/// A member to be added, as `modules/new_member.lua` reads it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NewMember<'a> {
    pub handle: &'a Handle,
    /// Name of the agent, to show.
    pub name: &'a str,
    /// Kind of the agent, to show.
    pub kind: &'a str,
}

/// Arguments of `create_team.lua`.
#[derive(Serialize)]
struct CreateTeamArgs<'a> {
    member: &'a NewMember<'a>,
    #[serde(skip_serializing_if = "is_false")]
    is_strict: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
}

/// Arguments of `join_team.lua`.
#[derive(Serialize)]
struct JoinTeamArgs<'a> {
    member: &'a NewMember<'a>,
}

/// Arguments of `hand_over.lua`.
#[derive(Serialize)]
struct HandOverArgs<'a> {
    to: &'a str,
}

/// Creates a team that the caller leads.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn create_team(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    leader: &NewMember<'_>,
    is_strict: bool,
    description: &str,
) -> TeamOutcome<()> {
    let team = CreateTeamArgs {
        member: leader,
        is_strict,
        description,
    };
    run(store, &CREATE_TEAM, terms, RequestKind::Read, &team, |reply| {
        reply.check_outcome("CREATED")
    })
    .await
}

/// How the caller has got its handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// As a new member, or as one that had stopped.
    New { handle: String },
    /// From another agent of the same login.
    TakenOver {
        handle: String,
        /// The previous agent; empty for one without an id.
        from: String,
    },
}

/// The answer about a member.
#[derive(Deserialize)]
struct Member {
    handle: String,
    #[serde(default)]
    from: String,
}

/// Makes the caller a member under a handle.
///
/// # Errors
/// As those of [`create_team`].
pub async fn join_team(store: &dyn Store, terms: &TeamTerms<'_>, member: &NewMember<'_>) -> TeamOutcome<JoinKind> {
    let joining = JoinTeamArgs { member };
    run(
        store,
        &JOIN_TEAM,
        terms,
        RequestKind::Read,
        &joining,
        |reply| match reply.outcome.as_str() {
            "JOINED" => reply.object().map(|Member { handle, .. }| JoinKind::New { handle }),
            "TAKEN_OVER" => reply
                .object()
                .map(|Member { handle, from }| JoinKind::TakenOver { handle, from }),
            _ => reply.unknown(),
        },
    )
    .await
}

/// Makes another member the leader, and returns its handle.
///
/// # Errors
/// As those of [`create_team`].
pub async fn hand_over(store: &dyn Store, terms: &TeamTerms<'_>, to: &Handle) -> TeamOutcome<String> {
    let handover = HandOverArgs { to: to.as_str() };
    run(store, &HAND_OVER, terms, RequestKind::Read, &handover, |reply| {
        reply.object_of("HANDED_OVER").map(|leader: Member| leader.handle)
    })
    .await
}
