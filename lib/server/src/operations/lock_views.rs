//! Locks as callers see them.

use std::collections::BTreeMap;

use chrono::DateTime;
use coord_protocol::locks::LockType;
use coord_protocol::plain_text::quote_line;
use coord_protocol::{BlockingLock, InterfacePromise, OtherLock, OwnLock, PendingChange, Reader, WaitingClaim};

use super::sentences::list_paths;
use coord_domain::{LockEntry, LockMode, UserId};
use coord_state::locks::{
    ClaimCost, Direction, Finding, LiveLocks, PendingChanges, PendingEntry, PriorLock, Relation, Survey, Ticket,
};

fn reader_view(entry: &LockEntry) -> Reader {
    Reader {
        user: entry.user_id.clone(),
        user_name: entry.user_name.clone(),
        status: Some(entry.status).filter(|status| *status == LockMode::Writing),
        agent_id: entry.agent_id.clone(),
        message: entry.message.clone(),
        since: Some(entry.held_since()),
        timestamp: entry.timestamp,
        expiry: entry.expiry,
    }
}

/// The caller's own locks by file path.
pub(super) fn own_locks(survey: &Survey) -> BTreeMap<String, OwnLock> {
    let view = |entry: &LockEntry| OwnLock {
        status: entry.status,
        message: entry.message.clone(),
        since: Some(entry.held_since()),
        timestamp: entry.timestamp,
        expiry: entry.expiry,
        token: entry.token,
        interface: entry.interface,
        intent_id: entry.intent_id.clone(),
        taken_from: None,
    };
    let mut locks: BTreeMap<String, OwnLock> = survey
        .own
        .iter()
        .map(|entry| (entry.file_path.clone(), view(entry)))
        .collect();
    for prior in &survey.held {
        if let Some(lock) = locks.get_mut(&prior.file_path) {
            lock.taken_from.clone_from(&prior.taken_from);
        }
    }
    locks
}

/// Others' locks by file path, DIRECT and NEIGHBOR; RESERVED and WAITING for a file that is not locked but that another
/// claim waits for. Locks on other branches are warnings instead.
pub(super) fn others_locks(findings: &[Finding]) -> BTreeMap<String, OtherLock> {
    let mut locks = group_by_file(findings.iter().filter_map(|finding| match finding.relation {
        Relation::Direct if finding.is_shared => Some((&finding.entry, LockRelation::Shared)),
        Relation::Direct => Some((&finding.entry, LockRelation::Direct)),
        Relation::Neighbor => Some((&finding.entry, LockRelation::Neighbor(&finding.via))),
        Relation::CrossBranch
        | Relation::Reserved
        | Relation::Waiting
        | Relation::Pending
        | Relation::PendingInterface => None,
    }));
    for (relation, lock_relation) in [
        (Relation::Reserved, LockRelation::Reserved),
        (Relation::Waiting, LockRelation::Waiting),
    ] {
        let claims = findings.iter().filter(|finding| finding.relation == relation);
        for (path, lock) in group_by_file(claims.map(|finding| (&finding.entry, lock_relation))) {
            locks.entry(path).or_insert(lock);
        }
    }
    locks
}

/// All locks of a branch by file path.
pub(super) fn locks_on_branch(entries: &[LockEntry]) -> BTreeMap<String, OtherLock> {
    group_by_file(entries.iter().map(|entry| (entry, LockRelation::None)))
}

/// How a lock affects a request; `None` for a request without files.
#[derive(Clone, Copy)]
enum LockRelation<'a> {
    None,
    Direct,
    /// The lock is on a file that several agents may write.
    Shared,
    /// The lock is on a neighbor of this file.
    Neighbor(&'a str),
    Reserved,
    Waiting,
}

fn group_by_file<'a>(entries: impl Iterator<Item = (&'a LockEntry, LockRelation<'a>)>) -> BTreeMap<String, OtherLock> {
    let mut files: BTreeMap<&str, Vec<(&LockEntry, LockRelation<'_>)>> = BTreeMap::new();
    for (entry, relation) in entries {
        files.entry(&entry.file_path).or_default().push((entry, relation));
    }
    files
        .into_iter()
        .filter_map(|(path, mut entries)| {
            entries.sort_by_key(|(entry, _)| (entry.timestamp, entry.token));
            let (earliest, relation) = entries.first()?;
            let (lock_type, neighbor_of) = match relation {
                LockRelation::None => (None, None),
                LockRelation::Direct | LockRelation::Shared => (Some(LockType::Direct), None),
                LockRelation::Neighbor(via) => (Some(LockType::Neighbor), Some((*via).to_owned())),
                LockRelation::Reserved => (Some(LockType::Reserved), None),
                LockRelation::Waiting => (Some(LockType::Waiting), None),
            };
            let view = OtherLock {
                user: earliest.user_id.clone(),
                user_name: earliest.user_name.clone(),
                status: earliest.status,
                lock_type,
                neighbor_of,
                interface: earliest.interface,
                shared: matches!(relation, LockRelation::Shared),
                message: earliest.message.clone(),
                since: Some(earliest.held_since()),
                timestamp: earliest.timestamp,
                expiry: earliest.expiry,
                agent_id: earliest.agent_id.clone(),
                intent_id: earliest.intent_id.clone(),
                readers: if entries.len() > 1 {
                    entries.iter().map(|(entry, _)| reader_view(entry)).collect()
                } else {
                    Vec::new()
                },
            };
            Some((path.to_owned(), view))
        })
        .collect()
}

/// The pending changes that are not over and that `is_selected` selects, by file and age. A response has at most 2,000.
pub(super) fn pending_views(
    pending: PendingChanges,
    is_selected: impl Fn(&PendingChange) -> bool,
) -> Vec<PendingChange> {
    const MAX_CHANGES: usize = 2000;
    let PendingChanges { now, changes } = pending;
    let view = |PendingEntry { entry, .. }: PendingEntry| PendingChange {
        file_path: entry.file_path,
        branch: entry.branch,
        work_branch: entry.work_branch.unwrap_or_default(),
        user: entry.user_id,
        user_name: entry.user_name,
        agent_id: entry.agent_id,
        head: entry.agent_head,
        message: entry.message,
        since: entry.timestamp,
        pull_request: entry.pull_request,
    };
    let live = changes.into_iter().filter(|change| change.entry.expiry > now);
    let mut views: Vec<PendingChange> = live.map(view).filter(is_selected).collect();
    views.sort_by(|one, other| {
        let order = (&one.branch, &one.file_path, one.since, &one.work_branch);
        order.cmp(&(&other.branch, &other.file_path, other.since, &other.work_branch))
    });
    views.truncate(MAX_CHANGES);
    views
}

/// The waiting claims, oldest first, with the locks of `live` that they wait for.
pub(super) fn waiting_views(tickets: &[Ticket], live: &LiveLocks) -> Vec<WaitingClaim> {
    const MAX_LOCKS: usize = 8;
    let mut locks_by_file: BTreeMap<&str, Vec<&LockEntry>> = BTreeMap::new();
    for entry in &live.entries {
        locks_by_file.entry(&entry.file_path).or_default().push(entry);
    }
    let view = |ticket: &Ticket| {
        let files = ticket.files.iter().map(|file| (file, false));
        let neighbors = ticket.near.iter().map(|file| (file, true));
        let locks = files.chain(neighbors).flat_map(|(file, is_neighbor)| {
            let entries = locks_by_file.get(file.as_str()).into_iter().flatten();
            entries.filter(move |entry| ticket.waits_for(entry, is_neighbor))
        });
        let blocking_lock = |entry: &&LockEntry| BlockingLock {
            file_path: entry.file_path.clone(),
            user: entry.user_id.clone(),
            agent_id: entry.agent_id.clone(),
        };
        WaitingClaim {
            file_paths: ticket.files.clone(),
            branch: ticket.branch.clone(),
            user: ticket.user_id.clone(),
            user_name: ticket.user_name.clone(),
            agent_id: ticket.agent_id.clone(),
            status: ticket.status,
            message: ticket.message.clone(),
            since: ticket.since / 1000,
            reserved_until: ticket.reserved.map(|until| until / 1000),
            waits_for: locks.take(MAX_LOCKS).map(blocking_lock).collect(),
        }
    };
    let live_tickets = tickets.iter().filter(|ticket| ticket.end_ms() >= live.now * 1000);
    live_tickets.map(view).collect()
}

/// A holder's name, for a caller with the login `own`. The caller's other agents are named without the login.
pub(super) fn holder_name(login: &str, agent: Option<&str>, own: &UserId) -> String {
    match agent {
        Some(agent) if login == own.as_str() => format!("'{agent}'"),
        Some(agent) => format!("'{agent}' of user '{login}'"),
        None => format!("user '{login}'"),
    }
}

/// A sentence about a finding, for a caller with the login `own`. The message is quoted, because a model reads it and
/// another person or agent has written it.
pub(super) fn describe_finding(finding: &Finding, own: &UserId) -> String {
    let LockEntry {
        file_path,
        user_id,
        agent_id,
        status,
        message,
        branch,
        ..
    } = &finding.entry;
    // The response has the whole message with the lock.
    let message = match agent_id {
        Some(_) => quote_line(&first_words(message)),
        None => quote_line(message),
    };
    let holder = holder_name(user_id, agent_id.as_deref(), own);
    let verb = match status {
        LockMode::Reading => "read",
        LockMode::Writing => "written",
    };
    match (finding.relation, finding.direction) {
        // As documented.
        (Relation::Direct, _) if agent_id.is_none() => {
            format!("File '{file_path}' is locked by user '{user_id}' (DIRECT): {message}")
        }
        (Relation::Direct, _) => format!("File '{file_path}' is being {verb} by {holder}: {message}"),
        (Relation::Reserved, _) => {
            format!("File '{file_path}' is reserved for {holder}, whose claim came first: {message}")
        }
        (Relation::Waiting, _) => {
            format!("File '{file_path}' is waited for by {holder}: {message}")
        }
        (Relation::CrossBranch, _) => {
            format!("File '{file_path}' is being {verb} on branch '{branch}' by {holder}: {message}")
        }
        (Relation::Pending, _) => {
            let change = pending_change_name(&finding.entry);
            format!("'{file_path}' has unmerged changes by {holder} on {change}: {message}")
        }
        (Relation::PendingInterface, _) => {
            let (via, change) = (&finding.via, pending_change_name(&finding.entry));
            let difference = finding.entry.interface_differs.as_deref().unwrap_or_default();
            format!(
                "'{file_path}', which '{via}' imports, has another interface on {change} of {holder}: {difference}; \
                 {message}"
            )
        }
        (Relation::Neighbor, direction) => {
            let via = &finding.via;
            let keeps = match finding.entry.interface {
                Some(InterfacePromise::Keeps) => ", who keeps its interface",
                _ => "",
            };
            match (agent_id, direction) {
                // As documented.
                (None, Some(Direction::Imports)) => format!(
                    "File '{file_path}', which '{via}' imports, is being {verb} by {holder}{keeps} (NEIGHBOR): \
                     {message}"
                ),
                (None, _) => format!(
                    "File '{file_path}', which imports '{via}', is being {verb} by {holder}{keeps} (NEIGHBOR): \
                     {message}"
                ),
                (Some(_), Some(Direction::Imports)) => {
                    format!("'{via}' imports '{file_path}', being {verb} by {holder}{keeps}: {message}")
                }
                (Some(_), _) => format!("'{file_path}', being {verb} by {holder}{keeps}, imports '{via}': {message}"),
            }
        }
    }
}

/// The first words of a message, as many as a sentence has room for.
fn first_words(message: &str) -> String {
    const MAX_WORDS: usize = 6;
    const MAX_CHARS: usize = 80;
    let words: Vec<&str> = message.split_whitespace().collect();
    let first: String = words[..words.len().min(MAX_WORDS)]
        .join(" ")
        .chars()
        .take(MAX_CHARS)
        .collect();
    match words.len() > MAX_WORDS || first.chars().count() == MAX_CHARS {
        true => format!("{first}\u{2026}"),
        false => message.to_owned(),
    }
}

/// The work branch of a pending change, and its pull request.
fn pending_change_name(change: &LockEntry) -> String {
    let work_branch = change.work_branch.as_deref().unwrap_or_default();
    let pull_request = change.pull_request;
    let pull_request = pull_request.map(|number| format!(" (#{number})")).unwrap_or_default();
    format!("'{work_branch}'{pull_request}")
}

/// The writer of a shared file, in words.
fn shared_writer(entry: &LockEntry, own: &UserId) -> String {
    format!(
        "'{}' is also being written by {}: {}",
        entry.file_path,
        holder_name(&entry.user_id, entry.agent_id.as_deref(), own),
        quote_line(&entry.message)
    )
}

/// Warnings about findings that block nothing: locks on other branches, on shared files and on written neighbors, and
/// pending changes.
pub(super) fn finding_warnings(findings: &[Finding], own: &UserId) -> impl Iterator<Item = String> {
    findings.iter().filter_map(|finding| match finding.relation {
        Relation::CrossBranch => Some(format!("CROSS_BRANCH: {}", describe_finding(finding, own))),
        Relation::Pending => Some(format!("PENDING: {}", describe_finding(finding, own))),
        Relation::PendingInterface => Some(format!("PENDING_INTERFACE: {}", describe_finding(finding, own))),
        Relation::Direct if finding.is_shared && finding.entry.status == LockMode::Writing => Some(format!(
            "SHARED_FILE: {}; regenerate it with its tool, or merge.",
            shared_writer(&finding.entry, own)
        )),
        Relation::Neighbor if !finding.blocks && finding.entry.status == LockMode::Writing => {
            Some(format!("NEIGHBOR: {}", describe_finding(finding, own)))
        }
        _ => None,
    })
}

/// Maximum number of warnings of one response about locks that the caller already holds.
const MAX_ALREADY_HELD: usize = 8;

/// Warnings about locks that the caller held before its claim, one for each earlier claim. Without an agent id, the
/// holder may be another agent of the same person; the warning says how to distinguish them.
pub(super) fn already_held_warnings(held: &[PriorLock], has_agent_id: bool) -> Vec<String> {
    let mut claims: BTreeMap<(i64, &str), Vec<&str>> = BTreeMap::new();
    for lock in held.iter().filter(|lock| lock.taken_from.is_none()) {
        claims
            .entry((lock.since, &lock.message))
            .or_default()
            .push(&lock.file_path);
    }
    let hint = if has_agent_id {
        ""
    } else {
        "; if another agent of yours claimed it, send agent_id"
    };
    let sentence = |((since, message), files): (&(i64, &str), &Vec<&str>)| {
        let (since, files, message) = (format_seconds(*since), list_paths(files), quote_line(message));
        format!("ALREADY_HELD: You have held {files} since {since}, for {message}{hint}.")
    };
    claims.iter().take(MAX_ALREADY_HELD).map(sentence).collect()
}

/// The warning about the files that a granted claim blocks for others.
pub(super) fn claim_cost_warning(cost: &ClaimCost) -> String {
    let ClaimCost {
        neighbors,
        file_path,
        blocks_always,
    } = cost;
    let advice = match blocks_always {
        true => "release it soon",
        false => "claim it with \"interface\": \"keeps\" if its interface stays",
    };
    format!(
        "BLOCKS_OTHERS: Until you release '{file_path}', no one else can write its neighbors ({neighbors} files in \
         all): {advice}."
    )
}

/// The warning about locks that a granted claim has taken over.
pub(super) fn taken_over_warning(held: &[PriorLock]) -> Option<String> {
    let taken_over: Vec<&PriorLock> = held.iter().filter(|lock| lock.taken_from.is_some()).collect();
    let previous_holder = taken_over.first()?.taken_from.as_deref()?;
    let files: Vec<&str> = taken_over.iter().map(|lock| lock.file_path.as_str()).collect();
    Some(format!(
        "TAKEN_OVER: {} had been claimed by your agent '{previous_holder}', whose lock is yours now.",
        list_paths(&files)
    ))
}

/// `unix_seconds` as readable text, in UTC.
fn format_seconds(unix_seconds: i64) -> String {
    DateTime::from_timestamp_secs(unix_seconds).map_or_else(
        || unix_seconds.to_string(),
        |time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
    )
}

/// Pending messages and questions for the caller in each of its teams.
pub fn memberships(stored: &[coord_state::seams::Membership]) -> Vec<coord_protocol::Membership> {
    let membership = |stored: &coord_state::seams::Membership| coord_protocol::Membership {
        team: stored.team.clone(),
        handle: stored.handle.clone(),
        waiting: stored.waiting.clone().into(),
    };
    stored.iter().map(membership).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_locks_are_reported_once_for_each_of_a_few_claims() {
        let held = |file: &str, since, message: &str| PriorLock {
            file_path: file.to_owned(),
            status: LockMode::Writing,
            since,
            message: message.to_owned(),
            taken_from: None,
        };
        let some = [
            held("a.ts", 1_795_306_224, "Moving sessions"),
            held("b.ts", 1_795_306_224, "Moving sessions"),
            held("c.ts", 1_795_306_300, "Splitting the lexer"),
        ];
        assert_eq!(
            already_held_warnings(&some, false),
            [
                "ALREADY_HELD: You have held 'a.ts', 'b.ts' since 2026-11-22T00:10:24Z, \
                 for \u{201c}Moving sessions\u{201d}; if another agent of yours claimed it, send agent_id.",
                "ALREADY_HELD: You have held 'c.ts' since 2026-11-22T00:11:40Z, \
                 for \u{201c}Splitting the lexer\u{201d}; if another agent of yours claimed it, send agent_id.",
            ]
        );
        assert_eq!(
            already_held_warnings(&some[2..], true),
            ["ALREADY_HELD: You have held 'c.ts' since 2026-11-22T00:11:40Z, for \u{201c}Splitting the lexer\u{201d}."]
        );
        let many: Vec<PriorLock> = (0..500).map(|number| held("a.ts", number, "Moving sessions")).collect();
        assert_eq!(already_held_warnings(&many, false).len(), MAX_ALREADY_HELD);
        assert!(already_held_warnings(&[], false).is_empty());
    }
}
