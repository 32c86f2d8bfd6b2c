use std::collections::BTreeSet;

use super::team::{ModelTask, Team};
use coord_teams::rings::ring;
use coord_teams::status::{Priority, Status};
use coord_teams::texts::{
    circular, depended_on, invalid_transition, no_blocked, no_dependency, no_task, not_available,
};

/// Changes by an update.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    pub status: Option<Status>,
    pub dependencies: Option<Vec<String>>,
}

impl Team {
    /// The tasks, in the order of their creation.
    pub fn tasks(&self) -> &[ModelTask] {
        &self.tasks
    }

    pub fn task(&self, id: &str) -> Result<&ModelTask, String> {
        self.place(id).map(|at| &self.tasks[at])
    }

    /// Open tasks that depend on a task: its `blocks`.
    pub fn blocks(&self, id: &str) -> BTreeSet<&str> {
        let waits = |task: &&ModelTask| {
            task.status != Status::Completed && (task.dependencies.contains(id) || task.met.contains(id))
        };
        self.tasks.iter().filter(waits).map(|task| task.id.as_str()).collect()
    }

    fn place(&self, id: &str) -> Result<usize, String> {
        let at = self.tasks.iter().position(|task| task.id == id);
        at.ok_or_else(|| no_task(id, &self.name))
    }

    pub fn create(
        &mut self,
        actor: &str,
        title: &str,
        priority: Priority,
        dependencies: &[String],
        blocks: &[String],
    ) -> Result<String, String> {
        self.member(actor)?;
        let id = format!("t{}", self.created + 1);
        let mut after = self.clone();
        after.created += 1;
        after.tasks.push(ModelTask {
            id: id.clone(),
            title: title.to_owned(),
            priority,
            status: Status::Pending,
            owner: None,
            previous: None,
            dependencies: BTreeSet::new(),
            met: BTreeSet::new(),
        });
        after.set_dependencies(&id, dependencies)?;
        for blocked in blocks {
            if after.place(blocked).is_err() {
                return Err(no_blocked(blocked));
            }
            after.add_dependency(blocked, &id)?;
        }
        *self = after;
        Ok(id)
    }

    fn set_dependencies(&mut self, id: &str, dependencies: &[String]) -> Result<(), String> {
        if let Some(missing) = dependencies.iter().find(|id| self.place(id).is_err()) {
            return Err(no_dependency(missing));
        }
        let at = self.place(id)?;
        self.tasks[at].dependencies.clear();
        self.tasks[at].met.clear();
        dependencies.iter().try_for_each(|on| self.add_dependency(id, on))
    }

    fn add_dependency(&mut self, id: &str, on: &str) -> Result<(), String> {
        let (at, on_at) = (self.place(id)?, self.place(on)?);
        let dependencies_of = |id: &str| match self.place(id) {
            Ok(at) => self.tasks[at].dependencies.iter().map(String::as_str).collect(),
            Err(_) => Vec::new(),
        };
        let (task, on_task) = (self.tasks[at].id.as_str(), self.tasks[on_at].id.as_str());
        if let Some(ring) = ring(task, on_task, dependencies_of) {
            return Err(circular(ring));
        }
        let done = self.tasks[on_at].status == Status::Completed;
        let task = &mut self.tasks[at];
        let kind = if done { &mut task.met } else { &mut task.dependencies };
        kind.insert(on.to_owned());
        Ok(())
    }

    /// A claim, or its renewal. Unmet dependencies cause a warning, and no refusal.
    pub fn claim(&mut self, actor: &str, id: &str) -> Result<&ModelTask, String> {
        let at = self.place(id)?;
        self.member(actor)?;
        let task = &mut self.tasks[at];
        if task.owner.as_deref() != Some(actor) && task.shown_status() != Status::Pending
            || task.status == Status::Completed
        {
            return Err(not_available(id, task.status));
        }
        task.status = Status::InProgress;
        task.owner = Some(actor.to_owned());
        Ok(task)
    }

    /// All or nothing. `in_progress` is a claim by the caller.
    pub fn update(&mut self, actor: &str, id: &str, edit: &Edit) -> Result<&ModelTask, String> {
        self.place(id)?;
        self.member(actor)?;
        let mut after = self.clone();
        if let Some(dependencies) = &edit.dependencies {
            after.set_dependencies(id, dependencies)?;
        }
        let from = after.task(id)?.shown_status();
        match edit.status {
            Some(to) if to == from => {}
            Some(to) if !from.may_become(to) => return Err(invalid_transition(from, to)),
            Some(Status::InProgress) => drop(after.claim(actor, id)?),
            Some(_) => after.complete(actor, id)?,
            None => {}
        }
        *self = after;
        self.task(id)
    }

    /// By the owner. Dependents lose the dependency.
    fn complete(&mut self, actor: &str, id: &str) -> Result<(), String> {
        let at = self.place(id)?;
        let owner = self.tasks[at].owner.as_deref().unwrap_or_default();
        if owner != actor {
            return Err(format!("task {id} is {owner}'s"));
        }
        self.tasks[at].status = Status::Completed;
        for task in &mut self.tasks {
            if task.dependencies.remove(id) {
                task.met.insert(id.to_owned());
            }
        }
        Ok(())
    }

    /// All tasks that an owner has in progress are released.
    pub fn reassign(&mut self, owner: &str) -> Vec<String> {
        let of_owner =
            |task: &&mut ModelTask| task.status == Status::InProgress && task.owner.as_deref() == Some(owner);
        let give_back = |task: &mut ModelTask| {
            task.previous = task.owner.take();
            task.id.clone()
        };
        self.tasks.iter_mut().filter(of_owner).map(give_back).collect()
    }

    /// Only tasks without dependents.
    pub fn delete(&mut self, id: &str) -> Result<(), String> {
        let at = self.place(id)?;
        if let Some(dependent) = self.tasks.iter().find(|task| task.dependencies.contains(id)) {
            return Err(depended_on(id, &dependent.id));
        }
        self.tasks.remove(at);
        for task in &mut self.tasks {
            task.met.remove(id);
        }
        Ok(())
    }
}
