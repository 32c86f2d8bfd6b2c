use std::collections::BTreeSet;

use super::{Done, Folder, GiveOut, Seen, SeenTask, StoreTeam, TakeIn, give_out, inboxes};
use crate::layout::Entry;
use crate::names::TaskId;
use crate::status::Status;
use crate::team::ConfigFile;

/// What [`super::give_out`] was given.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// What was seen before.
    pub seen: Option<&'a Seen>,
    /// What was done since.
    pub done: &'a [Done],
    /// The files as they were read.
    pub folder: &'a Folder,
    /// The store by now.
    pub store: &'a StoreTeam,
    /// What the files had changed.
    pub taken: &'a TakeIn,
}

/// What is seen where the files of `stay` are not written: of these what file and store agree on, of all others what
/// [`super::give_out`] gave.
pub fn agreed(round: Round<'_>, given: &GiveOut, stay: &BTreeSet<Entry>) -> Seen {
    let Round {
        seen,
        done,
        folder,
        store,
        taken,
    } = round;
    let mut agreed = given.seen.clone();
    let sent = Done::sent(done);
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

/// What file and store agree on where nothing was seen before, and before the first change of `taken` is applied: with it and with what
/// was done since, a first sync that was cut off goes on where it was.
pub fn agreed_before(folder: &Folder, store: &StoreTeam, taken: &TakeIn) -> Seen {
    // What is refused is said again by the sync that goes on.
    let taken = &TakeIn {
        settled: BTreeSet::new(),
        ..taken.clone()
    };
    let given = give_out(None, folder, store, taken, &Done::sent(&[]));
    let stay = given.writes.keys().chain(&given.removals).cloned().collect();
    let round = Round {
        seen: None,
        done: &[],
        folder,
        store,
        taken,
    };
    agreed(round, &given, &stay)
}

/// Each value that both have; where they differ, what was seen before.
fn agree_on_task(since: &Seen, folder: &Folder, store: &StoreTeam, id: &TaskId, agreed: &mut Seen) {
    let waits_for = |id: &str| store.tasks.get(id).is_some_and(|task| task.status != Status::Completed);
    let file = folder.tasks.get(id).map(|file| SeenTask::of(file.task(), waits_for));
    let before = since.tasks.get(id.as_str()).cloned();
    let value = match (file, agreed.tasks.remove(id.as_str()), before) {
        (Some(file), Some(form), _) if file == form => Some(form),
        (Some(file), Some(form), Some(before)) => Some(merged(file, form, before)),
        (_, _, before) => before,
    };
    agreed.tasks.extend(value.map(|value| (id.to_string(), value)));
}

fn merged(file: SeenTask, form: SeenTask, before: SeenTask) -> SeenTask {
    fn one<T: PartialEq>(file: T, form: T, before: T) -> T {
        if file == form { form } else { before }
    }
    let of_one = file.dependencies.union(&form.dependencies);
    let kept = of_one.filter(|on| {
        let is_in = |task: &SeenTask| task.dependencies.contains(*on);
        (is_in(&file) && is_in(&form)) || is_in(&before)
    });
    let dependencies = kept.cloned().collect();
    let (status, owner) = one(
        (file.status, file.owner),
        (form.status, form.owner),
        (before.status, before.owner),
    );
    SeenTask {
        title: one(file.title, form.title, before.title),
        description: one(file.description, form.description, before.description),
        priority: one(file.priority, form.priority, before.priority),
        status,
        owner,
        dependencies,
    }
}
