//! The locks of a repository, without its graph. No head is needed, so locks on deleted branches are listed too.

use coord_protocol::{HeldLock, LocksResponse, PendingChange};

use super::lock_views::{pending_views, waiting_views};
use crate::admission::admit_to_repository;
use crate::app::App;
use crate::error::ApiError;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, LockEntry, RepoId};
use coord_state::locks::{live_locks, pending_changes, waiting_claims};

/// Maximum KiB of locks in one response. Each lock counts for at least one KiB, so a person's maximum of locks fits.
const MAX_KIB: usize = 2000;

/// A request for some locks of a repository.
#[derive(Debug)]
pub struct LocksRequest {
    pub repo: RepoId,
    /// Only locks on this branch.
    pub branch: Option<Branch>,
    /// Only locks of the caller.
    pub is_own: bool,
    /// Only locks of this agent.
    pub agent_id: Option<AgentId>,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    pub caller_agent: Option<AgentId>,
}

/// Lists the locks that `request` selects.
///
/// # Errors
/// When the caller is denied, or the store does not respond.
pub async fn list_locks(app: &App, request: LocksRequest) -> Result<LocksResponse, ApiError> {
    let LocksRequest {
        repo,
        branch,
        is_own,
        agent_id,
        caller,
        caller_agent,
    } = request;
    let read = live_locks(&repo).and(pending_changes(&repo)).and(waiting_claims(&repo));
    let (holder, ((live, pending), tickets)) =
        admit_to_repository(app, &repo, branch.as_ref(), caller, caller_agent, read).await?;
    let is_selected = |branch_name: &str, user: &str, agent: Option<&str>| {
        branch.as_ref().is_none_or(|branch| branch_name == branch.as_str())
            && (!is_own || user == holder.user_id.as_str())
            && agent_id
                .as_ref()
                .is_none_or(|agent_id| agent == Some(agent_id.as_str()))
    };
    let mut waiting = waiting_views(&tickets, &live);
    waiting.retain(|claim| is_selected(&claim.branch, &claim.user, claim.agent_id.as_deref()));
    let mut locks = live.entries;
    locks.retain(|entry| is_selected(&entry.branch, &entry.user_id, entry.agent_id.as_deref()));
    let is_selected_change =
        |change: &PendingChange| is_selected(&change.branch, &change.user, change.agent_id.as_deref());
    Ok(LocksResponse {
        pending: pending_views(pending, is_selected_change),
        waiting,
        ..locks_response(locks)
    })
}

fn held_lock(entry: LockEntry) -> HeldLock {
    let since = Some(entry.held_since());
    HeldLock {
        file_path: entry.file_path,
        branch: entry.branch,
        work_branch: entry.work_branch,
        user: entry.user_id,
        user_name: entry.user_name,
        agent_id: entry.agent_id,
        intent_id: entry.intent_id,
        status: entry.status,
        interface: entry.interface,
        shared: entry.shared,
        agent_head: Some(entry.agent_head),
        since,
        message: entry.message,
        timestamp: entry.timestamp,
        expiry: entry.expiry,
    }
}

/// As many of `locks` as a response may have, in the order of a response.
pub fn held_locks(locks: Vec<LockEntry>) -> Vec<HeldLock> {
    locks_response(locks).locks
}

fn locks_response(mut locks: Vec<LockEntry>) -> LocksResponse {
    locks.sort_by(|one, other| {
        let order = (&one.branch, &one.file_path, one.timestamp, one.token);
        order.cmp(&(&other.branch, &other.file_path, other.timestamp, other.token))
    });
    let mut kib = 0;
    let fitting = locks.iter().take_while(|entry| {
        kib += counted_kib(entry);
        kib <= MAX_KIB
    });
    let count = fitting.count();
    let locks_omitted = (locks.len() - count) as u64;
    LocksResponse {
        locks: locks.into_iter().take(count).map(held_lock).collect(),
        locks_omitted,
        pending: Vec::new(),
        waiting: Vec::new(),
    }
}

/// The KiB that `entry` counts for, which is never more than in `modules/held.lua`.
fn counted_kib(entry: &LockEntry) -> usize {
    let texts = [&entry.key, &entry.file_path, &entry.message, &entry.user_name];
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    (bytes + 256).div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_domain::LockMode;

    fn entry(number: usize, message: &str) -> LockEntry {
        let file_path = format!("src/{number:05}.ts");
        LockEntry {
            key: format!("github.com/acme/shop:main:{file_path}"),
            file_path,
            branch: "main".to_owned(),
            user_id: "ann".to_owned(),
            user_name: "Ann".to_owned(),
            agent_id: None,
            work_branch: None,
            pull_request: None,
            intent_id: None,
            task: None,
            shared: false,
            interface: None,
            interface_differs: None,
            notices: None,
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
    fn a_lock_list_fits_all_locks_of_one_login_and_counts_the_omitted_ones() {
        let short: Vec<LockEntry> = (0..MAX_KIB).map(|number| entry(number, "Reading")).collect();
        let response = locks_response(short);
        assert_eq!((response.locks.len(), response.locks_omitted), (MAX_KIB, 0));
        // 500 characters of four bytes each: two KiB and more.
        let long = "\u{1d11e}".repeat(500);
        let long: Vec<LockEntry> = (0..MAX_KIB).rev().map(|number| entry(number, &long)).collect();
        let response = locks_response(long);
        assert_eq!((response.locks.len(), response.locks_omitted), (666, 1334));
        assert_eq!(response.locks[0].file_path, "src/00000.ts");
        assert!(serde_json::to_string(&response).unwrap().len() < 4_000_000);
    }
}
