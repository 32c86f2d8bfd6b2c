//! Members, leader and approvals of the configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::sides::{FileImport, Sides};
use super::{AgreedState, Change, Finding, Kind, StoreTeam};
use crate::bounds::{MEMBERS, TEXT_BYTES};
use crate::layout::Entry;
use crate::message::{InboxFile, MessageType};
use crate::names::Handle;
use crate::refusal::quote;
use crate::team::{ConfigFile, TeamConfig};

/// New members join as handles of this login; a file cannot remove a member, or make one the leader.
pub fn joins(sides: &Sides, config: &TeamConfig, found: &mut FileImport) {
    let entry = Entry::Config(sides.store.name.clone());
    let folded = |handle: &Handle| (handle.folded(), handle.as_str().to_owned());
    let mut taken: BTreeMap<_, _> = sides.store.members.keys().map(folded).collect();
    for (at, member) in config.members.iter().enumerate() {
        let field = format!("members[{at}].agentId");
        let handle = match Handle::parse(&member.agent_id) {
            Ok(handle) => handle,
            Err(wrong) => {
                found
                    .findings
                    .push(Finding::new(Kind::Unreadable, &entry, field, wrong.to_string()));
                continue;
            }
        };
        if sides.store.members.contains_key(&handle) || seen_member(sides.seen, handle.as_str()) {
            continue;
        }
        let refused = if let Some(other) = taken.get(&handle.folded()) {
            Some((
                Kind::Foreign,
                format!("the handle {other} is taken, and handles must differ in more than case"),
            ))
        } else if taken.len() >= MEMBERS {
            Some((Kind::Bounds, format!("a team has {MEMBERS} members at most")))
        } else if member.agent_name.len().max(member.agent_type.len()) > TEXT_BYTES {
            Some((Kind::Bounds, format!("names have {TEXT_BYTES} bytes at most")))
        } else {
            None
        };
        if let Some((kind, message)) = refused {
            found.findings.push(Finding::new(kind, &entry, field, message));
            continue;
        }
        taken.insert(handle.folded(), handle.to_string());
        found.changes.push(Change::Join {
            handle,
            name: member.agent_name.clone(),
            kind: member.agent_type.clone(),
        });
    }
    let in_file: BTreeSet<_> = config.members.iter().map(|member| member.agent_id.as_str()).collect();
    for handle in sides
        .store
        .members
        .keys()
        .filter(|handle| seen_member(sides.seen, handle.as_str()))
    {
        if !in_file.contains(handle.as_str()) {
            let message = format!("{handle} was taken out; a member leaves by its own call");
            found
                .findings
                .push(Finding::new(Kind::NotByFile, &entry, "members", message));
        }
    }
    if config.leader != sides.store.leader.as_str() {
        let (file, store) = (quote(&config.leader), &sides.store.leader);
        let message = format!("{file} does not lead, {store} does; the leader hands over by its own call");
        found
            .findings
            .push(Finding::new(Kind::NotByFile, &entry, "leader", message));
    }
}

/// New names in `shutdownApprovals`, each for itself.
pub fn shutdown(sides: &Sides, config: &TeamConfig, found: &mut FileImport) {
    let entry = Entry::Config(sides.store.name.clone());
    let mut open = sides.store.shutdown_open;
    let mut done = BTreeSet::new();
    // The sender of a request in files comes first: the list has no authors.
    let messages = sides.folder.inboxes.values().flat_map(InboxFile::messages);
    let requests = messages.filter(|message| message.kind == MessageType::ShutdownRequest);
    let authors: BTreeSet<&str> = requests.map(|message| message.from.as_str()).collect();
    let mut names: Vec<_> = config.shutdown_approvals.iter().flatten().enumerate().collect();
    names.sort_by_key(|(_, name)| !authors.contains(name.as_str()));
    for (at, name) in names {
        let seen = sides.seen.is_some_and(|seen| seen.approvals.contains(name));
        if seen || sides.store.approvals.contains(name.as_str()) || !done.insert(name) {
            continue;
        }
        // A list that is older than the first sync is probably left from a shutdown that has ended.
        if sides.seen.is_none() {
            found.old_approvals.push(name.clone());
            continue;
        }
        let field = format!("shutdownApprovals[{at}]");
        match found.speaker(sides.store, name) {
            Some(handle) if open => found.changes.push(Change::ApproveShutdown(handle)),
            Some(handle) => {
                open = true;
                found.changes.push(Change::RequestShutdown(handle));
            }
            None => {
                let message = format!(
                    "{} is no handle of this login, and only its own login can approve for it",
                    quote(name)
                );
                found.findings.push(Finding::new(Kind::Foreign, &entry, field, message));
            }
        }
    }
}

fn seen_member(seen: Option<&AgreedState>, handle: &str) -> bool {
    seen.is_some_and(|seen| seen.members.contains(handle))
}

/// The file as the store has the team: its members, leader and approvals. Names, types and times that the file has stay.
pub fn write(seen: Option<&AgreedState>, file: Option<&ConfigFile>, store: &StoreTeam) -> ConfigFile {
    let new = store.config_file();
    let Some(file) = file else {
        return ConfigFile::new(new);
    };
    let mut config = file.config().clone();
    // A member that the store refused stays in the file; one that left goes.
    config
        .members
        .retain(|member| store.members.contains_key(member.agent_id.as_str()) || !seen_member(seen, &member.agent_id));
    let there: BTreeSet<_> = config.members.iter().map(|member| member.agent_id.clone()).collect();
    config.members.extend(
        new.members
            .into_iter()
            .filter(|member| !there.contains(&member.agent_id)),
    );
    config.leader = new.leader;
    let set = |approvals: &Option<Vec<String>>| approvals.iter().flatten().cloned().collect::<BTreeSet<_>>();
    if set(&config.shutdown_approvals) != set(&new.shutdown_approvals) {
        config.shutdown_approvals = new.shutdown_approvals;
    }
    file.with(config)
}
