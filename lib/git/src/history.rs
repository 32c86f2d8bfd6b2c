//! Commits and their parents.

use std::collections::{BinaryHeap, HashSet};

use coord_domain::CommitSha;
use coord_sources::SourceError;
use gix::ObjectId;

use super::deadline::Deadline;
use super::repository::{Repository, sha, unreadable};

/// The commits of a repository, from its commit-graph if it has one, else from its objects.
pub(super) struct History<'a> {
    handle: &'a gix::Repository,
    graph: Option<gix::commitgraph::Graph>,
    shallow: HashSet<ObjectId>,
}

#[derive(Clone, Debug)]
pub(super) struct Commit {
    /// Greater than the generation of any ancestor. `None` if the commit is not in the commit-graph. The commit-graph
    /// contains all ancestors of its commits.
    pub(super) generation: Option<u32>,
    /// Commit time by the clock of the committer, in Unix seconds. It guides the order of a walk, but proves nothing.
    pub(super) time: i64,
    pub(super) parents: Vec<ObjectId>,
    /// Whether a shallow clone has cut off its parents.
    pub(super) is_cut: bool,
}

impl<'a> History<'a> {
    pub(super) fn new(handle: &'a gix::Repository) -> Self {
        let shallow: HashSet<ObjectId> = handle
            .shallow_commits()
            .ok()
            .flatten()
            .map(|commits| commits.iter().copied().collect())
            .unwrap_or_default();
        // As in git: a commit-graph from before history was cut off has parents that are missing here. An unreadable
        // one is ignored, because it only saves time.
        let graph = if shallow.is_empty() {
            handle.commit_graph_if_enabled().ok().flatten()
        } else {
            None
        };
        History { handle, graph, shallow }
    }

    /// The commit `id`; `None` if it is missing or damaged.
    pub(super) fn commit(&self, id: ObjectId) -> Option<Commit> {
        self.commit_in_graph(id).or_else(|| self.commit_object(id))
    }

    fn commit_in_graph(&self, id: ObjectId) -> Option<Commit> {
        let graph = self.graph.as_ref()?;
        let commit = graph.commit_by_id(id)?;
        let parents: Result<Vec<ObjectId>, _> = commit
            .iter_parents()
            .map(|parent| parent.map(|position| graph.id_at(position).to_owned()))
            .collect();
        Some(Commit {
            generation: Some(commit.generation()).filter(|generation| *generation > 0),
            time: i64::try_from(commit.committer_timestamp()).unwrap_or(i64::MAX),
            parents: parents.ok()?,
            is_cut: false,
        })
    }

    fn commit_object(&self, id: ObjectId) -> Option<Commit> {
        let object = self.handle.try_find_object(id).ok().flatten()?;
        let fields = object.try_to_commit_ref_iter()?;
        let time = fields.committer().ok()?.seconds();
        let is_cut = self.shallow.contains(&id);
        Some(Commit {
            generation: None,
            time,
            parents: if is_cut {
                Vec::new()
            } else {
                fields.parent_ids().collect()
            },
            is_cut,
        })
    }
}

impl Repository {
    /// Up to `limit` commits reachable from `tip`, newest first. Ends where history is cut off.
    pub(super) fn recent_commits(
        &self,
        tip: &CommitSha,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<CommitSha>, SourceError> {
        let is_miss = |result: &Result<(Vec<CommitSha>, bool), SourceError>| !matches!(result, Ok((_, true)));
        let result = self
            .objects
            .read(is_miss, |handle| self.list_commits(handle, tip, limit, deadline));
        result.map(|(commits, _)| commits)
    }

    /// The commits, and whether all of their parents could be read, except where history is cut off.
    fn list_commits(
        &self,
        handle: &gix::Repository,
        tip: &CommitSha,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<(Vec<CommitSha>, bool), SourceError> {
        let tip = self.commit_id(handle, tip)?;
        let history = History::new(handle);
        let mut is_complete = true;
        let first = history
            .commit(tip)
            .ok_or_else(|| unreadable(self, format_args!("commit {tip} cannot be read")))?;
        let mut seen = HashSet::from([tip]);
        let mut waiting = BinaryHeap::from([(first.time, tip, first.parents)]);
        let mut commits = Vec::with_capacity(limit.min(1024));
        while let Some((_, id, parents)) = waiting.pop() {
            if commits.len() == limit {
                break;
            }
            if deadline.has_passed() {
                return Err(deadline.error());
            }
            commits.push(sha(id)?);
            for parent in parents {
                if seen.insert(parent) {
                    match history.commit(parent) {
                        Some(commit) => waiting.push((commit.time, parent, commit.parents)),
                        None => is_complete = false,
                    }
                }
            }
        }
        Ok((commits, is_complete))
    }
}
