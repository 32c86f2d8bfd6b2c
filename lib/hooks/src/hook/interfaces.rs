//! The effect of a call on interfaces: a claim keeps the interface of a file until an edit shows otherwise. Before the tool runs, the
//! content after it decides; afterwards, the file on disk.

use std::collections::BTreeMap;
use std::path::Path;

use coord_agent::connection::Connection;
use coord_agent::interfaces::Interfaces;
use coord_agent::seen_content::SeenContent;
use coord_agent::session_notes::SessionNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_interfaces::InterfaceUnknown;
use coord_protocol::locks::LockType;
use coord_protocol::{InterfacePromise, LockMode, PostRequest, PostResponse};

use super::caller::{Caller, SHORT_LIMIT, find};
use super::event::Tool;
use super::{edits, reason};

/// The files whose interface differs from the branch, and the differences.
pub(super) type ChangedInterfaces = BTreeMap<String, String>;

/// Those of `files` after the call.
pub(super) fn after_call(caller: &Caller<'_>, work: &Work, files: &[String]) -> ChangedInterfaces {
    let interfaces = Interfaces::of(&work.working_copy, &work.branch);
    if !matches!(caller.call.tool, Tool::Edit(_)) {
        // The effect of a command is known only after it has run.
        return interfaces.compare_disk(files);
    }
    let folder = caller.folder();
    interfaces.compare(files, |file| {
        let is_it = |named: &str| {
            let path = work.working_copy.repo_path(&folder, Path::new(named));
            path.is_ok_and(|path| path.as_str() == file)
        };
        let before = interfaces.on_disk(file).ok_or(InterfaceUnknown::Unreadable)?;
        let after = edits::after(&caller.call.tool_name, &caller.call.input, &before, is_it);
        after.ok_or(InterfaceUnknown::NotUnderstood)
    })
}

/// The files, as a claim lists them.
pub(super) fn changed_files(changed: &ChangedInterfaces) -> Option<Vec<String>> {
    (!changed.is_empty()).then(|| changed.keys().cloned().collect())
}

/// The reason of a denial: if a neighbor blocks, with the interface change of the edit.
pub(super) fn explain(refusal: String, response: &PostResponse, changed: &ChangedInterfaces) -> String {
    let mut locks = response.conflicting_locks.values();
    let is_neighbor = locks.any(|lock| lock.lock_type == Some(LockType::Neighbor));
    match is_neighbor && !changed.is_empty() {
        true => format!("{refusal} {}", sentence("Your edit changes", changed)),
        false => refusal,
    }
}

/// The differences, in a sentence.
fn sentence(beginning: &str, changed: &ChangedInterfaces) -> String {
    const MOST: usize = 3;
    let named: Vec<String> = changed
        .iter()
        .take(MOST)
        .map(|(file, names)| format!("{file} ({names})"))
        .collect();
    let more = match changed.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{beginning} the interface of {}{more}; one that keeps it is granted.",
        named.join(", ")
    )
}

/// After a call that has written `files` of the session: if their interfaces changed beyond the claim, it declares that now. Returns a
/// sentence for the model if a neighbor's lock forbids the change.
pub(super) async fn settle(
    caller: &Caller<'_>,
    working_copy: &WorkingCopy,
    holder: &AgentId,
    files: &[String],
) -> Option<String> {
    let working_copy = find(working_copy.root())?;
    let work = caller.work(working_copy).ok()?;
    let changed = Interfaces::of(&work.working_copy, &work.branch).compare_disk(files);
    let root = work.working_copy.root().to_owned();
    let differs = SeenContent::change(&work.working_copy, holder, |seen| {
        let is_told = |file: &&String| seen.changes_interface(&root.join(file)) == changed.contains_key(*file);
        files
            .iter()
            .filter(|file| !is_told(file))
            .cloned()
            .collect::<Vec<String>>()
    });
    if differs.is_empty() {
        return None;
    }
    let opened = Connection::open_running(caller.args, &work.working_copy, Some(holder), SHORT_LIMIT);
    let connection = opened.ok().flatten()?;
    let message = reason::message(&SessionNotes::read(&work.working_copy, holder), &differs);
    let of_differing: ChangedInterfaces = changed.into_iter().filter(|(file, _)| differs.contains(file)).collect();
    let request = PostRequest {
        interface: Some(InterfacePromise::Keeps),
        interface_changes: changed_files(&of_differing),
        ..work.claim(differs.clone(), LockMode::Writing, message)
    };
    let response = match connection.client.post_status(&request).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(%error, "whether the interfaces changed is unknown");
            return None;
        }
    };
    if response.success {
        SeenContent::change(&work.working_copy, holder, |seen| {
            for file in &differs {
                seen.set_changes_interface(&root.join(file), of_differing.contains_key(file));
            }
        });
        return None;
    }
    (!of_differing.is_empty()).then(|| {
        format!(
            "Coord: INTERFACE_CHANGED: {} {} Undo that, or agree with the other agent.",
            response.orchestration.reason.trim_end(),
            sentence("Your call has changed", &of_differing)
        )
    })
}
