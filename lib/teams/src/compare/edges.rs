//! Dependencies: one set of edges, which `dependencies` and `blocks` show from both ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::new_tasks::{NewTasks, escaped_id, waits_for};
use super::sides::{FileImport, Sides};
use super::tasks::Reason;
use super::{Change, Finding, Kind};
use crate::bounds::DEPENDENCIES;
use crate::names::TaskId;
use crate::rings::ring;
use crate::status::Status;
use crate::task::Task;
use crate::texts::{circular, no_blocked, no_dependency};

/// `(task, dependency)`
type Edges<'a> = BTreeSet<(&'a str, &'a str)>;

/// Tasks that a search for rings may visit, all searches of one comparison together.
const VISITS: usize = 4_000_000;

/// Changes of edges in the files: a seen edge is removed if one of its ends no longer has it; a new one is added if one of
/// its ends has it.
pub fn compare<'a>(sides: &Sides<'a>, mut new: NewTasks<'a>, found: &mut FileImport) {
    report_missing(sides, &new, found);
    let (added, removed) = changed(sides, &new, found);
    let kept: Edges = stored(sides).difference(&removed).copied().collect();
    let added = without_rings(sides, &kept, added, &mut new, found);
    edit(sides, &kept, &added, &removed, found);
    let all = kept.into_iter().chain(added).collect();
    new.create(&all, found);
}

/// All edges of the store, those of tasks that only a file calls completed too: that may be refused.
fn stored<'a>(sides: &Sides<'a>) -> Edges<'a> {
    let of_task = |(id, task): (&'a TaskId, &'a Task)| task.dependencies.iter().map(|on| (id.as_str(), on.as_str()));
    sides.forms.iter().flat_map(of_task).collect()
}

fn changed<'a>(sides: &Sides<'a>, new: &NewTasks, found: &FileImport) -> (Edges<'a>, Edges<'a>) {
    let seen_tasks = sides.seen.map(|seen| &seen.tasks);
    // A file says something of a task that is to be created, or that was seen. For other tasks it is unknown which side is
    // newer.
    let says = |id: &str| {
        let seen = sides.was_there(id) && sides.forms.contains_key(id);
        sides.folder.tasks.contains_key(id) && (new.contains(id) || seen) && !found.held.contains(id)
    };
    let exists = |id: &str| sides.forms.contains_key(id) || new.contains(id);
    let mut from_tasks = Edges::new();
    let mut from_blocks = Edges::new();
    for (id, file) in sides.folder.tasks.iter().filter(|(id, _)| says(id.as_str())) {
        let task = file.task();
        from_tasks.extend(task.dependencies.iter().map(|on| (id.as_str(), on.as_str())));
        from_blocks.extend(task.blocks.iter().map(|waiting| (waiting.as_str(), id.as_str())));
    }
    let seen: Edges = seen_tasks
        .into_iter()
        .flatten()
        .flat_map(|(id, task)| task.dependencies.iter().map(|on| (id.as_str(), on.as_str())))
        .collect();
    let open = |(task, on): &(&str, &str)| exists(task) && exists(on) && sides.waits_for(task) && sides.waits_for(on);
    let added = from_tasks.union(&from_blocks).copied();
    let added = added.filter(|edge| open(edge) && !seen.contains(edge) && !found.held.contains(edge.0));
    let gone = |edge: &&(&str, &str)| {
        (says(edge.0) && !from_tasks.contains(*edge)) || (says(edge.1) && !from_blocks.contains(*edge))
    };
    let added = added.collect();
    let removed = seen.iter().filter(|edge| open(edge)).filter(gone).copied().collect();
    (added, removed)
}

fn report_missing(sides: &Sides, new: &NewTasks, found: &mut FileImport) {
    // Tasks that the store has deleted meanwhile are dropped from the lists silently.
    let exists = |id: &str| sides.forms.contains_key(id) || new.contains(id) || sides.was_there(id);
    for (id, file) in &sides.folder.tasks {
        let task = file.task();
        if task.status == Status::Completed || found.held.contains(id) {
            continue;
        }
        let lists = [
            ("dependencies", &task.dependencies, no_dependency as fn(&str) -> String),
            ("blocks", &task.blocks, no_blocked),
        ];
        for (field, ids, sentence) in lists {
            for (at, other) in ids.iter().enumerate().filter(|(_, other)| !exists(other)) {
                let (field, sentence) = (format!("{field}[{at}]"), sentence(&escaped_id(other)));
                found
                    .findings
                    .push(Finding::new(Kind::Missing, &sides.task(id), field, sentence));
            }
        }
    }
}

/// The added edges without those that close a ring. A new task in a ring is not created.
fn without_rings<'a>(
    sides: &Sides<'a>,
    kept: &Edges<'a>,
    mut added: Edges<'a>,
    new: &mut NewTasks,
    found: &mut FileImport,
) -> Edges<'a> {
    let mut dependencies: HashMap<&str, Vec<&str>> = HashMap::new();
    for (task, on) in kept.union(&added) {
        dependencies.entry(task).or_default().push(on);
    }
    let core = on_rings(&dependencies);
    let mut visits = 0;
    // Edges of tasks that exist first: where one of these is refused, a new task may stay.
    let mut suspects: Vec<_> = added.iter().copied().collect();
    suspects.retain(|(task, on)| core.contains(task) && core.contains(on));
    suspects.sort_by_key(|(task, _)| new.contains(task));
    for (task, on) in suspects {
        let exists = |id: &str| sides.forms.contains_key(id) || new.contains(id);
        if !exists(task) || !exists(on) {
            // Refused with another one that it needs.
            continue;
        }
        let found_ring = ring(task, on, |at| {
            visits += 1;
            let next = dependencies.get(at).filter(|_| visits < VISITS);
            let next = next.into_iter().flatten().copied();
            next.filter(|next| core.contains(next) && exists(next))
                .collect::<Vec<_>>()
        });
        let message = match found_ring {
            Some(ring) => circular(ring),
            // Too many edges to visit each: the rest may be on a ring.
            None if visits >= VISITS => circular([task, on]),
            None => continue,
        };
        added.remove(&(task, on));
        dependencies.entry(task).or_default().retain(|other| *other != on);
        refuse(
            sides,
            task,
            (Kind::Cycle, "dependencies".to_owned(), message),
            new,
            found,
        );
    }
    let exists = |id: &str, new: &NewTasks| sides.forms.contains_key(id) || new.contains(id);
    let without: Vec<_> = added.iter().copied().filter(|(_, on)| !exists(on, new)).collect();
    for (task, on) in without.into_iter().filter(|(task, _)| sides.forms.contains_key(*task)) {
        refuse(
            sides,
            task,
            (Kind::Missing, "dependencies".to_owned(), no_dependency(on)),
            new,
            found,
        );
    }
    added.retain(|(task, on)| exists(task, new) && exists(on, new));
    added
}

/// A new task is not created, with all that need it; the edge of one that exists is reported.
fn refuse(sides: &Sides, task: &str, reason: Reason, new: &mut NewTasks, found: &mut FileImport) {
    let id = TaskId::parse(task).expect("the id of a task that is there");
    if new.contains(task) {
        new.refuse(sides, &id, reason, found);
    } else {
        let (kind, field, message) = reason;
        found
            .findings
            .push(Finding::new(kind, &sides.task(&id), field, message));
    }
}

/// The tasks that are left when those without dependencies are removed again and again: on rings, or before one.
fn on_rings<'a>(dependencies: &HashMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut waiting: HashMap<&str, usize> = HashMap::new();
    let mut dependents: HashMap<&str, Vec<&str>> = HashMap::new();
    for (task, on) in dependencies
        .iter()
        .flat_map(|(task, on)| on.iter().map(move |on| (*task, *on)))
    {
        *waiting.entry(task).or_default() += 1;
        waiting.entry(on).or_default();
        dependents.entry(on).or_default().push(task);
    }
    let mut free: Vec<_> = waiting
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(id, _)| *id)
        .collect();
    while let Some(id) = free.pop() {
        waiting.remove(id);
        for dependent in dependents.remove(id).unwrap_or_default() {
            let count = waiting.get_mut(dependent).expect("the blocked task is not free");
            *count -= 1;
            if *count == 0 {
                free.push(dependent);
            }
        }
    }
    waiting.into_keys().collect()
}

fn edit(sides: &Sides, kept: &Edges, added: &Edges, removed: &Edges, found: &mut FileImport) {
    let parse = |id: &str| TaskId::parse(id).expect("the id of a task that is there");
    let stored = stored(sides);
    let mut edits: BTreeMap<&str, (Vec<TaskId>, Vec<TaskId>)> = BTreeMap::new();
    for (task, on) in added
        .difference(&stored)
        .filter(|(task, _)| sides.forms.contains_key(*task))
    {
        edits.entry(task).or_default().0.push(parse(on));
    }
    for (task, on) in removed.intersection(&stored) {
        edits.entry(task).or_default().1.push(parse(on));
    }
    for (id, (add, remove)) in edits {
        let id = parse(id);
        let has = waits_for(kept, id.as_str()).count();
        if has + add.len() > DEPENDENCIES {
            let message = format!("a task has {DEPENDENCIES} dependencies at most");
            found
                .findings
                .push(Finding::new(Kind::Bounds, &sides.task(&id), "dependencies", message));
            continue;
        }
        found.changes.push(Change::EditDependencies { id, add, remove });
    }
}
