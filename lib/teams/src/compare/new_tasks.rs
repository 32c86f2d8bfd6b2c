//! Tasks that only the files have.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::sides::{FileImport, Sides};
use super::store::in_order;
use super::tasks::{Reason, steps, texts_in_bounds};
use super::{Change, Finding, Kind};
use crate::bounds::DEPENDENCIES;
use crate::names::TaskId;
use crate::status::Status;
use crate::task::Task;
use crate::texts::no_dependency;

/// An id of a file in a sentence that has no quotes for it.
pub fn escaped_id(id: &str) -> String {
    id.chars().take(80).flat_map(char::escape_debug).collect()
}

/// The dependencies of a task, in edges `(task, dependency)`.
pub fn waits_for<'e>(edges: &'e BTreeSet<(&'e str, &'e str)>, id: &'e str) -> impl Iterator<Item = &'e str> {
    let of_task = edges.range((id, "")..).take_while(move |(task, _)| *task == id);
    of_task.map(|(_, on)| *on)
}

/// These tasks, and the calls that follow their creation.
#[derive(Default)]
pub struct NewTasks<'a> {
    tasks: BTreeMap<&'a str, (&'a Task, Vec<Change>)>,
    /// The tasks that name a task as a dependency, and the place in their lists.
    dependents: HashMap<&'a str, Vec<(&'a str, usize)>>,
}

impl<'a> NewTasks<'a> {
    /// Tasks that can be created, as far as each of them shows.
    pub fn of(sides: &Sides<'a>, found: &mut FileImport) -> Self {
        let mut new = NewTasks::default();
        let stored: HashMap<String, &TaskId> = sides.forms.keys().map(|id| (id.folded(), id)).collect();
        let only_here = |(id, _): &(&TaskId, _)| !sides.forms.contains_key(*id) && !sides.was_there(id.as_str());
        for (id, file) in sides.folder.tasks.iter().filter(only_here) {
            match stored.get(&id.folded()) {
                // Both would be one file on some disks.
                Some(other) => {
                    let message = format!("{other} is a task, and task ids must differ in more than case");
                    found
                        .findings
                        .push(Finding::new(Kind::Unreadable, &sides.task(id), "", message));
                    found.held.insert(id.clone());
                }
                None => new.consider(sides, id, file.task(), found),
            }
        }
        new.refuse_missing(sides, found);
        new
    }

    pub fn contains(&self, id: &str) -> bool {
        self.tasks.contains_key(id)
    }

    fn consider(&mut self, sides: &Sides<'a>, id: &'a TaskId, file: &'a Task, found: &mut FileImport) {
        let unclaimed = Task {
            status: Status::Pending,
            owner: None,
            ..file.clone()
        };
        let bounds = texts_in_bounds(file).and_then(|()| match file.dependencies.len() {
            0..=DEPENDENCIES => Ok(()),
            _ => {
                let message = format!("a task has {DEPENDENCIES} dependencies at most");
                Err((Kind::Bounds, "dependencies".to_owned(), message))
            }
        });
        let steps = bounds.and_then(|()| match (file.status, &file.owner) {
            (Status::Pending, None) => Ok(Vec::new()),
            _ => steps(sides, id, &unclaimed, file, found),
        });
        match steps {
            Ok(steps) => {
                for (at, dependency) in file.dependencies.iter().enumerate() {
                    self.dependents.entry(dependency).or_default().push((id.as_str(), at));
                }
                self.tasks.insert(id.as_str(), (file, steps));
            }
            Err((kind, field, message)) => {
                found.findings.push(Finding::new(kind, &sides.task(id), field, message));
                found.held.insert(id.clone());
            }
        }
    }

    /// Refuses tasks whose dependencies are nowhere, and those that need these.
    fn refuse_missing(&mut self, sides: &Sides, found: &mut FileImport) {
        let known = |id: &str, new: &Self| sides.forms.contains_key(id) || new.contains(id);
        let reason = |task: &Task| {
            let at = task.dependencies.iter().position(|id| !known(id, self))?;
            Some((
                Kind::Missing,
                format!("dependencies[{at}]"),
                no_dependency(&escaped_id(&task.dependencies[at])),
            ))
        };
        let refused: Vec<_> = self
            .tasks
            .iter()
            .filter_map(|(id, new)| Some((*id, reason(new.0)?)))
            .collect();
        for (id, reason) in refused {
            let id = TaskId::parse(id).expect("the id of a task that is there");
            self.refuse(sides, &id, reason, found);
        }
    }

    /// Refuses a task, and all that need it.
    pub fn refuse(&mut self, sides: &Sides, id: &TaskId, reason: Reason, found: &mut FileImport) {
        let mut waiting = vec![(id.clone(), reason)];
        while let Some((id, (kind, field, message))) = waiting.pop() {
            if self.tasks.remove(id.as_str()).is_none() {
                continue;
            }
            found
                .findings
                .push(Finding::new(kind, &sides.task(&id), field, message));
            for (dependent, at) in self.dependents.remove(id.as_str()).unwrap_or_default() {
                let reason = (Kind::Missing, format!("dependencies[{at}]"), no_dependency(id.as_str()));
                let dependent = TaskId::parse(dependent).expect("the id of a task that is there");
                waiting.push((dependent, reason));
            }
            found.held.insert(id);
        }
    }

    /// The calls for these tasks, each behind those that it waits for.
    pub fn create(self, edges: &BTreeSet<(&str, &str)>, found: &mut FileImport) {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for id in self.tasks.keys() {
            // Depth first, without recursion: a task is written when all that it waits for was.
            let mut stack = vec![(*id, false)];
            while let Some((id, expanded)) = stack.pop() {
                let Some((task, _)) = self.tasks.get(id).filter(|_| !done.contains(id)) else {
                    continue;
                };
                if !expanded {
                    stack.push((id, true));
                    stack.extend(waits_for(edges, id).map(|id| (id, false)));
                    continue;
                }
                done.insert(id);
                let parse = |id: &str| TaskId::parse(id).expect("the id of a task that is there");
                let mut dependencies: Vec<&str> = waits_for(edges, id).collect();
                in_order(&mut dependencies, task.dependencies.iter().map(String::as_str));
                found.changes.push(Change::CreateTask {
                    id: parse(id),
                    title: task.title.clone(),
                    description: task.description.clone(),
                    priority: task.priority,
                    dependencies: dependencies.into_iter().map(parse).collect(),
                });
            }
        }
        found
            .changes
            .extend(self.tasks.into_values().flat_map(|(_, steps)| steps));
    }
}
