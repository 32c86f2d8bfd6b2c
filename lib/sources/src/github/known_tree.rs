//! The listed files of a commit, kept to read their blobs: a request for blobs contains only ids, and an archive paths.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::blob_id::BlobId;
use super::tree::ListedFile;
use crate::EntryKind;
use coord_domain::{CommitSha, RepoId};
use coord_runtime::mutex::lock;

/// Maximum number of trees kept. A process builds few graphs concurrently.
const MAX_TREES: usize = 4;
/// Maximum number of files in all kept trees together, unless the newest alone has more; one takes about 120 bytes.
const MAX_FILES: usize = 750_000;

/// The files of one commit.
#[derive(Debug)]
pub(super) struct KnownTree {
    pub(super) repo: RepoId,
    pub(super) commit: CommitSha,
    /// Sorted by path, as in an archive.
    files: Vec<KnownFile>,
    /// Positions in `files`, sorted by id and then by path.
    by_id: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct KnownFile {
    path: Box<str>,
    pub(super) id: BlobId,
    pub(super) size: u64,
}

impl KnownTree {
    pub(super) fn new(repo: &RepoId, commit: &CommitSha, listed: &[ListedFile]) -> Self {
        let files: Vec<KnownFile> = listed
            .iter()
            .filter(|file| file.entry.kind != EntryKind::Submodule)
            .filter_map(|file| {
                Some(KnownFile {
                    path: file.entry.path.as_str().into(),
                    id: BlobId::parse(&file.entry.blob)?,
                    size: file.size,
                })
            })
            .collect();
        let mut by_id: Vec<u32> = (0..files.len() as u32).collect();
        by_id.sort_by_key(|position| (files[*position as usize].id, *position));
        KnownTree {
            repo: repo.clone(),
            commit: commit.clone(),
            files,
            by_id,
        }
    }

    /// The positions of a blob, in the order of paths.
    pub(super) fn positions(&self, id: BlobId) -> &[u32] {
        let id_at = |position: &u32| self.files[*position as usize].id;
        let start = self.by_id.partition_point(|position| id_at(position) < id);
        let length = self.by_id[start..].partition_point(|position| id_at(position) == id);
        &self.by_id[start..start + length]
    }

    /// The size of a blob, if it is in this commit.
    pub(super) fn size(&self, id: BlobId) -> Option<u64> {
        let position = self.positions(id).first()?;
        Some(self.files[*position as usize].size)
    }

    /// The position of `path` in the order of paths, and the file.
    pub(super) fn find(&self, path: &str) -> Option<(u32, &KnownFile)> {
        let position = self.files.binary_search_by(|file| (*file.path).cmp(path)).ok()?;
        Some((position as u32, &self.files[position]))
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.size))
    }
}

/// The latest trees, newest last.
#[derive(Debug, Default)]
pub(super) struct KnownTrees(Mutex<VecDeque<Arc<KnownTree>>>);

impl KnownTrees {
    pub(super) fn put(&self, tree: KnownTree) {
        let mut trees = lock(&self.0);
        trees.retain(|other| other.repo != tree.repo || other.commit != tree.commit);
        trees.push_back(Arc::new(tree));
        let count_files = |trees: &VecDeque<Arc<KnownTree>>| trees.iter().map(|tree| tree.files.len()).sum::<usize>();
        while trees.len() > 1 && (trees.len() > MAX_TREES || count_files(&trees) > MAX_FILES) {
            trees.pop_front();
        }
    }

    /// The tree of `repo` with the most of `ids`, if it has any; the newest among equals.
    pub(super) fn find(&self, repo: &RepoId, ids: &[BlobId]) -> Option<Arc<KnownTree>> {
        let is_of_repo = |tree: &&Arc<KnownTree>| tree.repo == *repo;
        let trees: Vec<Arc<KnownTree>> = lock(&self.0).iter().filter(is_of_repo).cloned().collect();
        let with_counts = trees.into_iter().map(|tree| {
            let count = ids.iter().filter(|id| !tree.positions(**id).is_empty()).count();
            (count, tree)
        });
        let (count, tree) = with_counts.max_by_key(|(count, _)| *count)?;
        (count > 0).then_some(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TreeEntry;

    fn listed(path: &str, digit: char) -> ListedFile {
        ListedFile {
            entry: TreeEntry {
                path: path.to_owned(),
                blob: digit.to_string().repeat(40),
                kind: EntryKind::File,
            },
            size: 7,
        }
    }

    fn tree(commit: &str, files: &[(&str, char)]) -> KnownTree {
        let files: Vec<ListedFile> = files.iter().map(|(path, digit)| listed(path, *digit)).collect();
        let repo = RepoId::parse("https://github.com/a/b").unwrap();
        KnownTree::new(&repo, &CommitSha::parse(commit).unwrap(), &files)
    }

    fn id(digit: char) -> BlobId {
        BlobId::parse(&digit.to_string().repeat(40)).unwrap()
    }

    #[test]
    fn a_blob_has_all_its_positions_and_a_path_its_file() {
        let tree = tree("abcdef1", &[("a", 'b'), ("b/c", 'a'), ("d", 'b')]);
        assert_eq!(tree.positions(id('b')), [0, 2]);
        assert_eq!(tree.positions(id('a')), [1]);
        assert!(tree.positions(id('c')).is_empty());
        assert_eq!(
            tree.find("b/c").map(|(position, file)| (position, file.id)),
            Some((1, id('a')))
        );
        assert!(tree.find("b").is_none());
        assert_eq!(
            (tree.size(id('a')), tree.size(id('c')), tree.bytes()),
            (Some(7), None, 21)
        );
    }

    #[test]
    fn of_several_trees_the_one_with_the_most_is_found_and_few_are_kept() {
        let trees = KnownTrees::default();
        trees.put(tree("aaaaaaa", &[("a", 'a'), ("b", 'b')]));
        trees.put(tree("bbbbbbb", &[("a", 'a'), ("b", 'c')]));
        let repo = RepoId::parse("https://github.com/a/b").unwrap();
        let found = |ids: &[char]| {
            let ids: Vec<BlobId> = ids.iter().copied().map(id).collect();
            trees.find(&repo, &ids).map(|tree| tree.commit.to_string())
        };
        assert_eq!(found(&['a', 'b']).as_deref(), Some("aaaaaaa"));
        assert_eq!(found(&['a', 'c']).as_deref(), Some("bbbbbbb"));
        assert_eq!(found(&['a']).as_deref(), Some("bbbbbbb"));
        assert_eq!(found(&['d']), None);
        for number in 0..20 {
            trees.put(tree(&format!("ccccc{number:02}"), &[("a", 'a')]));
        }
        assert_eq!(trees.0.lock().unwrap().len(), MAX_TREES);
    }
}
