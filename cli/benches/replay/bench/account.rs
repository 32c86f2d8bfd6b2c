//! What happened in a run, and the figures that are made of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use coord_graph::ImportGraph;

use super::history::Task;

/// What happened to a task.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Its agent, by number.
    pub agent: usize,
    /// When the work began, with the files or without.
    pub started: Option<Duration>,
    /// The files in which nothing was left to change then, because a later commit of the history has landed.
    pub done_before: BTreeSet<String>,
    /// The place among the grants, once it had its files.
    pub grant: Option<usize>,
    /// When it was pushed, to whichever branch.
    pub pushed: Option<Duration>,
    /// When it was on the branch that it is for.
    pub landed: Option<Duration>,
    /// When its files were first asked for, by a check or a claim.
    pub asked: Option<Duration>,
    /// From then to the grant.
    pub waited: Duration,
    /// The graph at the grant.
    pub graph: Option<Arc<ImportGraph>>,
    /// Whether it worked while another task changed the interface of a neighbor.
    pub met_hazard: bool,
}

impl Played {
    /// Who worked on it and when, for a sentence.
    pub fn times(&self) -> String {
        let minutes =
            |time: Option<Duration>| time.map_or("-".to_owned(), |time| format!("{:.1}", time.as_secs_f64() / 60.0));
        let [started, pushed, landed] = [self.started, self.pushed, self.landed].map(minutes);
        format!(
            "agent-{}: begun at {started}, pushed at {pushed}, landed at {landed} minutes",
            self.agent
        )
    }

    /// Whether two agents had both under way at one time: from the beginning of the work until it was on the branch.
    pub fn overlaps(&self, other: &Played) -> bool {
        let span = |played: &Played| played.started.zip(played.landed);
        let spans = span(self).zip(span(other));
        let is_one_time =
            spans.is_some_and(|((begin, end), (other_begin, other_end))| begin < other_end && other_begin < end);
        is_one_time && self.agent != other.agent
    }
}

/// What happened in a run.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub tasks: Vec<Played>,
    /// Requests for files that were answered, with those that were refused; renewals are not among them.
    pub claims: u64,
    pub refusals: u64,
    pub checks: u64,
    /// The time that agents waited for files.
    pub idle: Duration,
    /// What the policy promised to exclude, and what else must not be.
    pub violations: Vec<String>,
}

/// The figures of a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Figures {
    /// The time until the last task was pushed, to that of agents that never wait.
    pub wall_over_ideal: f64,
    /// Of the time of all agents, that in which they waited for files.
    pub waiting: f64,
    pub claims_per_task: f64,
    pub refusals: u64,
    pub checks_per_task: f64,
    /// The longest time from the first request for the files of a task to their grant, in lengths of an average task.
    pub longest_wait: f64,
    /// Of all tasks, those that conflict textually, outside of shared files, with one that was worked on at the same time.
    pub conflicts: f64,
    /// Of all tasks, those that worked on a neighbor of a file whose interface another task changed meanwhile.
    pub hazards: f64,
}

impl Account {
    pub fn of(tasks: usize) -> Self {
        Account {
            tasks: vec![Played::default(); tasks],
            ..Account::default()
        }
    }

    /// The figures, where the tasks in `conflicts` conflict.
    pub fn figures(&self, tasks: &[Task], agents: usize, conflicts: usize) -> Figures {
        let sum = |times: &mut dyn Iterator<Item = Duration>| times.sum::<Duration>().as_secs_f64();
        let count = tasks.len().max(1) as f64;
        let work = sum(&mut tasks.iter().map(Task::length));
        let wall = self
            .tasks
            .iter()
            .filter_map(|task| task.pushed)
            .max()
            .unwrap_or_default();
        let (wall, agents) = (wall.as_secs_f64(), agents as f64);
        let longest = self.tasks.iter().map(|task| task.waited).max().unwrap_or_default();
        let hazards = self.tasks.iter().filter(|task| task.met_hazard).count();
        Figures {
            wall_over_ideal: wall / (work / agents),
            waiting: self.idle.as_secs_f64() / (wall * agents),
            claims_per_task: self.claims as f64 / count,
            refusals: self.refusals,
            checks_per_task: self.checks as f64 / count,
            longest_wait: longest.as_secs_f64() / (work / count),
            conflicts: conflicts as f64 / count,
            hazards: hazards as f64 / count,
        }
    }
}
