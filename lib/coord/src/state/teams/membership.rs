//! Teams are made, joined and handed over.

use super::scripts::{CREATE_TEAM, HAND_OVER, JOIN_TEAM};
use super::terms::{TeamOutcome, TeamTerms, run, unknown};
use crate::domain::team::Handle;
use crate::state::admission::Kind;
use crate::state::reply::arguments;
use crate::store::Store;

/// How a member is known.
#[derive(Clone, Copy, Debug)]
pub struct NewMember<'a> {
    /// Its handle.
    pub handle: &'a Handle,
    /// Name of the agent, to show.
    pub name: &'a str,
    /// Kind of the agent, to show.
    pub kind: &'a str,
}

/// Makes a team that the caller leads.
///
/// # Errors
/// When the store gives no reply, or none that is understood.
pub async fn create_team(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    leader: &NewMember<'_>,
    is_strict: bool,
    description: &str,
) -> TeamOutcome<()> {
    let strict = if is_strict { "1" } else { "" };
    let args = arguments([leader.handle.as_str(), leader.name, leader.kind, strict, description]);
    run(store, &CREATE_TEAM, terms, Kind::Read, args, |reply| {
        match reply.outcome.as_str() {
            "CREATED" => Ok(()),
            _ => unknown(&reply),
        }
    })
    .await
}

/// How the caller has come to its handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joined {
    /// As a new member, or as one that had stopped.
    New {
        /// The handle.
        handle: String,
    },
    /// From another agent of the same login.
    TakenOver {
        /// The handle.
        handle: String,
        /// The agent before; empty for one without an id.
        from: String,
    },
}

/// Makes the caller a member under a handle.
///
/// # Errors
/// As those of [`create_team`].
pub async fn join_team(store: &dyn Store, terms: &TeamTerms<'_>, member: &NewMember<'_>) -> TeamOutcome<Joined> {
    let args = arguments([member.handle.as_str(), member.name, member.kind]);
    run(store, &JOIN_TEAM, terms, Kind::Read, args, |mut reply| {
        match reply.outcome.as_str() {
            "JOINED" => Ok(Joined::New { handle: reply.text()? }),
            "TAKEN_OVER" => Ok(Joined::TakenOver {
                handle: reply.text()?,
                from: reply.text()?,
            }),
            _ => unknown(&reply),
        }
    })
    .await
}

/// Makes another member the leader, and returns its handle.
///
/// # Errors
/// As those of [`create_team`].
pub async fn hand_over(store: &dyn Store, terms: &TeamTerms<'_>, to: &Handle) -> TeamOutcome<String> {
    let args = arguments([to.as_str()]);
    run(store, &HAND_OVER, terms, Kind::Read, args, |mut reply| {
        match reply.outcome.as_str() {
            "HANDED_OVER" => reply.text(),
            _ => unknown(&reply),
        }
    })
    .await
}
