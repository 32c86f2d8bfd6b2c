//! Reads of the files that intents own, and of their recorded content.

use super::keys;
use super::record::{Owner, Owners};
use coord_domain::{FilePath, RepoId};
use coord_state::read::{Read, parse_json};
use coord_store::{Request, Store, StoreError, Value};

/// The files of a repository that have owners. Each has a record of up to some 10 KiB, so [`OwnedPaths::owners`] reads these in
/// parts: a single read would block the store for too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedPaths(Vec<String>);

/// Reads which files have owners.
pub fn owned_paths(repo: &RepoId) -> Read<OwnedPaths> {
    let request = Request::command(["HKEYS", &keys::owners(repo)]);
    Read::new([request], |[paths]| {
        let paths = paths.as_array().ok_or_else(malformed)?.iter();
        let paths = paths.map(|path| path.as_str().map(str::to_owned).ok_or_else(malformed));
        Ok(OwnedPaths(paths.collect::<Result<_, _>>()?))
    })
}

impl OwnedPaths {
    /// Reads the owners of those of the files that still have one. One round trip for each 2,000 files.
    ///
    /// # Errors
    /// When the store does not respond, or its reply is malformed.
    pub async fn owners(&self, store: &dyn Store, repo: &RepoId) -> Result<Owners, StoreError> {
        const PATHS_OF_COMMAND: usize = 250;
        const PATHS_AT_ONCE: usize = 2000;
        let key = keys::owners(repo);
        let mut owners = Owners::new();
        for paths in self.0.chunks(PATHS_AT_ONCE) {
            let requests = paths.chunks(PATHS_OF_COMMAND).map(|paths| rows_of(&key, paths));
            let replies = store.run(requests.collect()).await?;
            for (paths, rows) in paths.chunks(PATHS_OF_COMMAND).zip(replies) {
                for (path, row) in paths.iter().zip(read_rows(&rows)?) {
                    if !row.is_empty() {
                        owners.insert(path.clone(), row);
                    }
                }
            }
        }
        Ok(owners)
    }
}

fn rows_of(key: &str, paths: &[impl AsRef<str>]) -> Request {
    let words = ["HMGET", key].into_iter().chain(paths.iter().map(AsRef::as_ref));
    Request::Command(words.map(|word| word.as_bytes().to_vec()).collect())
}

fn read_rows(rows: &Value) -> Result<Vec<Vec<Owner>>, StoreError> {
    if let Value::Error(error) = rows {
        return Err(StoreError::Failed(error.clone()));
    }
    let rows = rows.as_array().ok_or_else(malformed)?.iter();
    let row = |row: &Value| match row {
        Value::Nil => Ok(Vec::new()),
        Value::Bulk(json) => parse_json(json),
        _ => Err(malformed()),
    };
    rows.map(row).collect()
}

/// Reads the owners of each of `paths`, in order.
pub fn owners_of(repo: &RepoId, paths: &[FilePath]) -> Read<Vec<Vec<Owner>>> {
    let paths: Vec<&str> = paths.iter().map(FilePath::as_str).collect();
    Read::new([rows_of(&keys::owners(repo), &paths)], |[rows]| read_rows(&rows))
}

fn malformed() -> StoreError {
    StoreError::Malformed("the owners of files".to_owned())
}
