//! Whether one commit is reachable from another.
//!
//! The walk starts at both commits, newest first, and marks each commit with the colors of the ends that reach it. A
//! path from the descendant to the ancestor leads only through commits that the ancestor does not reach. So the walk
//! ends with No as soon as no waiting commit has only the descendant's color. The usual case is a working copy a few
//! commits behind the head: it costs those few commits, not the whole history. The result is exact even if the authors'
//! clocks were wrong. The generation numbers of a commit-graph shorten the walk further.

use std::collections::{BinaryHeap, HashMap};

use coord_domain::CommitSha;
use coord_sources::{Reachable, SourceError};
use gix::ObjectId;

use super::deadline::Deadline;
use super::history::{Commit, History};
use super::repository::Repository;

const FROM_ANCESTOR: u8 = 1;
const FROM_DESCENDANT: u8 = 2;

impl Repository {
    /// The cached result, if there is one.
    pub(super) fn cached_ancestry(&self, ancestor: &CommitSha, descendant: &CommitSha) -> Option<Reachable> {
        if ancestor == descendant {
            return Some(Reachable::Yes);
        }
        let (ancestor, descendant) = (self.full_id(ancestor)?, self.full_id(descendant)?);
        self.ancestry.get(&(ancestor, descendant))
    }

    /// Whether `ancestor` is reachable from `descendant`. Unknown if one of them is missing or ambiguous, the history
    /// between them is cut off, or the time does not suffice.
    pub(super) fn is_ancestor(
        &self,
        ancestor: &CommitSha,
        descendant: &CommitSha,
        deadline: &Deadline,
    ) -> Result<Reachable, SourceError> {
        let is_miss = |result: &Result<Reachable, SourceError>| !matches!(result, Ok(Reachable::Yes | Reachable::No));
        let result = self.objects.read(is_miss, |handle| {
            self.is_ancestor_from(handle, ancestor, descendant, deadline)
        });
        if is_miss(&result) {
            self.check_present()?;
        }
        result
    }

    fn is_ancestor_from(
        &self,
        handle: &gix::Repository,
        ancestor: &CommitSha,
        descendant: &CommitSha,
        deadline: &Deadline,
    ) -> Result<Reachable, SourceError> {
        let commits = [self.resolve(handle, ancestor)?, self.resolve(handle, descendant)?];
        let [Some(ancestor), Some(descendant)] = commits else {
            return Ok(Reachable::Unknown);
        };
        if ancestor == descendant {
            return Ok(Reachable::Yes);
        }
        if let Some(reachable) = self.ancestry.get(&(ancestor, descendant)) {
            return Ok(reachable);
        }
        let reachable = walk(&History::new(handle), ancestor, descendant, deadline);
        if reachable != Reachable::Unknown {
            self.ancestry.insert((ancestor, descendant), reachable);
        }
        Ok(reachable)
    }
}

struct SeenCommit {
    colors: u8,
    is_waiting: bool,
    order: (u32, i64),
    commit: Commit,
}

struct Walk<'a> {
    history: &'a History<'a>,
    ancestor: ObjectId,
    /// Generation of the ancestor; the greatest number if it has none.
    ancestor_generation: u32,
    seen: HashMap<ObjectId, SeenCommit>,
    waiting: BinaryHeap<((u32, i64), ObjectId)>,
    /// Number of waiting commits that have only the descendant's color.
    open: usize,
    is_found: bool,
    /// Whether a commit that could lead to the ancestor has parents that are not here.
    is_cut: bool,
}

fn walk(history: &History<'_>, ancestor: ObjectId, descendant: ObjectId, deadline: &Deadline) -> Reachable {
    let Some(commit) = history.commit(ancestor) else {
        return Reachable::Unknown;
    };
    let mut walk = Walk {
        history,
        ancestor,
        ancestor_generation: commit.generation.unwrap_or(u32::MAX),
        seen: HashMap::new(),
        waiting: BinaryHeap::new(),
        open: 0,
        is_found: false,
        is_cut: false,
    };
    walk.paint(ancestor, FROM_ANCESTOR);
    walk.paint(descendant, FROM_DESCENDANT);
    let mut steps = 0_u32;
    while walk.open > 0 && !walk.is_found {
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(64) && deadline.has_passed() {
            return Reachable::Unknown;
        }
        walk.step();
    }
    match (walk.is_found, walk.is_cut) {
        (true, _) => Reachable::Yes,
        (false, true) => Reachable::Unknown,
        (false, false) => Reachable::No,
    }
}

impl Walk<'_> {
    fn step(&mut self) {
        let Some((_, id)) = self.waiting.pop() else {
            return;
        };
        let Some(seen) = self.seen.get_mut(&id) else {
            return;
        };
        seen.is_waiting = false;
        if seen.colors == FROM_DESCENDANT {
            self.open -= 1;
            self.is_cut |= seen.commit.is_cut;
        }
        let (colors, parents) = (seen.colors, seen.commit.parents.clone());
        for parent in parents {
            self.paint(parent, colors);
        }
    }

    fn paint(&mut self, id: ObjectId, colors: u8) {
        if id == self.ancestor && colors & FROM_DESCENDANT != 0 {
            self.is_found = true;
            return;
        }
        if let Some(seen) = self.seen.get_mut(&id) {
            let before = seen.colors;
            seen.colors |= colors;
            if seen.colors == before {
                return;
            }
            if !seen.is_waiting {
                // Clocks disagreed, so the walk passed the commit before it got the second color. Pass it again.
                seen.is_waiting = true;
                self.waiting.push((seen.order, id));
            } else if before == FROM_DESCENDANT {
                self.open -= 1;
            }
            return;
        }
        let Some(commit) = self.history.commit(id) else {
            self.is_cut |= colors == FROM_DESCENDANT;
            return;
        };
        let generation = commit.generation.unwrap_or(u32::MAX);
        // All ancestors of a commit have a smaller generation. A commit without a generation is not in the
        // commit-graph, so it is not an ancestor of a commit that is.
        let cannot_reach_ancestor =
            generation < u32::MAX && generation <= self.ancestor_generation && id != self.ancestor;
        if colors == FROM_DESCENDANT {
            if cannot_reach_ancestor {
                return;
            }
            self.open += 1;
        }
        let order = (generation, commit.time);
        self.waiting.push((order, id));
        let seen = SeenCommit {
            colors,
            is_waiting: true,
            order,
            commit,
        };
        self.seen.insert(id, seen);
    }
}
