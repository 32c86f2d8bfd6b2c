//! `GET /api/locks`: who holds what, without the graph. The function of `graph` serves it. It needs no head: what is held on a
//! branch that is gone is shown as well.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use coord_protocol::schema::{AgentId, Branch as BranchName, RepoUrl};
use coord_protocol::{HeldLock, LocksResponse};
use serde::Deserialize;

use super::entrance::enter_repository;
use super::openapi::LocksAnswers;
use super::openapi::fields::{self, AgentHeaders};
use super::question::{agent_of, in_field, required};
use super::{ApiError, live_locks};
use crate::app::App;
use crate::domain::{Branch, LockEntry, RepoId};
use crate::store::StoreError;

/// Most KiB of locks in one answer, where each counts for one at least: as many as one person may hold.
const MOST_KIB: usize = 2000;

/// The query as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LocksQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// Locks on this branch alone; without it, on all branches.
    #[param(value_type = BranchName, required = false, example = "main")]
    branch: Option<String>,
    /// `me`: locks of the caller alone, those of all of its agents, unless an agent is named.
    #[param(schema_with = fields::me, required = false)]
    holder: Option<String>,
    /// Locks of this agent alone. With `holder=me` the header `X-Coord-Agent` does as well.
    #[param(value_type = AgentId, required = false)]
    agent_id: Option<String>,
}

fn held_lock(entry: LockEntry) -> HeldLock {
    HeldLock {
        file_path: entry.file_path,
        branch: entry.branch,
        user: entry.user_id,
        user_name: entry.user_name,
        agent_id: entry.agent_id,
        status: entry.status,
        message: entry.message,
        timestamp: entry.timestamp,
        expiry: entry.expiry,
    }
}

/// Who holds what, without the graph.
///
/// `GET /api/locks?repo_url=URL[&branch=NAME][&holder=me][&agent_id=AGENT]`. A branch that does not exist holds nothing.
#[utoipa::path(
    get,
    path = "/api/locks",
    tag = "people",
    params(LocksQuery, AgentHeaders),
    responses(LocksAnswers),
    security(("bearer" = []))
)]
pub(super) async fn get_locks(
    State(state): State<App>,
    headers: HeaderMap,
    query: Result<Query<LocksQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<LocksResponse>, ApiError> {
    let asks_for_own = query.as_ref().is_ok_and(|query| query.holder.is_some());
    let caller = if asks_for_own {
        state.authenticator.authenticate(&headers).await?
    } else {
        state.authenticator.authenticate_reader(&headers).await?
    };
    let Query(query) = query.map_err(|_| ApiError::MalformedBody {
        field: None,
        message:
            "the query cannot be read; send repo_url, and where you want them branch, holder and agent_id, once each"
                .to_owned(),
    })?;
    let repo = RepoId::parse(required("repo_url", &query.repo_url)?).map_err(in_field("repo_url"))?;
    let entrant = caller.enter(&repo)?;
    let branch = query.branch.as_deref().map(Branch::parse).transpose();
    let branch = branch.map_err(in_field("branch"))?;
    if query.holder.as_ref().is_some_and(|holder| holder != "me") {
        return Err(ApiError::InvalidField {
            field: "holder",
            problem: "must be me; without it you get the locks of all".to_owned(),
        });
    }
    let caller_agent = agent_of(&query.agent_id, &headers)?;
    let agent_id = if asks_for_own || query.agent_id.is_some() {
        caller_agent.clone()
    } else {
        None
    };

    let requests = live_locks::requests(&repo).to_vec();
    let (caller, replies) = enter_repository(&state, &repo, branch.as_ref(), entrant, caller_agent, requests).await?;
    let [locks, time] = replies.as_slice() else {
        return Err(StoreError::Malformed("not as many replies as questions".to_owned()).into());
    };
    let (locks, _) = live_locks::read(locks, time, |entry| {
        branch.as_ref().is_none_or(|branch| entry.branch == branch.as_str())
            && (!asks_for_own || entry.user_id == caller.user_id.as_str())
            && agent_id
                .as_ref()
                .is_none_or(|agent| entry.agent_id.as_deref() == Some(agent.as_str()))
    })?;
    Ok(Json(response_of(locks)))
}

fn response_of(mut locks: Vec<LockEntry>) -> LocksResponse {
    locks.sort_by(|one, other| {
        let order = |entry: &LockEntry| (entry.timestamp, entry.token);
        (&one.branch, &one.file_path)
            .cmp(&(&other.branch, &other.file_path))
            .then_with(|| order(one).cmp(&order(other)))
    });
    let mut kib = 0;
    let fitting = locks.iter().take_while(|entry| {
        kib += kib_of(entry);
        kib <= MOST_KIB
    });
    let fitting = fitting.count();
    let locks_omitted = (locks.len() - fitting) as u64;
    LocksResponse {
        locks: locks.into_iter().take(fitting).map(held_lock).collect(),
        locks_omitted,
    }
}

/// How much `entry` counts for: never more than in `includes/held.lua`.
fn kib_of(entry: &LockEntry) -> usize {
    let texts = [&entry.key, &entry.file_path, &entry.message, &entry.user_name];
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    (bytes + 256).div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LockMode;

    fn entry(number: usize, message: &str) -> LockEntry {
        let file_path = format!("src/{number:05}.ts");
        LockEntry {
            key: format!("github.com/acme/shop:main:{file_path}"),
            file_path,
            branch: "main".to_owned(),
            user_id: "ann".to_owned(),
            user_name: "Ann".to_owned(),
            agent_id: None,
            status: LockMode::Reading,
            agent_head: "9bee4e1".to_owned(),
            message: message.to_owned(),
            timestamp: 1,
            expiry: 2,
            expiry_ms: None,
            granted_at: None,
            token: 1,
        }
    }

    #[test]
    fn an_answer_holds_all_that_one_person_may_hold_and_says_how_many_it_leaves_out() {
        let short: Vec<LockEntry> = (0..MOST_KIB).map(|number| entry(number, "Reading")).collect();
        let answer = response_of(short);
        assert_eq!((answer.locks.len(), answer.locks_omitted), (MOST_KIB, 0));
        // 500 characters of four bytes each: two KiB and more.
        let long = "\u{1d11e}".repeat(500);
        let long: Vec<LockEntry> = (0..MOST_KIB).rev().map(|number| entry(number, &long)).collect();
        let answer = response_of(long);
        assert_eq!((answer.locks.len(), answer.locks_omitted), (666, 1334));
        assert_eq!(answer.locks[0].file_path, "src/00000.ts");
        assert!(serde_json::to_string(&answer).unwrap().len() < 4_000_000);
    }
}
