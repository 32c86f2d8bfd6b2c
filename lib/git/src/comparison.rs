//! Which files two commits have in common.

use coord::domain::{CommitSha, FilePath};
use coord::source::{Comparison, SourceError};
use gix::ObjectId;
use gix::objs::tree::EntryMode;

use super::deadline::Deadline;
use super::repository::{Named, Repository, unreadable};

/// The tree entry at a path, if there is one.
type Content = Option<(EntryMode, ObjectId)>;

impl Repository {
    /// Whether `tip` descends from `base`, and which of `paths` are the same in both: the same object in the same mode, or
    /// absent.
    pub(super) fn compare(
        &self,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
        deadline: &Deadline,
    ) -> Result<Comparison, SourceError> {
        let descends = self.is_ancestor(base, tip, deadline)?;
        let (before, after) = (
            self.contents(base, paths, deadline)?,
            self.contents(tip, paths, deadline)?,
        );
        let same = match (before, after) {
            (Some(before), Some(after)) => before
                .iter()
                .zip(&after)
                .map(|(one, other)| Some(one == other))
                .collect(),
            _ => vec![None; paths.len()],
        };
        Ok(Comparison {
            same,
            ..Comparison::of_commits(descends, paths.len())
        })
    }

    /// The blob of `commit` at each of `paths`.
    pub(super) fn blobs_at(
        &self,
        commit: &CommitSha,
        paths: &[FilePath],
        deadline: &Deadline,
    ) -> Result<Vec<Option<String>>, SourceError> {
        let contents = self.contents(commit, paths, deadline)?;
        let contents =
            contents.ok_or_else(|| unreadable(self, format_args!("commit {commit} cannot be read in time")))?;
        let blob = |content: Content| content.filter(|(mode, _)| mode.is_blob()).map(|(_, id)| id.to_string());
        Ok(contents.into_iter().map(blob).collect())
    }

    /// The tree entry of `commit` at each of `paths`; `None` where the commit cannot be read in time.
    fn contents(
        &self,
        commit: &CommitSha,
        paths: &[FilePath],
        deadline: &Deadline,
    ) -> Result<Option<Vec<Content>>, SourceError> {
        let is_miss = |answer: &Result<Option<Vec<Content>>, SourceError>| !matches!(answer, Ok(Some(_)));
        self.objects().read(is_miss, |handle| {
            let Named::Commit(id) = self.resolve(handle, commit)? else {
                return Ok(None);
            };
            let tree = handle.find_commit(id).ok().and_then(|commit| commit.tree().ok());
            let Some(tree) = tree else { return Ok(None) };
            let mut contents = Vec::with_capacity(paths.len());
            for path in paths {
                let found = tree.lookup_entry(path.as_str().split('/'));
                let Ok(found) = found else { return Ok(None) };
                if deadline.has_passed() {
                    return Ok(None);
                }
                contents.push(found.map(|entry| (entry.mode(), entry.object_id())));
            }
            Ok(Some(contents))
        })
    }
}
