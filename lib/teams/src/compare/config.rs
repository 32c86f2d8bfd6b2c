//! Members, leader and approvals of the configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::sides::{FileImport, Sides};
use super::{AgreedState, Change, FindingKind, StoreTeam};
use crate::bounds::{MEMBERS, TEXT_BYTES};
use crate::layout::Entry;
use crate::message::{InboxFile, MessageType};
use crate::names::Handle;
use crate::refusal::quote;
use crate::team::{ConfigFile, TeamConfig};

/// New members join as handles of this login. A file cannot remove a member, or change the leader.
pub fn import_members(sides: &Sides, config: &TeamConfig, import: &mut FileImport) {
    let entry = Entry::Config(sides.store.name.clone());
    let folded = |handle: &Handle| (handle.folded(), handle.as_str().to_owned());
    let mut taken: BTreeMap<_, _> = sides.store.members.keys().map(folded).collect();
    for (index, member) in config.members.iter().enumerate() {
        let field = format!("members[{index}].agentId");
        let handle = match Handle::parse(&member.agent_id) {
            Ok(handle) => handle,
            Err(error) => {
                import.report(FindingKind::Unreadable, &entry, field, error.to_string());
                continue;
            }
        };
        if sides.store.members.contains_key(&handle) || was_member(sides.seen, handle.as_str()) {
            continue;
        }
        let refusal = if let Some(other) = taken.get(&handle.folded()) {
            Some((
                FindingKind::Foreign,
                format!("the handle {other} is taken, and handles must differ in more than case"),
            ))
        } else if taken.len() >= MEMBERS {
            Some((FindingKind::Bounds, format!("a team has {MEMBERS} members at most")))
        } else if member.agent_name.len().max(member.agent_type.len()) > TEXT_BYTES {
            Some((FindingKind::Bounds, format!("names have {TEXT_BYTES} bytes at most")))
        } else {
            None
        };
        if let Some((kind, message)) = refusal {
            import.report(kind, &entry, field, message);
            continue;
        }
        taken.insert(handle.folded(), handle.to_string());
        import.changes.push(Change::Join {
            handle,
            name: member.agent_name.clone(),
            kind: member.agent_type.clone(),
        });
    }
    let in_file: BTreeSet<_> = config.members.iter().map(|member| member.agent_id.as_str()).collect();
    for handle in sides.store.members.keys() {
        if was_member(sides.seen, handle.as_str()) && !in_file.contains(handle.as_str()) {
            let message = format!("{handle} was removed here, but only the member itself can leave the team");
            import.report(FindingKind::NotByFile, &entry, "members", message);
        }
    }
    if config.leader != sides.store.leader.as_str() {
        let (file, store) = (quote(&config.leader), &sides.store.leader);
        let message = format!("{store} leads the team, not {file}; only the leader can hand it over");
        import.report(FindingKind::NotByFile, &entry, "leader", message);
    }
}

/// Imports each new name in `shutdownApprovals` as one change.
pub fn import_approvals(sides: &Sides, config: &TeamConfig, import: &mut FileImport) {
    let entry = Entry::Config(sides.store.name.clone());
    let mut is_open = sides.store.shutdown_open;
    let mut imported = BTreeSet::new();
    // The senders of shutdown requests come first, because the list has no authors.
    let messages = sides.folder.inboxes.values().flat_map(InboxFile::messages);
    let requests = messages.filter(|message| message.kind == MessageType::ShutdownRequest);
    let authors: BTreeSet<&str> = requests.map(|message| message.from.as_str()).collect();
    let mut names: Vec<_> = config.shutdown_approvals.iter().flatten().enumerate().collect();
    names.sort_by_key(|(_, name)| !authors.contains(name.as_str()));
    for (index, name) in names {
        let was_seen = sides.seen.is_some_and(|seen| seen.approvals.contains(name));
        if was_seen || sides.store.approvals.contains(name.as_str()) || !imported.insert(name) {
            continue;
        }
        // A list from before the first sync is probably left over from a shutdown that has ended.
        if sides.seen.is_none() {
            import.old_approvals.push(name.clone());
            continue;
        }
        match import.speaker(sides.store, name) {
            Some(handle) if is_open => import.changes.push(Change::ApproveShutdown(handle)),
            Some(handle) => {
                is_open = true;
                import.changes.push(Change::RequestShutdown(handle));
            }
            None => {
                let field = format!("shutdownApprovals[{index}]");
                let name = quote(name);
                let message =
                    format!("{name} is not a handle of this login, and only its own login can approve for it");
                import.report(FindingKind::Foreign, &entry, field, message);
            }
        }
    }
}

fn was_member(seen: Option<&AgreedState>, handle: &str) -> bool {
    seen.is_some_and(|seen| seen.members.contains(handle))
}

/// The file with the members, leader and approvals of the store. Names, types and times in the file stay.
pub fn write(seen: Option<&AgreedState>, file: Option<&ConfigFile>, store: &StoreTeam) -> ConfigFile {
    let new = store.config_file();
    let Some(file) = file else {
        return ConfigFile::new(new);
    };
    let mut config = file.config().clone();
    // A member that the store refused stays in the file. One that left is removed.
    config
        .members
        .retain(|member| store.members.contains_key(member.agent_id.as_str()) || !was_member(seen, &member.agent_id));
    let in_file: BTreeSet<_> = config.members.iter().map(|member| member.agent_id.clone()).collect();
    let added = new
        .members
        .into_iter()
        .filter(|member| !in_file.contains(&member.agent_id));
    config.members.extend(added);
    config.leader = new.leader;
    let set = |approvals: &Option<Vec<String>>| approvals.iter().flatten().cloned().collect::<BTreeSet<_>>();
    if set(&config.shutdown_approvals) != set(&new.shutdown_approvals) {
        config.shutdown_approvals = new.shutdown_approvals;
    }
    file.with(config)
}
