//! Tasks that only the files have.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sides::{FileImport, Sides};
use super::store::sort_like;
use super::tasks::{Reason, check_text_bounds, steps};
use super::{Change, FindingKind};
use crate::bounds::DEPENDENCIES;
use crate::names::TaskId;
use crate::status::Status;
use crate::task::Task;
use crate::texts::no_dependency;

/// An id from a file, for a sentence that has no quotes for it.
pub fn escaped_id(id: &str) -> String {
    id.chars().take(80).flat_map(char::escape_debug).collect()
}

/// The dependencies of a task, in edges `(task, dependency)`.
pub fn waits_for<'e>(edges: &'e BTreeSet<(&'e str, &'e str)>, id: &'e str) -> impl Iterator<Item = &'e str> {
    let of_task = edges.range((id, "")..).take_while(move |(task, _)| *task == id);
    of_task.map(|(_, on)| *on)
}

/// New tasks, with the calls that follow their creation.
#[derive(Default)]
pub struct NewTasks<'a> {
    tasks: BTreeMap<&'a str, (&'a Task, Vec<Change>)>,
    /// The tasks that name a task as a dependency, and the index in their lists.
    dependents: HashMap<&'a str, Vec<(&'a str, usize)>>,
}

impl<'a> NewTasks<'a> {
    /// The new tasks that can be created. Rings are not checked yet.
    pub fn of(sides: &Sides<'a>, import: &mut FileImport) -> Self {
        let mut new = NewTasks::default();
        let stored: HashMap<String, &TaskId> = sides.stored_tasks.keys().map(|id| (id.folded(), id)).collect();
        let is_new = |(id, _): &(&TaskId, _)| !sides.stored_tasks.contains_key(*id) && !sides.was_seen(id.as_str());
        for (id, file) in sides.folder.tasks.iter().filter(is_new) {
            match stored.get(&id.folded()) {
                // Both would be one file on some disks.
                Some(other) => {
                    let message = format!("{other} is a task, and task ids must differ in more than case");
                    import.report(FindingKind::Unreadable, &sides.task_entry(id), "", message);
                    import.held.insert(id.clone());
                }
                None => new.consider(sides, id, file.task(), import),
            }
        }
        new.refuse_missing(sides, import);
        new
    }

    pub fn contains(&self, id: &str) -> bool {
        self.tasks.contains_key(id)
    }

    fn consider(&mut self, sides: &Sides<'a>, id: &'a TaskId, file: &'a Task, import: &mut FileImport) {
        let unclaimed = Task {
            status: Status::Pending,
            owner: None,
            ..file.clone()
        };
        let bounds = check_text_bounds(file).and_then(|()| match file.dependencies.len() {
            0..=DEPENDENCIES => Ok(()),
            _ => {
                let message = format!("a task has {DEPENDENCIES} dependencies at most");
                Err((FindingKind::Bounds, "dependencies".to_owned(), message))
            }
        });
        let steps = bounds.and_then(|()| match (file.status, &file.owner) {
            (Status::Pending, None) => Ok(Vec::new()),
            _ => steps(sides, id, &unclaimed, file, import),
        });
        match steps {
            Ok(steps) => {
                for (index, dependency) in file.dependencies.iter().enumerate() {
                    self.dependents
                        .entry(dependency)
                        .or_default()
                        .push((id.as_str(), index));
                }
                self.tasks.insert(id.as_str(), (file, steps));
            }
            Err((kind, field, message)) => {
                import.report(kind, &sides.task_entry(id), field, message);
                import.held.insert(id.clone());
            }
        }
    }

    /// Refuses tasks with a dependency that does not exist, and those that need these tasks.
    fn refuse_missing(&mut self, sides: &Sides, import: &mut FileImport) {
        let exists = |id: &str| sides.stored_tasks.contains_key(id) || self.contains(id);
        let reason = |task: &Task| {
            let index = task.dependencies.iter().position(|id| !exists(id))?;
            Some((
                FindingKind::Missing,
                format!("dependencies[{index}]"),
                no_dependency(&escaped_id(&task.dependencies[index])),
            ))
        };
        let refused: Vec<_> = self
            .tasks
            .iter()
            .filter_map(|(id, (task, _))| Some((*id, reason(task)?)))
            .collect();
        for (id, reason) in refused {
            let id = TaskId::parse(id).expect("the id of a task that exists");
            self.refuse(sides, &id, reason, import);
        }
    }

    /// Refuses a task, and all tasks that need it.
    pub fn refuse(&mut self, sides: &Sides, id: &TaskId, reason: Reason, import: &mut FileImport) {
        let mut waiting = vec![(id.clone(), reason)];
        while let Some((id, (kind, field, message))) = waiting.pop() {
            if self.tasks.remove(id.as_str()).is_none() {
                continue;
            }
            import.report(kind, &sides.task_entry(&id), field, message);
            for (dependent, index) in self.dependents.remove(id.as_str()).unwrap_or_default() {
                let field = format!("dependencies[{index}]");
                let reason = (FindingKind::Missing, field, no_dependency(id.as_str()));
                let dependent = TaskId::parse(dependent).expect("the id of a task that exists");
                waiting.push((dependent, reason));
            }
            import.held.insert(id);
        }
    }

    /// Appends the calls for these tasks. Each task comes after its dependencies.
    pub fn create(self, edges: &BTreeSet<(&str, &str)>, import: &mut FileImport) {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for id in self.tasks.keys() {
            // Depth first, without recursion: a task is created once all its dependencies are.
            let mut stack = vec![(*id, false)];
            while let Some((id, is_expanded)) = stack.pop() {
                let Some((task, _)) = self.tasks.get(id).filter(|_| !done.contains(id)) else {
                    continue;
                };
                if !is_expanded {
                    stack.push((id, true));
                    stack.extend(waits_for(edges, id).map(|id| (id, false)));
                    continue;
                }
                done.insert(id);
                let parse = |id: &str| TaskId::parse(id).expect("the id of a task that exists");
                let mut dependencies: Vec<&str> = waits_for(edges, id).collect();
                sort_like(&mut dependencies, task.dependencies.iter().map(String::as_str));
                import.changes.push(Change::CreateTask {
                    id: parse(id),
                    title: task.title.clone(),
                    description: task.description.clone(),
                    priority: task.priority,
                    dependencies: dependencies.into_iter().map(parse).collect(),
                });
            }
        }
        let steps = self.tasks.into_values().flat_map(|(_, steps)| steps);
        import.changes.extend(steps);
    }
}
