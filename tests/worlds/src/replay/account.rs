//! Events of a run, and the figures computed from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use coord_graph::ImportGraph;

use super::history::Task;

/// A change that a task makes to a file.
#[derive(Clone, Debug)]
pub struct Edit {
    /// When the working copy was pulled on which it is made: at the claim, or where there is none, when the work began.
    pub pulled: Duration,
    /// The place of its claim among all.
    pub claim: usize,
    /// The graph at that time.
    pub graph: Arc<ImportGraph>,
}

/// The course of one task.
#[derive(Clone, Debug, Default)]
pub struct TaskRun {
    /// Its agent, by number.
    pub agent: usize,
    /// When the work began, with the files or without.
    pub started: Option<Duration>,
    /// The files in which nothing was left to change then, because a later commit of the history has landed.
    pub done_before: BTreeSet<String>,
    /// The files that are changed so far.
    pub edits: BTreeMap<String, Edit>,
    /// When it was pushed to the branch.
    pub landed: Option<Duration>,
    /// When its files were first asked for, by a check or a claim.
    pub requested_at: Option<Duration>,
    /// From then to the grant, and for files of its edits.
    pub waited: Duration,
    /// Whether another task changed the interface of a neighbor while the change of its file was not yet on the branch.
    pub met_hazard: bool,
    /// Whether it began on something that others changed before its edit: the pull before that brought it.
    pub is_outdated: bool,
}

impl TaskRun {
    /// Agent and times, for a sentence.
    pub fn times(&self) -> String {
        let minutes =
            |time: Option<Duration>| time.map_or("-".to_owned(), |time| format!("{:.1}", time.as_secs_f64() / 60.0));
        let [started, landed] = [self.started, self.landed].map(minutes);
        format!("agent-{}: begun at {started}, landed at {landed} minutes", self.agent)
    }

    /// Whether two agents had changes of the file under way at one time: from the pull before the edit until it was on the branch.
    pub fn overlaps(&self, other: &TaskRun, path: &str) -> bool {
        self.are_at_one_time(other, |played| Some(played.edits.get(path)?.pulled))
    }

    /// Whether two agents had both tasks under way at one time.
    pub fn is_beside(&self, other: &TaskRun) -> bool {
        self.are_at_one_time(other, |played| played.started)
    }

    fn are_at_one_time(&self, other: &TaskRun, begin: impl Fn(&TaskRun) -> Option<Duration>) -> bool {
        let span = |played: &TaskRun| begin(played).zip(played.landed);
        let spans = span(self).zip(span(other));
        let is_one_time =
            spans.is_some_and(|((begin, end), (other_begin, other_end))| begin < other_end && other_begin < end);
        is_one_time && self.agent != other.agent
    }
}

/// The events of one run.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub tasks: Vec<TaskRun>,
    /// Requests for files that were answered, with those that were refused; renewals are not among them.
    pub claims: u64,
    pub refusals: u64,
    /// Tasks whose files were given up and claimed anew, because two agents waited for each other.
    pub given_up: u64,
    /// The time that agents waited for files.
    pub idle: Duration,
    /// Broken promises of the policy, and other errors.
    pub violations: Vec<String>,
}

/// The figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The time until the last task was pushed, to that of agents that never wait.
    pub wall_over_ideal: f64,
    /// Of the time of all agents, that in which they waited for files.
    pub waiting: f64,
    pub claims_per_task: f64,
    pub refusals: u64,
    pub given_up: u64,
    /// The longest time from the first request for the files of a task to their grant, in lengths of an average task.
    pub longest_wait: f64,
    /// Of all tasks, those that waited for longer than three average tasks take.
    pub long_waits: f64,
    /// Of all tasks, those that conflict textually, outside of shared files, with one that was under way at the same time.
    pub conflicts: f64,
    /// Of all tasks, those that changed a neighbor of a file whose interface another task changed meanwhile.
    pub hazards: f64,
    /// Of all tasks, those that began on what others changed before their edit, so that the pull before that brought it.
    pub outdated: f64,
}

impl Account {
    pub fn of(tasks: usize) -> Self {
        Account {
            tasks: vec![TaskRun::default(); tasks],
            ..Account::default()
        }
    }

    /// The figures, where the tasks in `conflicts` conflict.
    pub fn figures(&self, tasks: &[Task], agents: usize, conflicts: usize) -> Figures {
        let count = tasks.len().max(1) as f64;
        let work = tasks.iter().map(Task::length).sum::<Duration>().as_secs_f64();
        let landed = self.tasks.iter().filter_map(|task| task.landed);
        let wall = landed.max().unwrap_or_default();
        let (wall, agents) = (wall.as_secs_f64(), agents as f64);
        let longest = self.tasks.iter().map(|task| task.waited).max().unwrap_or_default();
        let share = |is_one: &dyn Fn(&&TaskRun) -> bool| self.tasks.iter().filter(is_one).count() as f64 / count;
        Figures {
            wall_over_ideal: wall / (work / agents),
            waiting: self.idle.as_secs_f64() / (wall * agents),
            claims_per_task: self.claims as f64 / count,
            refusals: self.refusals,
            given_up: self.given_up,
            longest_wait: longest.as_secs_f64() / (work / count),
            long_waits: share(&|task| task.waited.as_secs_f64() > 3.0 * work / count),
            conflicts: conflicts as f64 / count,
            hazards: share(&|task| task.met_hazard),
            outdated: share(&|task| task.is_outdated),
        }
    }
}
