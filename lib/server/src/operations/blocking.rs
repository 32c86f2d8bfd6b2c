//! Others' locks that block an operation.

use coord_protocol::Metadata;

use super::lock_views::describe_finding;
use coord_domain::UserId;
use coord_state::locks::{Finding, Relation};

pub(super) fn blocking_findings(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.blocks).collect()
}

/// The reason for a caller with the login `own`: a sentence about the first lock, and the number of others.
pub(super) fn blocking_reason(blocking: &[&Finding], own: &UserId) -> String {
    let first = blocking
        .first()
        .map(|finding| describe_finding(finding, own))
        .unwrap_or_default();
    match blocking.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

/// The findings that expire. A pending change does not: it ends when it is merged.
pub(super) fn expiring<'a>(blocking: &'a [&'a Finding]) -> impl Iterator<Item = &'a &'a Finding> {
    blocking.iter().filter(|finding| finding.relation != Relation::Pending)
}

/// The holders of these locks; with `now`, also the time until the first lock expires.
pub(super) fn blocking_metadata(blocking: &[&Finding], now: Option<i64>) -> Metadata {
    let mut conflicts: Vec<String> = blocking.iter().map(|finding| finding.entry.file_path.clone()).collect();
    conflicts.sort();
    conflicts.dedup();
    let first_free = expiring(blocking).map(|finding| finding.entry.free_from()).min();
    Metadata {
        lock_owner: blocking.first().map(|finding| finding.entry.user_id.clone()),
        lock_owner_agent: blocking.first().and_then(|finding| finding.entry.agent_id.clone()),
        conflicts,
        retry_after: now.zip(first_free).map(|(now, free)| (free - now).max(1)),
        ..Metadata::default()
    }
}
