//! One run: all tasks, played in one mode.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use coord_domain::CommitSha;
use coord_graph::ImportGraph;
use futures::StreamExt;
use futures::TryStreamExt;
use futures::channel::mpsc::{self, UnboundedSender};
use futures::future::{try_join, try_join_all};

use super::account::{Account, Edit, Figures};
use super::agent::Agent;
use super::branch::{Base, ReplayedBranch};
use super::clock::Clock;
use super::conflicts::Conflicts;
use super::exclusion::{Exclusion, exclusion};
use super::history::Task;
use super::interfaces::Interfaces;
use super::mode::Mode;
use super::server::{Server, SharedFiles};

/// From the push of a work branch to its merge.
const REVIEW: Duration = Duration::from_secs(600);

/// The longest time for which a task is passed over by agents that wait for old ones.
const MOST_PASSED: Duration = Duration::from_secs(180);

/// The state that all runs of a history share.
pub struct Stage<'a> {
    pub tasks: &'a [Task],
    pub base: Arc<Base>,
    pub interfaces: Interfaces,
    pub conflicts: RefCell<Conflicts>,
    pub agents: usize,
}

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
    interfaces: &'a Interfaces,
    graph: RefCell<Arc<ImportGraph>>,
    shared: SharedFiles,
    claims: RefCell<usize>,
    /// Takes the tasks whose work branches are to be merged.
    reviews: UnboundedSender<usize>,
}

/// The outcome of a run.
pub struct Outcome {
    pub mode: Mode,
    /// Where files are held for the whole task.
    pub exclusion: Option<Exclusion>,
    pub figures: Figures,
    pub violations: Vec<String>,
    pub requests: u32,
    pub busy: Duration,
}

impl Stage<'_> {
    /// Plays all tasks in `mode`.
    pub async fn play(&self, mode: Mode) -> Result<Outcome> {
        let clock = Clock::of(self.agents);
        let branch = Arc::new(ReplayedBranch::new(Arc::clone(&self.base), mode.policy()));
        let server = Server::start(self.base.repo(), Arc::clone(&branch), &clock)?;
        let graph = server.build().await?;
        let shared = server.policy().await?;
        let exclusion = match mode.locks() && mode.is_held_throughout() {
            true => Some(exclusion(self.tasks, self.agents, mode.rules, &graph, &shared, &self.interfaces).await?),
            false => None,
        };
        let (sender, reviews) = mpsc::unbounded();
        let run = Run {
            tasks: self.tasks,
            mode,
            clock,
            server,
            branch,
            open: RefCell::new((0..self.tasks.len()).collect()),
            account: RefCell::new(Account::of(self.tasks.len())),
            interfaces: &self.interfaces,
            graph: RefCell::new(graph),
            shared,
            claims: RefCell::default(),
            reviews: sender,
        };
        let agents = async {
            try_join_all((0..self.agents).map(|number| Agent::new(&run, number).work())).await?;
            run.reviews.close_channel();
            Ok(())
        };
        let merges = reviews.map(Ok).try_for_each_concurrent(None, |place| run.merge(place));
        tokio::select! {
            ended = try_join(agents, merges) => { ended?; }
            () = run.clock.run() => {}
        }
        let mut account = run.account.into_inner();
        let conflicting = self.judge(mode, &mut account, &|path| run.shared.contain(path))?;
        Ok(Outcome {
            mode,
            exclusion,
            figures: account.figures(self.tasks, self.agents, conflicting),
            violations: account.violations,
            requests: run.server.requests.get(),
            busy: run.server.busy.get(),
        })
    }

    /// Counts the tasks that conflict with one whose change was under way at the same time, and adds to the account what `mode` has promised
    /// to exclude.
    pub fn judge(&self, mode: Mode, account: &mut Account, is_shared: &dyn Fn(&str) -> bool) -> Result<usize> {
        let mut conflicting = BTreeSet::new();
        let mut known = self.conflicts.borrow_mut();
        for (later, task) in self.tasks.iter().enumerate() {
            for (earlier, other) in self.tasks[..later].iter().enumerate() {
                let [one, two] = [earlier, later].map(|place| &account.tasks[place]);
                if !one.is_beside(two) {
                    continue;
                }
                let is_done = |path: &str| [one, two].iter().any(|task| task.done_before.contains(path));
                let files = known.between(other, task)?.iter();
                let files: Vec<&String> = files.filter(|path| !is_shared(path) && !is_done(path)).collect();
                let Some(file) = files.iter().find(|path| one.overlaps(two, path)) else {
                    if !files.is_empty() {
                        // The one that landed last has pulled the other's change before its own.
                        let last = if one.landed < two.landed { later } else { earlier };
                        account.tasks[last].is_outdated = true;
                    }
                    continue;
                };
                conflicting.extend([earlier, later]);
                if mode.excludes_conflicts() {
                    let violation = format!(
                        "{} ({}) and {} ({}) conflict in '{file}', and were under way at the same time",
                        other.commit,
                        one.times(),
                        task.commit,
                        two.times()
                    );
                    account.violations.push(violation);
                }
            }
        }
        Ok(conflicting.len())
    }
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
    pub fn asked(&self, place: usize) {
        let now = self.clock.now();
        self.account.borrow_mut().tasks[place].asked.get_or_insert(now);
    }

    /// Whether a task has been passed over for long.
    pub fn is_old(&self, place: usize) -> bool {
        let asked = self.account.borrow().tasks[place].asked;
        asked.is_some_and(|asked| self.clock.now() - asked >= MOST_PASSED)
    }

    /// A task has its files, or its edits begin.
    pub fn granted(&self, place: usize, agent: usize) {
        self.started(place, agent);
        let task = &mut self.account.borrow_mut().tasks[place];
        task.waited = task.asked.map_or(Duration::ZERO, |asked| self.clock.now() - asked);
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

    /// A task is done, and its change is pushed to its work branch, on top of `base`.
    pub fn push(&self, place: usize, base: &CommitSha) -> Result<CommitSha> {
        let commit = self.branch.push(place, &self.tasks[place], base)?;
        self.account.borrow_mut().tasks[place].pushed = Some(self.clock.now());
        self.clock.begins();
        self.reviews.unbounded_send(place)?;
        Ok(commit)
    }

    /// The work branch of a task is merged after its review.
    async fn merge(&self, place: usize) -> Result<()> {
        self.clock.sleep_until(self.clock.now() + REVIEW).await;
        self.land(place).await?;
        self.clock.wake_waiting();
        self.clock.ends();
        Ok(())
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
        task.pushed.get_or_insert(now);
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
