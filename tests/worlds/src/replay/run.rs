//! The state that the agents of a run share: the tasks, the branch, the server, and the events.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use coord_domain::CommitSha;
use coord_graph::ImportGraph;

use super::account::{Account, Edit};
use super::branch::ReplayedBranch;
use super::clock::Clock;
use super::history::Task;
use super::interfaces::Interfaces;
use super::mode::Mode;
use super::server::{Server, SharedFiles};

/// A run and its agents.
pub struct Run<'a> {
    pub tasks: &'a [Task],
    pub mode: Mode,
    pub clock: Clock,
    pub server: Server,
    pub branch: Arc<ReplayedBranch>,
    /// Tasks that no agent has taken.
    pub open: RefCell<BTreeSet<usize>>,
    pub account: RefCell<Account>,
    pub interfaces: &'a Interfaces,
    pub graph: RefCell<Arc<ImportGraph>>,
    pub shared: SharedFiles,
    pub claims: RefCell<usize>,
}

impl Run<'_> {
    /// The files of a task.
    pub fn paths(&self, place: usize) -> Vec<&str> {
        self.tasks[place].files.keys().map(String::as_str).collect()
    }

    /// The files of a task whose interfaces it changes, as the branch is now.
    pub async fn changed_interfaces(&self, place: usize) -> Result<BTreeSet<String>> {
        let mut changed = BTreeSet::new();
        for path in self.tasks[place].files.keys() {
            let change = self.branch.change(place, path, &self.tasks[place]);
            if !self.shared.contain(path) && self.interfaces.is_changed(path, &change).await? {
                changed.insert(path.clone());
            }
        }
        Ok(changed)
    }

    /// The work on a task begins, if it has not begun.
    pub fn started(&self, place: usize, agent: usize) {
        let task = &mut self.account.borrow_mut().tasks[place];
        if task.started.is_some() {
            return;
        }
        let is_done = |path: &&String| {
            let (before, after) = self.branch.change(place, path, &self.tasks[place]);
            before == after
        };
        task.started = Some(self.clock.now());
        task.agent = agent;
        task.done_before = self.tasks[place].files.keys().filter(is_done).cloned().collect();
    }

    /// The files of a task are asked for.
    pub fn requested(&self, place: usize) {
        let now = self.clock.now();
        self.account.borrow_mut().tasks[place].requested_at.get_or_insert(now);
    }

    /// A task has its files, or its edits begin.
    pub fn granted(&self, place: usize, agent: usize) {
        self.started(place, agent);
        let task = &mut self.account.borrow_mut().tasks[place];
        task.waited = task
            .requested_at
            .map_or(Duration::ZERO, |requested_at| self.clock.now() - requested_at);
    }

    /// The agent of a task has waited for files after its beginning.
    pub fn waited(&self, place: usize, time: Duration) {
        let account = &mut *self.account.borrow_mut();
        account.idle += time;
        account.tasks[place].waited += time;
    }

    /// From now on the agent of a task changes these files, on the branch as it is now.
    pub fn edits(&self, place: usize, paths: &[&str]) {
        let edit = Edit {
            pulled: self.clock.now(),
            claim: self.claims.replace_with(|claims| *claims + 1),
            graph: Arc::clone(&self.graph.borrow()),
        };
        let edits = &mut self.account.borrow_mut().tasks[place].edits;
        edits.extend(paths.iter().map(|path| ((*path).to_owned(), edit.clone())));
    }

    /// The files of a task are given up, and what has changed in them: its work begins again.
    pub fn began_anew(&self, place: usize) {
        let agent = {
            let task = &mut self.account.borrow_mut().tasks[place];
            task.started = None;
            task.edits.clear();
            task.agent
        };
        self.started(place, agent);
    }

    /// A task is done: its change is on the branch, and in the graph.
    pub async fn land(&self, place: usize) -> Result<CommitSha> {
        let changed = self.changed_interfaces(place).await?;
        let head = self.branch.land(place, &self.tasks[place]);
        self.note_hazards(place, &changed);
        self.landed(place);
        let graph = self.server.build().await?;
        self.graph.replace(graph);
        Ok(head)
    }

    fn landed(&self, place: usize) {
        let now = self.clock.now();
        let task = &mut self.account.borrow_mut().tasks[place];
        task.landed = Some(now);
    }

    /// Finds the tasks that are changing neighbors of the files whose interfaces a task has changed. The graph is that of the later
    /// claim of the two: of what was no neighbor then, no lock could know.
    fn note_hazards(&self, place: usize, changed: &BTreeSet<String>) {
        let account = &mut *self.account.borrow_mut();
        let mut met = BTreeMap::new();
        let writer = &account.tasks[place];
        let mut outdated = BTreeSet::new();
        for (other, task) in account.tasks.iter().enumerate() {
            if task.agent == writer.agent || task.started.is_none() || task.landed.is_some() {
                continue;
            }
            for (path, edit) in changed.iter().filter_map(|path| Some((path, writer.edits.get(path)?))) {
                for file in self.tasks[other].files.keys() {
                    let other_edit = task.edits.get(file);
                    let later = other_edit.filter(|other| other.claim > edit.claim).unwrap_or(edit);
                    if !neighbors(&later.graph, path).any(|neighbor| neighbor == file) {
                        continue;
                    }
                    if other_edit.is_some() {
                        met.entry(other).or_insert_with(|| (path.clone(), file.clone()));
                    } else {
                        outdated.insert(other);
                    }
                }
            }
        }
        for other in outdated {
            account.tasks[other].is_outdated = true;
        }
        for (other, (path, neighbor)) in met {
            account.tasks[other].met_hazard = true;
            if self.mode.excludes_hazards() {
                let (one, other) = (&self.tasks[place].commit, &self.tasks[other].commit);
                account.violations.push(format!(
                    "{one} changed the interface of '{path}' while {other} was writing its neighbor '{neighbor}'"
                ));
            }
        }
    }
}

/// The files that import `path`, and those that it imports.
pub fn neighbors<'g>(graph: &'g ImportGraph, path: &str) -> impl Iterator<Item = &'g str> {
    let id = graph.id(path);
    let imports = id.into_iter().flat_map(|id| graph.imports(id)).map(|(id, _)| *id);
    let importers = id.into_iter().flat_map(|id| graph.importers(id)).copied();
    imports.chain(importers).map(|id| graph.path(id))
}
