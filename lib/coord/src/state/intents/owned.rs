//! Reads of the files that intents own, and of what was recorded of their content.

use std::collections::BTreeMap;

use super::keys;
use super::read::{by_field, decode, uses_by_id};
use super::record::{IntentRecord, IntentUse, Owner, Owners};
use crate::domain::{FilePath, RepoId};
use crate::state::read::Read;
use crate::store::{Request, StoreError, Value};

/// All owned files of a repository, and the intents that own them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedFiles {
    /// The owners of files.
    pub owners: Owners,
    /// The records of intents, by id.
    pub records: BTreeMap<String, IntentRecord>,
    /// What the work has cost, by id.
    pub uses: BTreeMap<String, IntentUse>,
}

/// Reads all owned files of `repo`.
pub fn owned_files(repo: &RepoId) -> Read<OwnedFiles> {
    let all = |key: &str| Request::command(["HGETALL", key]);
    let requests = [
        all(&keys::owners(repo)),
        all(&keys::intents(repo)),
        all(&keys::intent_use(repo)),
    ];
    Read::new(requests, |[owners, records, uses]| {
        Ok(OwnedFiles {
            owners: by_field(&owners)?,
            records: by_field(&records)?,
            uses: uses_by_id(&uses)?,
        })
    })
}

/// Reads the owners of each of `paths`, in order.
pub fn owners_of(repo: &RepoId, paths: &[FilePath]) -> Read<Vec<Vec<Owner>>> {
    let key = keys::owners(repo);
    let words = ["HMGET", &key].into_iter().chain(paths.iter().map(FilePath::as_str));
    let request = Request::Command(words.map(|word| word.as_bytes().to_vec()).collect());
    Read::new([request], |[rows]| {
        let rows = rows.as_array().ok_or_else(malformed)?;
        rows.iter()
            .map(|row| match row {
                Value::Nil => Ok(Vec::new()),
                Value::Bulk(json) => decode(json),
                _ => Err(malformed()),
            })
            .collect()
    })
}

fn malformed() -> StoreError {
    StoreError::Malformed("the owners of files".to_owned())
}
