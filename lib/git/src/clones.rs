//! The clones of one repository that are served together. Each has the commits that were fetched or made there, so one
//! clone may have a commit that another lacks. The head of a branch is the newest that any clone has, and a commit is
//! read from a clone that has it.

use std::sync::Arc;

use coord_domain::{Branch, CommitSha, FilePath, RepoId};
use coord_sources::{Comparison, Reachable, SourceError, Tip};

use super::deadline::Deadline;
use super::repository::Repository;

/// At least one clone.
#[derive(Clone)]
pub(super) struct Clones {
    pub(super) first: Arc<Repository>,
    others: Vec<Arc<Repository>>,
}

impl Clones {
    /// The clones of `repo` among `repositories`.
    pub(super) fn of<'a>(repositories: impl Iterator<Item = &'a Arc<Repository>>, repo: &RepoId) -> Option<Clones> {
        let mut clones = repositories.filter(|clone| clone.id() == repo).cloned();
        Some(Clones {
            first: clones.next()?,
            others: clones.collect(),
        })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Repository>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// A clone that has `commit`; the first clone if none has it.
    pub(super) fn clone_with_commit(&self, commit: &CommitSha) -> &Arc<Repository> {
        self.find_or_first(|clone| {
            let handle = clone.objects.handle();
            matches!(clone.resolve(&handle, commit), Ok(Some(_)))
        })
    }

    /// A clone that has the first and the last of `blobs`, which are of one commit; the first clone if none has them.
    pub(super) fn clone_with_blobs(&self, blobs: &[String]) -> &Arc<Repository> {
        self.find_or_first(|clone| {
            let handle = clone.objects.handle();
            let mut ends = [blobs.first(), blobs.last()].into_iter().flatten();
            ends.all(|blob| {
                let id = gix::ObjectId::from_hex(blob.as_bytes());
                id.is_ok_and(|id| handle.try_find_header(id).is_ok_and(|header| header.is_some()))
            })
        })
    }

    /// The first clone for which `has_object` is true, or else the first clone.
    fn find_or_first(&self, has_object: impl Fn(&Repository) -> bool) -> &Arc<Repository> {
        if self.others.is_empty() {
            return &self.first;
        }
        self.all().find(|clone| has_object(clone)).unwrap_or(&self.first)
    }

    /// The heads of `branch` in the clones, without duplicates. Fails only if no clone can be read.
    pub(super) fn tips(&self, branch: &Branch) -> Result<Vec<Tip>, SourceError> {
        let mut tips: Vec<Tip> = Vec::new();
        let mut last_error = None;
        let mut is_any_readable = false;
        for clone in self.all() {
            match clone.check_path().and_then(|()| clone.tip(branch)) {
                Ok(tip) => {
                    is_any_readable = true;
                    tips.extend(tip.filter(|tip| tips.iter().all(|other| other.commit != tip.commit)));
                }
                Err(error) => last_error = Some(error),
            }
        }
        match last_error {
            Some(error) if !is_any_readable => Err(error),
            _ => Ok(tips),
        }
    }

    /// The newest of `tips`: the one that contains the others, or else the one whose reference was written last.
    pub(super) fn newest(&self, tips: Vec<Tip>, deadline: &Deadline) -> Option<Tip> {
        let written_at = |tip: &Tip| {
            let has_tip = |clone: &&Arc<Repository>| {
                let id = clone.references.resolve(&tip.reference).ok().flatten();
                id.is_some() && id == clone.full_id(&tip.commit)
            };
            let clones = self.all().filter(has_tip);
            clones
                .filter_map(|clone| clone.references.written_at(&tip.reference))
                .max()
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
            } else if contains(&other, &best) || written_at(&other) > written_at(&best) {
                other
            } else {
                best
            }
        })
    }

    pub(super) fn cached_ancestry(&self, ancestor: &CommitSha, descendant: &CommitSha) -> Option<Reachable> {
        self.all().find_map(|clone| clone.cached_ancestry(ancestor, descendant))
    }

    pub(super) fn is_ancestor(
        &self,
        ancestor: &CommitSha,
        descendant: &CommitSha,
        deadline: &Deadline,
    ) -> Result<Reachable, SourceError> {
        self.first_known(
            |reachable| *reachable != Reachable::Unknown,
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
        self.first_known(
            |comparison: &Comparison| {
                comparison.descends != Reachable::Unknown && comparison.same.iter().all(Option::is_some)
            },
            |clone| clone.compare(base, tip, paths, deadline),
        )
    }

    /// The first result for which `is_known` is true, or else the first result at all.
    fn first_known<T>(
        &self,
        is_known: impl Fn(&T) -> bool,
        read: impl Fn(&Repository) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let first = read(&self.first);
        if self.others.is_empty() || first.as_ref().is_ok_and(&is_known) {
            return first;
        }
        let mut unknown = None;
        for result in self.others.iter().filter_map(|clone| read(clone).ok()) {
            if is_known(&result) {
                return Ok(result);
            }
            unknown.get_or_insert(result);
        }
        match (first, unknown) {
            (Err(_), Some(result)) => Ok(result),
            (first, _) => first,
        }
    }
}
