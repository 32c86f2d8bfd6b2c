//! The effect of a call on interfaces. A claim promises to keep the interface of a file until an edit changes it.
//! Before the tool runs, the content after the edit decides; afterwards, the file on disk.

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
use coord_protocol::sentence::list_first;
use coord_protocol::{InterfacePromise, LockMode, PostRequest, PostResponse};

use super::caller::{Caller, SHORT_LIMIT, find};
use super::event::Tool;
use super::{edits, reason};

/// The files whose interface differs from the branch, and the differences.
pub(super) type ChangedInterfaces = BTreeMap<String, String>;

/// The interfaces of `files` that differ from the branch after the call.
pub(super) fn changed_by_call(caller: &Caller<'_>, work: &Work, files: &[String]) -> ChangedInterfaces {
    let interfaces = Interfaces::of(&work.working_copy, &work.branch);
    if !matches!(caller.call.tool, Tool::Edit(_)) {
        // The effect of a command is known only after it has run.
        return interfaces.compare_disk(files);
    }
    let folder = caller.folder();
    interfaces.compare(files, |file| {
        let is_file = |name: &str| {
            let path = work.working_copy.repo_path(&folder, Path::new(name));
            path.is_ok_and(|path| path.as_str() == file)
        };
        let before = interfaces.on_disk(file).ok_or(InterfaceUnknown::Unreadable)?;
        let after = edits::content_after(&caller.call.tool_name, &caller.call.input, &before, is_file);
        after.ok_or(InterfaceUnknown::NotUnderstood)
    })
}

/// The files, as a claim lists them.
pub(super) fn changed_files(changed: &ChangedInterfaces) -> Option<Vec<String>> {
    (!changed.is_empty()).then(|| changed.keys().cloned().collect())
}

/// The reason of a denial. If a neighbor blocks, it includes the interface change of the edit.
pub(super) fn explain(refusal: String, response: &PostResponse, changed: &ChangedInterfaces) -> String {
    let mut locks = response.conflicting_locks.values();
    let is_neighbor = locks.any(|lock| lock.lock_type == Some(LockType::Neighbor));
    match is_neighbor && !changed.is_empty() {
        true => format!("{refusal} {}", describe("Your edit changes", changed)),
        false => refusal,
    }
}

/// The differences as a sentence that starts with `beginning`.
fn describe(beginning: &str, changed: &ChangedInterfaces) -> String {
    const MAX_LISTED: usize = 3;
    let files = changed
        .iter()
        .map(|(file, differences)| format!("{file} ({differences})"));
    format!(
        "{beginning} the interface of {}; one that keeps it is granted.",
        list_first(files, MAX_LISTED)
    )
}

/// Declares interface changes after a call that has written `files` of the session: a file whose interface differs from
/// its claim is claimed again. Returns a sentence for the model if a neighbor's lock forbids the change.
pub(super) async fn declare_changes(
    caller: &Caller<'_>,
    working_copy: &WorkingCopy,
    holder: &AgentId,
    files: &[String],
) -> Option<String> {
    let working_copy = find(working_copy.root())?;
    let (work, _) = caller.work(working_copy).ok()?;
    let changed = Interfaces::of(&work.working_copy, &work.branch).compare_disk(files);
    let root = work.working_copy.root().to_owned();
    let undeclared = SeenContent::change(&work.working_copy, holder, |seen| {
        let is_declared = |file: &&String| seen.changes_interface(&root.join(file)) == changed.contains_key(*file);
        files
            .iter()
            .filter(|file| !is_declared(file))
            .cloned()
            .collect::<Vec<String>>()
    });
    if undeclared.is_empty() {
        return None;
    }
    let connection = Connection::open_running(caller.args, &work.working_copy, Some(holder), SHORT_LIMIT);
    let connection = connection.ok().flatten()?;
    let message = reason::claim_message(&SessionNotes::read(&work.working_copy, holder), &undeclared);
    let changed: ChangedInterfaces = changed
        .into_iter()
        .filter(|(file, _)| undeclared.contains(file))
        .collect();
    let request = PostRequest {
        interface: Some(InterfacePromise::Keeps),
        interface_changes: changed_files(&changed),
        ..work.claim(undeclared.clone(), LockMode::Writing, message)
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
            for file in &undeclared {
                seen.set_changes_interface(&root.join(file), changed.contains_key(file));
            }
        });
        return None;
    }
    (!changed.is_empty()).then(|| {
        format!(
            "Coord: INTERFACE_CHANGED: {} {} Undo that, or agree with the other agent.",
            response.orchestration.reason.trim_end(),
            describe("Your call has changed", &changed)
        )
    })
}
