//! Tasks that exclude each other if files are held for the whole task, whatever the agents do.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use coord_graph::ImportGraph;

use super::history::Task;
use super::interfaces::Interfaces;
use super::mode::Rules;
use super::run::neighbors;
use super::server::SharedFiles;

/// How much tasks exclude each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exclusion {
    /// Of all pairs of tasks, those that exclude each other.
    pub pairs: f64,
    /// Wall over ideal that no order of the tasks is under: tasks of which each excludes each other one take their time one after the other,
    /// here the longest such row that was found.
    pub least_wall: f64,
}

/// The locks that a claim of all files of a task acquires.
#[derive(Default)]
struct Claim<'a> {
    length: Duration,
    files: BTreeSet<&'a str>,
    /// The neighbors that no other agent may write.
    kept_free: BTreeSet<String>,
}

impl Claim<'_> {
    fn excludes(&self, other: &Claim<'_>) -> bool {
        !self.files.is_disjoint(&other.files) || self.keeps_free(other) || other.keeps_free(self)
    }

    fn keeps_free(&self, other: &Claim<'_>) -> bool {
        other.files.iter().any(|file| self.kept_free.contains(*file))
    }
}

/// That of the `tasks`, by the `graph` before the first of them.
pub async fn exclusion(
    tasks: &[Task],
    agents: usize,
    rules: Rules,
    graph: &ImportGraph,
    shared: &SharedFiles,
    interfaces: &Interfaces,
) -> Result<Exclusion> {
    let mut claims = Vec::new();
    for task in tasks {
        let mut claim = Claim {
            length: task.length(),
            ..Claim::default()
        };
        for (path, change) in task.files.iter().filter(|(path, _)| !shared.contain(path)) {
            claim.files.insert(path);
            let excludes_neighbors = match rules {
                Rules::None | Rules::Files => false,
                Rules::Neighbors => true,
                Rules::Interface => interfaces.is_changed(path, change).await?,
            };
            if excludes_neighbors {
                claim.kept_free.extend(neighbors(graph, path).map(str::to_owned));
            }
        }
        claims.push(claim);
    }
    let (mut pairs, mut excluding) = (0_u32, 0_u32);
    for (place, claim) in claims.iter().enumerate() {
        for other in &claims[..place] {
            pairs += 1;
            excluding += u32::from(claim.excludes(other));
        }
    }
    claims.sort_by_key(|claim| Reverse(claim.length));
    let row = claims
        .iter()
        .map(|first| longest_row(first, &claims))
        .max()
        .unwrap_or_default();
    let work: Duration = tasks.iter().map(Task::length).sum();
    Ok(Exclusion {
        pairs: f64::from(excluding) / f64::from(pairs.max(1)),
        least_wall: row.as_secs_f64() / (work.as_secs_f64() / agents as f64),
    })
}

/// From `first` on, adds the longest task that excludes all so far.
fn longest_row(first: &Claim<'_>, longest_first: &[Claim<'_>]) -> Duration {
    let mut row = vec![first];
    for claim in longest_first {
        if !std::ptr::eq(claim, first) && row.iter().all(|one| one.excludes(claim)) {
            row.push(claim);
        }
    }
    row.iter().map(|claim| claim.length).sum()
}
