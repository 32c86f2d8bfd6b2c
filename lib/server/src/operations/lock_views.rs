//! Locks as callers see them.

use std::collections::BTreeMap;

use chrono::DateTime;
use coord_protocol::locks::LockType;
use coord_protocol::plain_text::quoted_line;
use coord_protocol::{BlockingLock, InterfacePromise, OtherLock, OwnLock, PendingChange, Reader, WaitingClaim};

use super::sentences::list_paths;
use coord_domain::{LockEntry, LockMode, UserId};
use coord_state::locks::{
    ClaimCost, Direction, Finding, LiveLocks, Pending, PendingChanges, PriorLock, Relation, Survey, Ticket,
};

fn reader(entry: &LockEntry) -> Reader {
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
    for held in &survey.held {
        if let Some(lock) = locks.get_mut(&held.file_path) {
            lock.taken_from.clone_from(&held.taken_from);
        }
    }
    locks
}

/// Others' locks by file path, DIRECT and NEIGHBOR; RESERVED and WAITING for a file without a lock that another claim wants. Locks on
/// other branches are warnings instead.
pub(super) fn others_locks(findings: &[Finding]) -> BTreeMap<String, OtherLock> {
    let mut locks = by_file(findings.iter().filter_map(|finding| match finding.relation {
        Relation::Direct if finding.is_shared => Some((&finding.entry, LockRelation::Shared)),
        Relation::Direct => Some((&finding.entry, LockRelation::Direct)),
        Relation::Neighbor => Some((&finding.entry, LockRelation::Neighbor(&finding.via))),
        Relation::CrossBranch
        | Relation::Reserved
        | Relation::Waiting
        | Relation::Pending
        | Relation::PendingInterface => None,
    }));
    for (relation, concern) in [
        (Relation::Reserved, LockRelation::Reserved),
        (Relation::Waiting, LockRelation::Waiting),
    ] {
        let of_claims = findings.iter().filter(|finding| finding.relation == relation);
        for (path, lock) in by_file(of_claims.map(|finding| (&finding.entry, concern))) {
            locks.entry(path).or_insert(lock);
        }
    }
    locks
}

/// All locks of a branch by file path.
pub(super) fn locks_on_branch(entries: &[LockEntry]) -> BTreeMap<String, OtherLock> {
    by_file(entries.iter().map(|entry| (entry, LockRelation::None)))
}

/// How a lock concerns a request; `None` for a request without files.
#[derive(Clone, Copy)]
enum LockRelation<'a> {
    None,
    Direct,
    /// It is on a file that several may write.
    Shared,
    /// The lock is on a neighbor of this file.
    Neighbor(&'a str),
    Reserved,
    Waiting,
}

fn by_file<'a>(entries: impl Iterator<Item = (&'a LockEntry, LockRelation<'a>)>) -> BTreeMap<String, OtherLock> {
    let mut files: BTreeMap<&str, Vec<(&LockEntry, LockRelation<'_>)>> = BTreeMap::new();
    for (entry, concern) in entries {
        files.entry(&entry.file_path).or_default().push((entry, concern));
    }
    files
        .into_iter()
        .filter_map(|(path, mut entries)| {
            entries.sort_by_key(|(entry, _)| (entry.timestamp, entry.token));
            let (earliest, concern) = entries.first()?;
            let (lock_type, neighbor_of) = match concern {
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
                shared: matches!(concern, LockRelation::Shared),
                message: earliest.message.clone(),
                since: Some(earliest.held_since()),
                timestamp: earliest.timestamp,
                expiry: earliest.expiry,
                agent_id: earliest.agent_id.clone(),
                intent_id: earliest.intent_id.clone(),
                readers: if entries.len() > 1 {
                    entries.iter().map(|(entry, _)| reader(entry)).collect()
                } else {
                    Vec::new()
                },
            };
            Some((path.to_owned(), view))
        })
        .collect()
}

/// The pending changes that are not over and that `is_meant`, by file and age. A response has 2,000 at most.
pub(super) fn pending_views(pending: PendingChanges, is_meant: impl Fn(&PendingChange) -> bool) -> Vec<PendingChange> {
    const MOST: usize = 2000;
    let PendingChanges { now, changes } = pending;
    let view = |Pending { entry, .. }: Pending| PendingChange {
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
    let mut views: Vec<PendingChange> = live.map(view).filter(is_meant).collect();
    views.sort_by(|one, other| {
        let order = |change: &PendingChange| (change.since, change.work_branch.clone());
        (&one.branch, &one.file_path)
            .cmp(&(&other.branch, &other.file_path))
            .then_with(|| order(one).cmp(&order(other)))
    });
    views.truncate(MOST);
    views
}

/// The claims that wait, the oldest first, with the locks of `live` that they wait for.
pub(super) fn waiting_views(tickets: &[Ticket], live: &LiveLocks) -> Vec<WaitingClaim> {
    const MOST_LOCKS: usize = 8;
    let mut on_file: BTreeMap<&str, Vec<&LockEntry>> = BTreeMap::new();
    for entry in &live.entries {
        on_file.entry(&entry.file_path).or_default().push(entry);
    }
    let view = |ticket: &Ticket| {
        let files = ticket.files.iter().map(|file| (file, false));
        let near = ticket.near.iter().map(|file| (file, true));
        let locks = files.chain(near).flat_map(|(file, is_near)| {
            let entries = on_file.get(file.as_str()).into_iter().flatten();
            entries.filter(move |entry| ticket.waits_for(entry, is_near))
        });
        let blocking = |entry: &&LockEntry| BlockingLock {
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
            waits_for: locks.take(MOST_LOCKS).map(blocking).collect(),
        }
    };
    let live_tickets = tickets.iter().filter(|ticket| ticket.end_ms() >= live.now * 1000);
    live_tickets.map(view).collect()
}

/// A holder's name, for a caller with the login `own`: another agent of the caller is named without the login.
pub(super) fn holder_name(login: &str, agent: Option<&str>, own: &UserId) -> String {
    match agent {
        Some(agent) if login == own.as_str() => format!("'{agent}'"),
        Some(agent) => format!("'{agent}' of user '{login}'"),
        None => format!("user '{login}'"),
    }
}

/// A sentence for a caller with the login `own` about a lock that concerns its request. The message is quoted: a model reads it, and
/// another person or agent has written it.
pub(super) fn sentence(finding: &Finding, own: &UserId) -> String {
    let LockEntry {
        file_path,
        user_id,
        agent_id,
        status,
        message,
        branch,
        ..
    } = &finding.entry;
    // The whole message is with the lock.
    let message = match agent_id {
        Some(_) => quoted_line(&first_words(message)),
        None => quoted_line(message),
    };
    let who = holder_name(user_id, agent_id.as_deref(), own);
    let doing = match status {
        LockMode::Reading => "read",
        LockMode::Writing => "written",
    };
    match (finding.relation, finding.direction) {
        // As documented.
        (Relation::Direct, _) if agent_id.is_none() => {
            format!("File '{file_path}' is locked by user '{user_id}' (DIRECT): {message}")
        }
        (Relation::Direct, _) => format!("File '{file_path}' is being {doing} by {who}: {message}"),
        (Relation::Reserved, _) => {
            format!("File '{file_path}' is reserved for {who}, whose claim came first: {message}")
        }
        (Relation::Waiting, _) => {
            format!("File '{file_path}' is waited for by {who}: {message}")
        }
        (Relation::CrossBranch, _) => {
            format!("File '{file_path}' is being {doing} on branch '{branch}' by {who}: {message}")
        }
        (Relation::Pending, _) => {
            let place = pull_request_name(&finding.entry);
            format!("'{file_path}' has unmerged changes by {who} on {place}: {message}")
        }
        (Relation::PendingInterface, _) => {
            let (via, place) = (&finding.via, pull_request_name(&finding.entry));
            let differs = finding.entry.interface_differs.as_deref().unwrap_or_default();
            format!(
                "'{file_path}', which '{via}' imports, has another interface on {place} of {who}: {differs}; {message}"
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
                    "File '{file_path}', which '{via}' imports, is being {doing} by {who}{keeps} (NEIGHBOR): {message}"
                ),
                (None, _) => format!(
                    "File '{file_path}', which imports '{via}', is being {doing} by {who}{keeps} (NEIGHBOR): {message}"
                ),
                (Some(_), Some(Direction::Imports)) => {
                    format!("'{via}' imports '{file_path}', being {doing} by {who}{keeps}: {message}")
                }
                (Some(_), _) => format!("'{file_path}', being {doing} by {who}{keeps}, imports '{via}': {message}"),
            }
        }
    }
}

/// As many words of a message as a sentence has room for.
fn first_words(message: &str) -> String {
    const MOST: usize = 6;
    const MOST_CHARS: usize = 80;
    let words: Vec<&str> = message.split_whitespace().collect();
    let first: String = words[..words.len().min(MOST)]
        .join(" ")
        .chars()
        .take(MOST_CHARS)
        .collect();
    match words.len() > MOST || first.chars().count() == MOST_CHARS {
        true => format!("{first}\u{2026}"),
        false => message.to_owned(),
    }
}

/// The work branch of a pending change, and its pull request.
fn pull_request_name(change: &LockEntry) -> String {
    let work_branch = change.work_branch.as_deref().unwrap_or_default();
    let pull_request = change.pull_request;
    let pull_request = pull_request.map(|number| format!(" (#{number})")).unwrap_or_default();
    format!("'{work_branch}'{pull_request}")
}

/// The writers of a shared file.
fn shared_writer(entry: &LockEntry, own: &UserId) -> String {
    format!(
        "'{}' is also being written by {}: {}",
        entry.file_path,
        holder_name(&entry.user_id, entry.agent_id.as_deref(), own),
        quoted_line(&entry.message)
    )
}

/// Warnings about locks that are reported but block nothing: on other branches, on shared files, and written neighbors; and about
/// pending changes.
pub(super) fn warnings(findings: &[Finding], own: &UserId) -> impl Iterator<Item = String> {
    findings.iter().filter_map(|finding| match finding.relation {
        Relation::CrossBranch => Some(format!("CROSS_BRANCH: {}", sentence(finding, own))),
        Relation::Pending => Some(format!("PENDING: {}", sentence(finding, own))),
        Relation::PendingInterface => Some(format!("PENDING_INTERFACE: {}", sentence(finding, own))),
        Relation::Direct if finding.is_shared && finding.entry.status == LockMode::Writing => Some(format!(
            "SHARED_FILE: {}; let the tool make it again, or merge.",
            shared_writer(&finding.entry, own)
        )),
        Relation::Neighbor if !finding.blocks && finding.entry.status == LockMode::Writing => {
            Some(format!("NEIGHBOR: {}", sentence(finding, own)))
        }
        _ => None,
    })
}

/// Maximum warnings of one response about locks that the caller already holds.
const MOST_ALREADY_HELD: usize = 8;

/// Warnings about locks that the caller held before its claim, one for each earlier claim. Without an agent id, the holder
/// may be another agent of the same person; the warning says how to distinguish them.
pub(super) fn already_held(held: &[PriorLock], has_agent_id: bool) -> Vec<String> {
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
        let (since, files, message) = (format_seconds(*since), list_paths(files), quoted_line(message));
        format!("ALREADY_HELD: You have held {files} since {since}, for {message}{hint}.")
    };
    claims.iter().take(MOST_ALREADY_HELD).map(sentence).collect()
}

/// The files that a granted claim blocks for others.
pub(super) fn cost_of_claim(cost: &ClaimCost) -> String {
    let ClaimCost {
        neighbors,
        file_path,
        is_whatever_changes,
    } = cost;
    let way = match is_whatever_changes {
        true => "release it soon",
        false => "claim it with \"interface\": \"keeps\" if its interface stays",
    };
    format!(
        "BLOCKS_OTHERS: Until you release '{file_path}', no one else can write its neighbors ({neighbors} files in all): {way}."
    )
}

/// The warning about locks that a granted claim has taken over.
pub(super) fn taken_over(held: &[PriorLock]) -> Option<String> {
    let taken: Vec<&PriorLock> = held.iter().filter(|lock| lock.taken_from.is_some()).collect();
    let giver = taken.first()?.taken_from.as_deref()?;
    let files: Vec<&str> = taken.iter().map(|lock| lock.file_path.as_str()).collect();
    Some(format!(
        "TAKEN_OVER: {} had been claimed by your agent '{giver}', whose lock is yours now.",
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
            already_held(&some, false),
            [
                "ALREADY_HELD: You have held 'a.ts', 'b.ts' since 2026-11-22T00:10:24Z, for \u{201c}Moving sessions\u{201d}; if \
                 another agent of yours claimed it, send agent_id.",
                "ALREADY_HELD: You have held 'c.ts' since 2026-11-22T00:11:40Z, for \u{201c}Splitting the lexer\u{201d}; if \
                 another agent of yours claimed it, send agent_id.",
            ]
        );
        assert_eq!(
            already_held(&some[2..], true),
            ["ALREADY_HELD: You have held 'c.ts' since 2026-11-22T00:11:40Z, for \u{201c}Splitting the lexer\u{201d}."]
        );
        let many: Vec<PriorLock> = (0..500).map(|number| held("a.ts", number, "Moving sessions")).collect();
        assert_eq!(already_held(&many, false).len(), MOST_ALREADY_HELD);
        assert!(already_held(&[], false).is_empty());
    }
}
