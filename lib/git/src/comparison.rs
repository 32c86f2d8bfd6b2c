//! Which files two commits have in common.

use coord_domain::file_path::to_nfc;
use coord_domain::{CommitSha, FilePath};
use coord_sources::{Comparison, Reachable, SourceError};
use gix::objs::tree::EntryMode;
use gix::{ObjectId, Tree};

use super::deadline::Deadline;
use super::repository::{Repository, unreadable};

/// The tree entries at a path: none, one, or several if the tree has several Unicode spellings of the path.
type Content = Vec<(EntryMode, ObjectId)>;

impl Repository {
    /// Whether `tip` descends from `base`, and which of `paths` are the same in both: the same object in the same mode,
    /// or absent.
    pub(super) fn compare(
        &self,
        base: &CommitSha,
        tip: &CommitSha,
        paths: &[FilePath],
        deadline: &Deadline,
    ) -> Result<Comparison, SourceError> {
        let descends = self.is_ancestor(base, tip, deadline)?;
        let precedes = match descends {
            Reachable::Yes => Reachable::No,
            Reachable::No | Reachable::Unknown => self.is_ancestor(tip, base, deadline)?,
        };
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
            ..Comparison::of_commits(descends, precedes, paths.len())
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
        let blob = |content: Content| {
            let mut blobs = content.into_iter().filter(|(mode, _)| mode.is_blob());
            blobs.next().map(|(_, id)| id.to_string())
        };
        Ok(contents.into_iter().map(blob).collect())
    }

    /// The content of `commit` at each of `paths`; `None` if the commit cannot be read in time.
    fn contents(
        &self,
        commit: &CommitSha,
        paths: &[FilePath],
        deadline: &Deadline,
    ) -> Result<Option<Vec<Content>>, SourceError> {
        let is_miss = |result: &Result<Option<Vec<Content>>, SourceError>| !matches!(result, Ok(Some(_)));
        self.objects.read(is_miss, |handle| {
            let Some(id) = self.resolve(handle, commit)? else {
                return Ok(None);
            };
            let tree = handle.find_commit(id).ok().and_then(|commit| commit.tree().ok());
            let Some(tree) = tree else { return Ok(None) };
            let mut contents = Vec::with_capacity(paths.len());
            for path in paths {
                let Some(content) = content_at(&tree, path.as_str(), deadline) else {
                    return Ok(None);
                };
                contents.push(content);
            }
            Ok(Some(contents))
        })
    }
}

/// The entries of `tree` at `path`, in any Unicode form: names from a Mac may be decomposed. `None` if they cannot be
/// read in time.
fn content_at(tree: &Tree<'_>, path: &str, deadline: &Deadline) -> Option<Content> {
    let exact = tree.lookup_entry(path.split('/')).ok()?;
    if let Some(entry) = exact
        && path.is_ascii()
    {
        return (!deadline.has_passed()).then(|| vec![(entry.mode(), entry.object_id())]);
    }
    let mut trees = vec![tree.clone()];
    let mut entries: Content = Vec::new();
    for name in path.split('/') {
        entries.clear();
        for tree in &trees {
            if deadline.has_passed() {
                return None;
            }
            for entry in tree.iter() {
                let entry = entry.ok()?;
                let content = (entry.mode(), entry.object_id());
                if is_spelling_of(name, entry.filename()) && !entries.contains(&content) {
                    entries.push(content);
                }
            }
        }
        let folders = entries.iter().filter(|(mode, _)| mode.is_tree());
        let read = |(_, id): &(EntryMode, ObjectId)| tree.repo.find_tree(*id).ok();
        trees = folders.map(read).collect::<Option<_>>()?;
    }
    Some(entries)
}

/// Whether `tracked`, a name in a tree, is `name` in any Unicode form. `name` is in NFC.
fn is_spelling_of(name: &str, tracked: &[u8]) -> bool {
    let is_same_in_nfc = || std::str::from_utf8(tracked).is_ok_and(|tracked| to_nfc(tracked) == name);
    tracked == name.as_bytes() || (!tracked.is_ascii() && is_same_in_nfc())
}
