//! The stored records of a tree's files, from an earlier build, perhaps of another process.

use std::collections::HashMap;

use coord_domain::{Branch, RepoId};
use coord_graph::Record;
use coord_graph::is_manifest;
use coord_scan::Language;
use coord_sources::{EntryKind, TreeEntry};
use coord_state::builds::stored_records;
use coord_store::{Store, StoreError};

/// Files per read. A record of code takes some hundred bytes.
const CODE_AT_ONCE: usize = 500;
/// Manifests per read: their records hold the full text, a megabyte at most.
const MANIFESTS_AT_ONCE: usize = 8;
/// Reads in one round trip.
const GROUPS: usize = 8;

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
    let groups: Vec<&[&str]> = code
        .chunks(CODE_AT_ONCE)
        .chain(manifests.chunks(MANIFESTS_AT_ONCE))
        .collect();
    let mut records = HashMap::new();
    for some in groups.chunks(GROUPS) {
        let stored = stored_records(store, repo, branch, some).await?;
        for (paths, texts) in some.iter().zip(stored) {
            let known = paths.iter().zip(texts);
            records.extend(known.filter_map(|(path, text)| Some(((*path).to_owned(), Record::decode(&text?)?))));
        }
    }
    Ok(records)
}
