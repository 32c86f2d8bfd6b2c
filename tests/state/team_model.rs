//! The rules of a team's tasks, as they are documented: what may be claimed, completed and deleted, what is ready, and what becomes
//! ready. It shares nothing with the scripts. Random programs predict by it what a store answers, and contests follow by it what the
//! events tell.

use std::collections::{BTreeMap, BTreeSet};

/// Expiries after which a task is held back.
pub const MAX_EXPIRIES: u64 = 3;

#[derive(Clone, Debug, Default)]
pub struct Task {
    pub number: usize,
    /// 0 for what is urgent.
    pub rank: usize,
    /// The member that created it.
    pub by: String,
    pub dependencies: BTreeSet<String>,
    pub was_claimed: bool,
    pub is_completed: bool,
    pub owner: Option<String>,
    /// The member whose claim expired last, if nobody has claimed the task since.
    pub lapsed_from: Option<String>,
    pub lapses: u64,
    pub assignee: Option<String>,
    /// The member that it is kept for, until anyone has claimed it.
    pub kept_for: Option<String>,
}

impl Task {
    /// Whether `handle` has a claim of it.
    pub fn is_out_with(&self, handle: &str) -> bool {
        !self.is_completed && self.owner.as_deref() == Some(handle)
    }

    fn is_kept_from(&self, handle: &str) -> bool {
        self.kept_for.as_deref().is_some_and(|other| other != handle)
    }
}

/// Tasks by id.
#[derive(Clone, Debug, Default)]
pub struct Tasks(pub BTreeMap<String, Task>);

impl Tasks {
    fn known(&mut self, id: &str) -> Result<&mut Task, String> {
        self.0.get_mut(id).ok_or_else(|| format!("there is no task {id}"))
    }

    pub fn open_dependencies(&self, id: &str) -> BTreeSet<String> {
        let is_open = |other: &&String| !self.0[*other].is_completed;
        self.0[id].dependencies.iter().filter(is_open).cloned().collect()
    }

    /// Whether the task is ready for a member.
    pub fn is_ready(&self, id: &str) -> bool {
        let task = &self.0[id];
        let is_free = !task.is_completed && task.owner.is_none() && task.lapses < MAX_EXPIRIES;
        is_free && self.open_dependencies(id).is_empty()
    }

    /// The task that a member gets next: one that is kept for it, then by priority and age.
    pub fn next(&self, handle: &str) -> Option<String> {
        let ready = self.0.iter().filter(|(id, _)| self.is_ready(id));
        let ready = ready.filter(|(_, task)| !task.is_kept_from(handle));
        let first = ready.min_by_key(|(_, task)| (task.kept_for.is_none(), task.rank, task.number));
        first.map(|(id, _)| id.clone())
    }

    /// Tasks that are not completed and depend on themselves.
    pub fn ring(&self) -> Option<Vec<String>> {
        let open = self.0.iter().filter(|(_, task)| !task.is_completed);
        ring(open.map(|(id, _)| (id.clone(), self.open_dependencies(id))).collect())
    }

    /// Adds edges: a task, and what it depends on.
    pub fn depend(&mut self, edges: Vec<(String, String)>) -> Result<(), String> {
        for (id, other) in edges {
            self.known(&other)?;
            self.known(&id)?.dependencies.insert(other);
        }
        Ok(())
    }

    /// Replaces the open dependencies of the task.
    pub fn depends_on(&mut self, id: &str, wanted: Vec<String>) -> Result<(), String> {
        self.known(id)?;
        let open = self.open_dependencies(id);
        self.known(id)?.dependencies.retain(|other| !open.contains(other));
        self.depend(wanted.into_iter().map(|other| (id.to_owned(), other)).collect())
    }

    /// Replaces the open tasks that depend on the task.
    pub fn blocks(&mut self, id: &str, wanted: Vec<String>) -> Result<(), String> {
        for task in self.0.values_mut().filter(|task| !task.is_completed) {
            task.dependencies.remove(id);
        }
        self.depend(wanted.into_iter().map(|other| (other, id.to_owned())).collect())
    }

    /// A new claim.
    pub fn claim(&mut self, id: &str, handle: &str) -> Result<(), String> {
        let task = self.known(id)?;
        if task.is_completed || task.lapses >= MAX_EXPIRIES {
            return Err("it cannot be claimed any more".to_owned());
        }
        if let Some(owner) = &task.owner {
            return Err(format!("{owner} has it"));
        }
        if task.is_kept_from(handle) {
            return Err(format!("it is kept for {:?}", task.kept_for));
        }
        (task.owner, task.was_claimed) = (Some(handle.to_owned()), true);
        (task.lapsed_from, task.kept_for) = (None, None);
        Ok(())
    }

    /// The end of a claim, by its expiry or by a release.
    pub fn end_claim(&mut self, id: &str, handle: &str, is_lapsed: bool) -> Result<(), String> {
        let task = self.known(id)?;
        if !task.is_out_with(handle) {
            return Err(format!("{:?} had it", task.owner));
        }
        let owner = task.owner.take();
        task.lapsed_from = owner.filter(|_| is_lapsed);
        task.lapses += u64::from(is_lapsed);
        Ok(())
    }

    /// Returns whether its claim had expired, and the tasks that become ready.
    pub fn complete(&mut self, id: &str, handle: &str) -> Result<(bool, BTreeSet<String>), String> {
        let task = self.known(id)?;
        if task.is_completed || !task.was_claimed {
            return Err("it is completed, or was never claimed".to_owned());
        }
        let is_late = task.owner.is_none() && task.lapsed_from.as_deref() == Some(handle);
        if task.owner.as_deref() != Some(handle) && !is_late {
            return Err(format!("{:?} has it", task.owner));
        }
        (task.owner, task.is_completed) = (Some(handle.to_owned()), true);
        let dependents = self.0.iter().filter(|(_, task)| task.dependencies.contains(id));
        let dependents = dependents.map(|(id, _)| id.clone()).collect();
        Ok((is_late, self.freed(dependents)))
    }

    /// Whether a task that is not completed depends on it.
    pub fn is_depended_on(&self, id: &str) -> bool {
        let mut tasks = self.0.values();
        tasks.any(|task| !task.is_completed && task.dependencies.contains(id))
    }

    /// Returns the task, and the tasks that become ready.
    pub fn delete(&mut self, id: &str) -> Result<(Task, BTreeSet<String>), String> {
        self.known(id)?;
        let gone = self.0.remove(id).expect("it is known");
        let mut dependents = Vec::new();
        for (other, task) in &mut self.0 {
            if task.dependencies.remove(id) && !gone.is_completed {
                dependents.push(other.clone());
            }
        }
        Ok((gone, self.freed(dependents)))
    }

    /// Of those that have lost an open dependency, the ones that have no other.
    fn freed(&self, dependents: Vec<String>) -> BTreeSet<String> {
        let is_freed = |other: &String| !self.0[other].is_completed && self.open_dependencies(other).is_empty();
        dependents.into_iter().filter(is_freed).collect()
    }
}

/// Removes nodes that depend on nothing, again and again; returns the rest of the graph: its rings, and the nodes that
/// lead to them.
pub fn ring<T: Ord + Clone>(mut left: BTreeMap<T, BTreeSet<T>>) -> Option<Vec<T>> {
    loop {
        let blocked: BTreeSet<T> = left
            .iter()
            .filter(|(_, on)| !on.is_empty())
            .map(|(id, _)| id.clone())
            .collect();
        if blocked.is_empty() {
            return None;
        }
        let before = left.len();
        left.retain(|id, _| blocked.contains(id));
        left.values_mut()
            .for_each(|on| on.retain(|other| blocked.contains(other)));
        if left.len() == before && left.values().all(|on| !on.is_empty()) {
            return Some(left.into_keys().collect());
        }
    }
}
