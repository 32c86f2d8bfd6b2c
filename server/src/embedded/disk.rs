//! The file: one redb table from bytes to bytes. What the bytes mean is said in [`super::records`].

use super::failure::OpenError;
use super::layers::Changes;
use super::records;
use redb::{
    AccessGuard, Builder, Database, DatabaseError, Durability, Range, ReadOnlyTable, ReadableDatabase, ReadableTable,
    StorageBackend, StorageError, TableDefinition, TableError, TableHandle,
};
use std::ops::Bound;
use std::path::Path;

const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("coord");

/// Bytes of pages that redb may keep in memory. Its own default is 1 GiB, too much beside somebody's editor.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// The layout of the records. A file of another format is refused.
const FORMAT: &[u8] = b"1";

/// A value (or key) that lives in a page of the file.
pub(super) type Page = AccessGuard<'static, &'static [u8]>;

/// The open file.
pub(super) struct Disk {
    database: Database,
}

/// The state as of one commit.
pub(super) struct Snapshot {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
}

impl Disk {
    /// Opens or creates the file at `path`. After a crash this checks and repairs it first.
    pub fn open(path: &Path) -> Result<Disk, OpenError> {
        // redb trusts the structure of a file that was closed cleanly, and may panic on one that was damaged since.
        let opened = std::panic::catch_unwind(|| {
            let database = Builder::new()
                .set_cache_size(CACHE_BYTES)
                .create(path)
                .map_err(|error| failed(path, error))?;
            Disk { database }.prepared(path)
        });
        opened.unwrap_or_else(|_| {
            Err(OpenError::Damaged {
                path: path.to_owned(),
                reason: "its structure makes no sense".to_owned(),
            })
        })
    }

    /// A store over something else than a file.
    pub fn over(backend: impl StorageBackend) -> Result<Disk, OpenError> {
        let path = Path::new("memory");
        let database = Builder::new()
            .set_cache_size(CACHE_BYTES)
            .create_with_backend(backend)
            .map_err(|error| failed(path, error))?;
        Disk { database }.prepared(path)
    }

    /// Makes the table in a new file; in an old one, makes sure that it is ours.
    fn prepared(self, path: &Path) -> Result<Disk, OpenError> {
        let foreign = |reason: String| OpenError::NotAStore {
            path: path.to_owned(),
            reason,
        };
        let damaged = |reason: String| OpenError::Damaged {
            path: path.to_owned(),
            reason,
        };
        let transaction = self
            .database
            .begin_write()
            .map_err(|error| damaged(error.to_string()))?;
        let tables: Vec<String> = transaction
            .list_tables()
            .map_err(|error| damaged(error.to_string()))?
            .map(|table| table.name().to_owned())
            .collect();
        if !tables.is_empty() && !tables.iter().any(|name| name == TABLE.name()) {
            return Err(foreign(format!(
                "it is a redb file of another program (tables {})",
                tables.join(", ")
            )));
        }
        let is_new = {
            let mut table = transaction.open_table(TABLE).map_err(|error| match error {
                TableError::Storage(error) => damaged(error.to_string()),
                other => foreign(other.to_string()),
            })?;
            let found = table
                .get(records::FORMAT)
                .map_err(|error| damaged(error.to_string()))?
                .map(|format| format.value().to_vec());
            match found {
                Some(format) if format == FORMAT => false,
                Some(format) => {
                    let format = String::from_utf8_lossy(&format).into_owned();
                    return Err(foreign(format!(
                        "its format is {format:?}, and this program knows format 1"
                    )));
                }
                None if !tables.is_empty() => return Err(foreign("it names no format".to_owned())),
                None => {
                    table
                        .insert(records::FORMAT, FORMAT)
                        .map_err(|error| damaged(error.to_string()))?;
                    true
                }
            }
        };
        if is_new {
            transaction.commit().map_err(|error| damaged(error.to_string()))?;
        } else {
            // Nothing was written, and nothing needs to be.
            transaction.abort().map_err(|error| damaged(error.to_string()))?;
        }
        Ok(self)
    }

    /// The state as of the newest commit.
    pub fn snapshot(&self) -> Result<Snapshot, String> {
        let transaction = self.database.begin_read().map_err(|error| error.to_string())?;
        let table = transaction.open_table(TABLE).map_err(|error| error.to_string())?;
        Ok(Snapshot { table })
    }

    /// Writes `changes` as one transaction, and returns when they are on the medium.
    pub fn commit(&self, changes: &Changes) -> Result<(), String> {
        let mut transaction = self.database.begin_write().map_err(|error| error.to_string())?;
        transaction
            .set_durability(Durability::Immediate)
            .map_err(|error| error.to_string())?;
        {
            let mut table = transaction.open_table(TABLE).map_err(|error| error.to_string())?;
            for (key, change) in changes {
                match change {
                    Some(value) => table
                        .insert(key.as_slice(), value.as_ref())
                        .map_err(|error| error.to_string())?,
                    None => table.remove(key.as_slice()).map_err(|error| error.to_string())?,
                };
            }
        }
        transaction.commit().map_err(|error| error.to_string())
    }
}

impl Snapshot {
    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Page>, StorageError> {
        self.table.get(key)
    }

    /// The records between two keys, in the order of their bytes.
    pub fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> Result<Range<'static, &'static [u8], &'static [u8]>, StorageError> {
        self.table.range::<&[u8]>((from, to))
    }
}

fn failed(path: &Path, error: DatabaseError) -> OpenError {
    let path = path.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => OpenError::InUse(path),
        DatabaseError::UpgradeRequired(version) => OpenError::NotAStore {
            path,
            reason: format!("its file format is version {version}, too old to read"),
        },
        DatabaseError::Storage(StorageError::Io(source)) if source.kind() == std::io::ErrorKind::InvalidData => {
            OpenError::NotAStore {
                path,
                reason: source.to_string(),
            }
        }
        DatabaseError::Storage(StorageError::Io(source)) => OpenError::Io { path, source },
        other => OpenError::Damaged {
            path,
            reason: other.to_string(),
        },
    }
}
