//! One run: all tasks, played in one mode by agents at once, and judged.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use futures::future::try_join_all;

use super::account::{Account, Figures};
use super::agent::Agent;
use super::branch::{Base, ReplayedBranch};
use super::clock::Clock;
use super::conflicts::Conflicts;
use super::history::Task;
use super::interfaces::Interfaces;
use super::mode::Mode;
use super::run::Run;
use super::server::Server;

/// The state that all runs of a history share.
pub struct Stage<'a> {
    pub tasks: &'a [Task],
    pub base: Arc<Base>,
    pub interfaces: Interfaces,
    pub conflicts: RefCell<Conflicts>,
    pub agents: usize,
}

/// The outcome of a run.
pub struct Outcome {
    pub mode: Mode,
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
        };
        let agents = try_join_all((0..self.agents).map(|number| Agent::new(&run, number).work()));
        tokio::select! {
            ended = agents => { ended?; }
            () = run.clock.run() => {}
        }
        let mut account = run.account.into_inner();
        let conflicting = self.judge(mode, &mut account, &|path| run.shared.contain(path))?;
        Ok(Outcome {
            mode,
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
                if mode.locks() {
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
