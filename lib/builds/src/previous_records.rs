//! The stored records of a tree's files, from an earlier build, perhaps of another process.

use std::collections::HashMap;

use coord_domain::{Branch, RepoId};
use coord_graph::{Record, is_manifest};
use coord_scan::Language;
use coord_sources::{EntryKind, TreeEntry};
use coord_state::builds::stored_records;
use coord_store::{Store, StoreError};

/// Source files per read. Their records take some hundred bytes each.
const CODE_PER_READ: usize = 500;
/// Manifests per read. Their records contain the full text, a megabyte at most.
const MANIFESTS_PER_READ: usize = 8;
const READS_PER_ROUND_TRIP: usize = 8;

/// The stored records of the files of `tree`, by path. Unreadable records are skipped.
///
/// # Errors
/// When the store does not respond.
pub(super) async fn load_records(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    tree: &[TreeEntry],
) -> Result<HashMap<String, Record>, StoreError> {
    let paths = |is_wanted: fn(&TreeEntry) -> bool| {
        let entries = tree.iter().filter(|entry| is_wanted(entry));
        entries.map(|entry| entry.path.as_str()).collect::<Vec<_>>()
    };
    let code = paths(|entry| Language::of_path(&entry.path).is_some());
    let manifests = paths(|entry| {
        Language::of_path(&entry.path).is_none() && (is_manifest(&entry.path) || entry.kind == EntryKind::Symlink)
    });
    let reads: Vec<&[&str]> = code
        .chunks(CODE_PER_READ)
        .chain(manifests.chunks(MANIFESTS_PER_READ))
        .collect();
    let mut records = HashMap::new();
    for reads in reads.chunks(READS_PER_ROUND_TRIP) {
        let stored = stored_records(store, repo, branch, reads).await?;
        for (paths, texts) in reads.iter().zip(stored) {
            let texts = paths.iter().zip(texts);
            records.extend(texts.filter_map(|(path, text)| Some(((*path).to_owned(), Record::decode(&text?)?))));
        }
    }
    Ok(records)
}
