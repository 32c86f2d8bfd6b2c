//! Tasks there and here, and how often each difference that is meant was met. Their names are those of the facts about the plugin,
//! and [`COMPLETED`]: there a completed task is removed from all `blocks` and not from its `dependencies`, and put into `blocks`
//! again by dependencies that it gets later. Here it is in no `blocks`, and its `dependencies` are empty.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{text, texts};

/// All that are meant, in the order of their names.
const ALL: [&str; 13] = [
    "D1", "D10", "D11", "D12", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", COMPLETED,
];

/// A completed task is in `blocks` there, or has open `dependencies`, and not here.
pub const COMPLETED: &str = "completed";

/// Differences met in a run.
#[derive(Default)]
pub struct Differences {
    counts: BTreeMap<&'static str, usize>,
    /// Tasks whose warnings there may be stale: dependencies changed behind the claim, or a claim after a reassignment.
    pub stale_warnings: BTreeSet<String>,
    /// Entries of `blocks` there that stand for no dependency: (task, what it is said to block).
    pub dangling: BTreeSet<(String, String)>,
    /// Tasks that are there, and whether they are completed.
    pub completed: BTreeMap<String, bool>,
}

/// A task here, in the names of there.
pub struct Shown {
    pub title: String,
    pub priority: String,
    pub status: String,
    pub owner: Option<String>,
    pub dependencies: Vec<String>,
    pub blocks: BTreeSet<String>,
    pub warning: Option<String>,
}

impl Differences {
    /// With those that were met elsewhere.
    pub fn and(mut self, other: Self) -> Self {
        for (name, count) in other.counts {
            *self.counts.entry(name).or_default() += count;
        }
        self
    }

    /// A difference was met.
    pub fn met(&mut self, name: &'static str) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// Asserts that each difference that is meant was met, so that none is an excuse for nothing; and no other was.
    pub fn assert_all_were_met(&self) {
        let met: Vec<&str> = self.counts.keys().copied().collect();
        assert_eq!(met, ALL, "{:?}", self.counts);
    }

    /// The task `id` is the same as there, but for intended differences. `met` are its completed dependencies, asked for where it
    /// matters.
    pub fn same_task(&mut self, id: &str, ours: &Shown, met: impl FnOnce() -> BTreeSet<String>, recorded: &Value) {
        assert_eq!(id, text(recorded, "id"));
        assert_eq!(ours.title, text(recorded, "title"));
        assert_eq!(ours.priority, text(recorded, "priority"));
        assert_eq!(ours.status, text(recorded, "status"), "{recorded}");
        assert_eq!(ours.owner.as_deref(), recorded["owner"].as_str(), "{recorded}");
        self.same_dependencies(id, ours, met, recorded);
        self.same_blocks(id, ours, recorded);
        self.same_warning(id, ours.warning.as_deref(), recorded);
    }

    fn is_done(&self, id: &str) -> bool {
        self.completed.get(id).copied().unwrap_or_default()
    }

    fn same_dependencies(&mut self, id: &str, ours: &Shown, met: impl FnOnce() -> BTreeSet<String>, recorded: &Value) {
        let listed = texts(&recorded["dependencies"]);
        let folded: BTreeSet<String> = listed.iter().cloned().collect();
        if folded.len() < listed.len() {
            self.met("D7");
        }
        let (done, open): (BTreeSet<String>, BTreeSet<String>) = folded.into_iter().partition(|id| self.is_done(id));
        if !done.is_empty() {
            self.met("D2");
            assert!(met().is_superset(&done), "{recorded}");
            // A cascade clears a warning there only if the list gets empty.
            self.stale_warnings.insert(id.to_owned());
        }
        assert_eq!(ours.dependencies.len(), open.len(), "folded: {recorded}");
        assert_eq!(
            ours.dependencies.iter().cloned().collect::<BTreeSet<_>>(),
            open,
            "{recorded}"
        );
    }

    fn same_blocks(&mut self, id: &str, ours: &Shown, recorded: &Value) {
        let theirs: BTreeSet<_> = texts(&recorded["blocks"]).into_iter().collect();
        assert!(theirs.is_superset(&ours.blocks), "{:?}: {recorded}", ours.blocks);
        for other in theirs.difference(&ours.blocks) {
            if !self.completed.contains_key(other) {
                self.met("D10");
            } else if self.is_done(other) {
                self.met(COMPLETED);
            } else {
                assert!(
                    self.dangling.contains(&(id.to_owned(), other.clone())),
                    "{other} of {recorded}"
                );
                self.met("D8");
            }
        }
    }

    fn same_warning(&mut self, id: &str, ours: Option<&str>, recorded: &Value) {
        if ours != recorded["warning"].as_str() {
            assert!(self.stale_warnings.contains(id), "{ours:?}: {recorded}");
            self.met("D9");
        }
    }
}
