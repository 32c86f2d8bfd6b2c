use std::collections::BTreeSet;

use super::{AgreedState, AgreedTask, AppliedChange, FileExport, FileImport, Folder, StoreTeam, export_files, inboxes};
use crate::layout::Entry;
use crate::names::TaskId;
use crate::status::Status;
use crate::team::ConfigFile;

/// The input of [`super::export_files`].
#[derive(Clone, Copy, Debug)]
pub struct ComparisonInput<'a> {
    /// The records as last seen.
    pub seen: Option<&'a AgreedState>,
    /// Steps done since.
    pub done: &'a [AppliedChange],
    /// The files as they were read.
    pub folder: &'a Folder,
    /// The store by now.
    pub store: &'a StoreTeam,
    /// Changes from the files.
    pub taken: &'a FileImport,
}

/// The records as seen if the files of `stay` are not written: for these the agreement of file and store, for all
/// others the output of [`super::export_files`].
pub fn agreed_state(round: ComparisonInput<'_>, given: &FileExport, stay: &BTreeSet<Entry>) -> AgreedState {
    let ComparisonInput {
        seen,
        done,
        folder,
        store,
        taken,
    } = round;
    let mut agreed = given.seen.clone();
    let sent = AppliedChange::sent(done);
    let since = seen.cloned().unwrap_or_default().after(done);
    for entry in stay {
        match entry {
            Entry::Config(_) => {
                let file = folder.config.as_ref().map(ConfigFile::config);
                let (members, approvals): (BTreeSet<&String>, BTreeSet<&String>) = match file {
                    Some(file) => (
                        file.members.iter().map(|member| &member.agent_id).collect(),
                        file.shutdown_approvals.iter().flatten().collect(),
                    ),
                    None => Default::default(),
                };
                agreed.members.extend(since.members.iter().cloned());
                agreed.approvals.extend(since.approvals.iter().cloned());
                agreed.approvals.extend(taken.old_approvals.iter().cloned());
                agreed.members.retain(|handle| members.contains(handle));
                agreed.approvals.retain(|handle| approvals.contains(handle));
            }
            Entry::Inbox(_, handle) => {
                let file = folder.inboxes.get(handle);
                let written = inboxes::write(seen, &sent, taken, file, store, handle);
                agreed.inboxes.insert(handle.to_string(), written.seen_unwritten());
            }
            Entry::Task(_, id) => agree_on_task(&since, folder, store, id, &mut agreed),
            Entry::TeamLock(_) | Entry::TaskLock(_) => {}
        }
    }
    agreed
}

/// The agreement of file and store if nothing was seen before, and before the first change of `taken` is applied: with it and the steps
/// done since, a first sync that was cut off resumes.
pub fn agreed_before(folder: &Folder, store: &StoreTeam, taken: &FileImport) -> AgreedState {
    // Refusals are reported again by the sync that continues.
    let taken = &FileImport {
        settled: BTreeSet::new(),
        ..taken.clone()
    };
    let given = export_files(None, folder, store, taken, &AppliedChange::sent(&[]));
    let stay = given.writes.keys().chain(&given.removals).cloned().collect();
    let round = ComparisonInput {
        seen: None,
        done: &[],
        folder,
        store,
        taken,
    };
    agreed_state(round, &given, &stay)
}

/// Each value that both have; where they differ, the last seen one.
fn agree_on_task(since: &AgreedState, folder: &Folder, store: &StoreTeam, id: &TaskId, agreed: &mut AgreedState) {
    let waits_for = |id: &str| store.tasks.get(id).is_some_and(|task| task.status != Status::Completed);
    let file = folder.tasks.get(id).map(|file| AgreedTask::of(file.task(), waits_for));
    let before = since.tasks.get(id.as_str()).cloned();
    let value = match (file, agreed.tasks.remove(id.as_str()), before) {
        (Some(file), Some(form), _) if file == form => Some(form),
        (Some(file), Some(form), Some(before)) => Some(merge(file, form, before)),
        (_, _, before) => before,
    };
    agreed.tasks.extend(value.map(|value| (id.to_string(), value)));
}

fn merge(file: AgreedTask, form: AgreedTask, before: AgreedTask) -> AgreedTask {
    fn one<T: PartialEq>(file: T, form: T, before: T) -> T {
        if file == form { form } else { before }
    }
    let of_one = file.dependencies.union(&form.dependencies);
    let kept = of_one.filter(|on| {
        let is_in = |task: &AgreedTask| task.dependencies.contains(*on);
        (is_in(&file) && is_in(&form)) || is_in(&before)
    });
    let dependencies = kept.cloned().collect();
    let (status, owner) = one(
        (file.status, file.owner),
        (form.status, form.owner),
        (before.status, before.owner),
    );
    AgreedTask {
        title: one(file.title, form.title, before.title),
        description: one(file.description, form.description, before.description),
        priority: one(file.priority, form.priority, before.priority),
        status,
        owner,
        dependencies,
    }
}
