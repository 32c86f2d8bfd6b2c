//! Dependencies: one set of edges, which `dependencies` and `blocks` show from both ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::new_tasks::{NewTasks, escaped_id, waits_for};
use super::sides::{FileImport, Sides};
use super::tasks::Reason;
use super::{Change, FindingKind};
use crate::bounds::DEPENDENCIES;
use crate::names::TaskId;
use crate::rings::ring;
use crate::status::Status;
use crate::task::Task;
use crate::texts::{circular, no_blocked, no_dependency};

/// `(task, dependency)`
type Edges<'a> = BTreeSet<(&'a str, &'a str)>;

/// The most tasks that the searches for rings of one comparison visit.
const VISITS: usize = 4_000_000;

/// Imports changed edges. A seen edge is removed if one of its ends no longer has it. A new edge is added if one of its
/// ends has it.
pub fn compare<'a>(sides: &Sides<'a>, mut new: NewTasks<'a>, import: &mut FileImport) {
    report_missing(sides, &new, import);
    let (added, removed) = changed_edges(sides, &new, import);
    let unchanged: Edges = stored_edges(sides).difference(&removed).copied().collect();
    let added = refuse_rings(sides, &unchanged, added, &mut new, import);
    edit_dependencies(sides, &unchanged, &added, &removed, import);
    let edges = unchanged.into_iter().chain(added).collect();
    new.create(&edges, import);
}

/// All edges of the store. They include those of tasks that are completed only in a file, because that may be refused.
fn stored_edges<'a>(sides: &Sides<'a>) -> Edges<'a> {
    let of_task = |(id, task): (&'a TaskId, &'a Task)| task.dependencies.iter().map(|on| (id.as_str(), on.as_str()));
    sides.stored_tasks.iter().flat_map(of_task).collect()
}

/// The edges that the files have added and removed.
fn changed_edges<'a>(sides: &Sides<'a>, new: &NewTasks, import: &FileImport) -> (Edges<'a>, Edges<'a>) {
    let seen_tasks = sides.seen.map(|seen| &seen.tasks);
    // A file counts if its task is to be created, or was seen. For other tasks it is unknown which side is newer.
    let counts = |id: &str| {
        let was_seen = sides.was_seen(id) && sides.stored_tasks.contains_key(id);
        sides.folder.tasks.contains_key(id) && (new.contains(id) || was_seen) && !import.held.contains(id)
    };
    let exists = |id: &str| sides.stored_tasks.contains_key(id) || new.contains(id);
    let mut from_dependencies = Edges::new();
    let mut from_blocks = Edges::new();
    for (id, file) in sides.folder.tasks.iter().filter(|(id, _)| counts(id.as_str())) {
        let task = file.task();
        from_dependencies.extend(task.dependencies.iter().map(|on| (id.as_str(), on.as_str())));
        from_blocks.extend(task.blocks.iter().map(|waiting| (waiting.as_str(), id.as_str())));
    }
    let seen: Edges = seen_tasks
        .into_iter()
        .flatten()
        .flat_map(|(id, task)| task.dependencies.iter().map(|on| (id.as_str(), on.as_str())))
        .collect();
    let is_waiting = |id: &str| exists(id) && sides.waits_for(id);
    let is_open = |(task, on): &(&str, &str)| is_waiting(task) && is_waiting(on);
    let added = from_dependencies.union(&from_blocks).copied();
    let added = added.filter(|edge| is_open(edge) && !seen.contains(edge) && !import.held.contains(edge.0));
    let is_gone = |edge: &&(&str, &str)| {
        (counts(edge.0) && !from_dependencies.contains(*edge)) || (counts(edge.1) && !from_blocks.contains(*edge))
    };
    let added = added.collect();
    let removed = seen
        .iter()
        .filter(|edge| is_open(edge))
        .filter(is_gone)
        .copied()
        .collect();
    (added, removed)
}

fn report_missing(sides: &Sides, new: &NewTasks, import: &mut FileImport) {
    // Ids of tasks that were deleted in the store are dropped from the lists without a report.
    let exists = |id: &str| sides.stored_tasks.contains_key(id) || new.contains(id) || sides.was_seen(id);
    for (id, file) in &sides.folder.tasks {
        let task = file.task();
        if task.status == Status::Completed || import.held.contains(id) {
            continue;
        }
        let lists = [
            ("dependencies", &task.dependencies, no_dependency as fn(&str) -> String),
            ("blocks", &task.blocks, no_blocked),
        ];
        for (field, ids, sentence) in lists {
            for (index, other) in ids.iter().enumerate().filter(|(_, other)| !exists(other)) {
                let (field, message) = (format!("{field}[{index}]"), sentence(&escaped_id(other)));
                import.report(FindingKind::Missing, &sides.task_entry(id), field, message);
            }
        }
    }
}

/// The added edges without those that close a ring. A new task on a ring is not created.
fn refuse_rings<'a>(
    sides: &Sides<'a>,
    unchanged: &Edges<'a>,
    mut added: Edges<'a>,
    new: &mut NewTasks,
    import: &mut FileImport,
) -> Edges<'a> {
    let mut dependencies: HashMap<&str, Vec<&str>> = HashMap::new();
    for (task, on) in unchanged.union(&added) {
        dependencies.entry(task).or_default().push(on);
    }
    let core = ring_candidates(&dependencies);
    let mut visits = 0;
    // Edges of existing tasks come first: if one of these is refused, a new task may stay.
    let mut suspects: Vec<_> = added.iter().copied().collect();
    suspects.retain(|(task, on)| core.contains(task) && core.contains(on));
    suspects.sort_by_key(|(task, _)| new.contains(task));
    for (task, on) in suspects {
        let exists = |id: &str| sides.stored_tasks.contains_key(id) || new.contains(id);
        if !exists(task) || !exists(on) {
            // It was refused together with a task that it needs.
            continue;
        }
        let closed_ring = ring(task, on, |id| {
            visits += 1;
            let next = dependencies.get(id).filter(|_| visits < VISITS);
            let next = next.into_iter().flatten().copied();
            next.filter(|next| core.contains(next) && exists(next))
                .collect::<Vec<_>>()
        });
        let message = match closed_ring {
            Some(ring) => circular(ring),
            // There are too many edges to visit each. This one may be on a ring.
            None if visits >= VISITS => circular([task, on]),
            None => continue,
        };
        added.remove(&(task, on));
        dependencies.entry(task).or_default().retain(|other| *other != on);
        let reason = (FindingKind::Cycle, "dependencies".to_owned(), message);
        refuse(sides, task, reason, new, import);
    }
    let exists = |id: &str, new: &NewTasks| sides.stored_tasks.contains_key(id) || new.contains(id);
    let missing: Vec<_> = added.iter().copied().filter(|(_, on)| !exists(on, new)).collect();
    for (task, on) in missing {
        if sides.stored_tasks.contains_key(task) {
            let reason = (FindingKind::Missing, "dependencies".to_owned(), no_dependency(on));
            refuse(sides, task, reason, new, import);
        }
    }
    added.retain(|(task, on)| exists(task, new) && exists(on, new));
    added
}

/// Refuses a new task with all tasks that need it, or reports the edge of an existing task.
fn refuse(sides: &Sides, task: &str, reason: Reason, new: &mut NewTasks, import: &mut FileImport) {
    let id = TaskId::parse(task).expect("the id of a task that exists");
    if new.contains(task) {
        new.refuse(sides, &id, reason, import);
    } else {
        let (kind, field, message) = reason;
        import.report(kind, &sides.task_entry(&id), field, message);
    }
}

/// The tasks on rings, and those that lead to one: what remains if tasks without dependencies are removed repeatedly.
fn ring_candidates<'a>(dependencies: &HashMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
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

fn edit_dependencies(sides: &Sides, unchanged: &Edges, added: &Edges, removed: &Edges, import: &mut FileImport) {
    let parse = |id: &str| TaskId::parse(id).expect("the id of a task that exists");
    let stored = stored_edges(sides);
    let mut edits: BTreeMap<&str, (Vec<TaskId>, Vec<TaskId>)> = BTreeMap::new();
    for (task, on) in added.difference(&stored) {
        if sides.stored_tasks.contains_key(*task) {
            edits.entry(task).or_default().0.push(parse(on));
        }
    }
    for (task, on) in removed.intersection(&stored) {
        edits.entry(task).or_default().1.push(parse(on));
    }
    for (id, (add, remove)) in edits {
        let id = parse(id);
        let count = waits_for(unchanged, id.as_str()).count();
        if count + add.len() > DEPENDENCIES {
            let message = format!("a task has {DEPENDENCIES} dependencies at most");
            import.report(FindingKind::Bounds, &sides.task_entry(&id), "dependencies", message);
            continue;
        }
        import.changes.push(Change::EditDependencies { id, add, remove });
    }
}
