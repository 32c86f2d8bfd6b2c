//! The clones of one repository that are served together. Each knows the commits that it has fetched or made, so another clone may have
//! a missing one: the head of a branch is the newest that any of them knows, and a commit is read from one that has it.

use std::sync::Arc;

use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_sources::{Comparison, Reachable, SourceError, Tip};

use super::deadline::Deadline;
use super::repository::{NamedCommits, Repository};

/// At least one clone.
#[derive(Clone)]
pub(super) struct Clones {
    first: Arc<Repository>,
    others: Vec<Arc<Repository>>,
}

impl Clones {
    /// Those of `repo` among `all`.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Arc<Repository>>, repo: &RepoId) -> Option<Clones> {
        let mut clones = all.filter(|clone| clone.id() == repo).cloned();
        Some(Clones {
            first: clones.next()?,
            others: clones.collect(),
        })
    }

    pub(super) fn first(&self) -> &Arc<Repository> {
        &self.first
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Repository>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The clone that has `commit`; the first one where none has.
    pub(super) fn having(&self, commit: &CommitSha) -> &Arc<Repository> {
        let has = |clone: &&Arc<Repository>| {
            let handle = clone.objects().handle();
            matches!(clone.resolve(&handle, commit), Ok(NamedCommits::Commit(_)))
        };
        match self.others.as_slice() {
            [] => &self.first,
            _ => self.all().find(has).unwrap_or(&self.first),
        }
    }

    /// The clone that has the first and the last of `blobs`: those of one commit are read from where it was.
    pub(super) fn having_blobs(&self, blobs: &[String]) -> &Arc<Repository> {
        let has = |clone: &&Arc<Repository>| {
            let handle = clone.objects().handle();
            let ends = [blobs.first(), blobs.last()].into_iter().flatten();
            ends.into_iter().all(|blob| {
                let id = gix::ObjectId::from_hex(blob.as_bytes());
                id.is_ok_and(|id| handle.try_find_header(id).is_ok_and(|header| header.is_some()))
            })
        };
        match self.others.as_slice() {
            [] => &self.first,
            _ => self.all().find(has).unwrap_or(&self.first),
        }
    }

    /// The heads of `branch` that the clones know, each once. A clone that cannot be read counts only where all cannot.
    pub(super) fn tips(&self, branch: &Branch) -> Result<Vec<Tip>, SourceError> {
        let mut tips: Vec<Tip> = Vec::new();
        let mut failed = Ok(());
        let mut is_read = false;
        for clone in self.all() {
            match clone.check_standing().and_then(|()| clone.tip(branch)) {
                Ok(tip) => {
                    is_read = true;
                    tips.extend(tip.filter(|tip| tips.iter().all(|known| known.commit != tip.commit)));
                }
                Err(error) => failed = Err(error),
            }
        }
        match is_read {
            true => Ok(tips),
            false => failed.map(|()| tips),
        }
    }

    /// The newest of `tips`: the one that contains the others, or else the one whose reference was written last.
    pub(super) fn newest(&self, tips: Vec<Tip>, deadline: &Deadline) -> Option<Tip> {
        let written = |tip: &Tip| {
            let is_at = |clone: &&Arc<Repository>| {
                let at = clone.references().resolve(&tip.reference).ok().flatten();
                at.is_some() && at == clone.full_id(&tip.commit)
            };
            let at = self.all().filter(is_at);
            at.filter_map(|clone| clone.references().written(&tip.reference)).max()
        };
        tips.into_iter().reduce(|best, other| {
            let contains = |one: &Tip, other: &Tip| {
                matches!(
                    self.is_ancestor(&other.commit, &one.commit, deadline),
                    Ok(Reachable::Yes)
                )
            };
            if contains(&best, &other) {
                best
            } else if contains(&other, &best) || written(&other) > written(&best) {
                other
            } else {
                best
            }
        })
    }

    pub(super) fn remembered(&self, ancestor: &CommitSha, descendant: &CommitSha) -> Option<Reachable> {
        self.all().find_map(|clone| clone.remembered(ancestor, descendant))
    }

    pub(super) fn is_ancestor(
        &self,
        ancestor: &CommitSha,
        descendant: &CommitSha,
        deadline: &Deadline,
    ) -> Result<Reachable, SourceError> {
        self.known(
            |answer| *answer != Reachable::Unknown,
            |clone| clone.is_ancestor(ancestor, descendant, deadline),
        )
    }

    pub(super) fn compare(
        &self,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
        deadline: &Deadline,
    ) -> Result<Comparison, SourceError> {
        self.known(
            |comparison: &Comparison| {
                comparison.descends != Reachable::Unknown && comparison.same.iter().all(Option::is_some)
            },
            |clone| clone.compare(base, tip, paths, deadline),
        )
    }

    /// The first answer that `is_known`, or else the first one.
    fn known<T>(
        &self,
        is_known: impl Fn(&T) -> bool,
        ask: impl Fn(&Repository) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let first = ask(&self.first);
        if self.others.is_empty() || first.as_ref().is_ok_and(&is_known) {
            return first;
        }
        let mut answers = self.others.iter().filter_map(|clone| ask(clone).ok());
        let mut unknown = None;
        for answer in answers.by_ref() {
            if is_known(&answer) {
                return Ok(answer);
            }
            unknown.get_or_insert(answer);
        }
        match (first, unknown) {
            (Err(_), Some(answer)) => Ok(answer),
            (first, _) => first,
        }
    }
}
