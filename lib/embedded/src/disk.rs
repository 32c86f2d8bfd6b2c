//! The file: one redb table from bytes to bytes. [`super::records`] defines their meaning.

use super::failure::OpenError;
use super::medium::{Medium, ReadOnlyView};
use super::records::{self, Changes};
use redb::backends::FileBackend;
use redb::{
    AccessGuard, Builder, Database, DatabaseError, Durability, Range, ReadOnlyTable, ReadableDatabase, ReadableTable,
    StorageBackend, StorageError, TableDefinition, TableError, TableHandle,
};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TABLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("coord");

/// Size of redb's page cache. Its default of 1 GiB is too much on a machine that also runs an editor.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// The layout of the records. A file of another format is rejected.
const FORMAT: &[u8] = b"1";

/// A value or key in a page of the file.
pub(super) type Page = AccessGuard<'static, &'static [u8]>;

/// A larger file is checked only if it was not closed cleanly, so that a start stays fast. A check of a file of this
/// size takes a second if its pages are in memory, and longer from a disk.
const CHECKED_BYTES: u64 = 256 * 1024 * 1024;

/// Opens the medium. Only the first attempt may create it.
type Opener = Box<dyn Fn(Attempt) -> io::Result<Medium> + Send>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    Later,
}

/// The file, and the database in it.
pub(super) struct Disk {
    opener: Opener,
    path: PathBuf,
    state: State,
}

enum State {
    /// It can be read and written.
    Open(Database),
    /// It can be read, but not written, for this reason.
    ReadOnly(Database, String),
    /// It can be neither read nor written, for this reason.
    Failed(String),
}

/// The state as of one commit.
pub(super) struct Snapshot {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
}

impl Disk {
    /// Opens or creates the file at `path`. After a crash, it is checked and repaired first. A small file is always
    /// checked, a large one if `is_always_checked`.
    pub fn open(path: &Path, is_always_checked: bool) -> Result<Disk, OpenError> {
        let file = path.to_owned();
        let opener = move |attempt| {
            let backend = FileBackend::new(open_file(&file, attempt)?).map_err(io::Error::other)?;
            Ok(Medium(Arc::new(backend)))
        };
        let checked_bytes = if is_always_checked { u64::MAX } else { CHECKED_BYTES };
        Disk::with_opener(Box::new(opener), path, checked_bytes)
    }

    /// A store on a backend other than a file.
    pub fn with_backend(backend: impl StorageBackend) -> Result<Disk, OpenError> {
        let medium = Medium(Arc::new(backend));
        Disk::with_opener(
            Box::new(move |_| Ok(medium.clone())),
            Path::new("memory"),
            CHECKED_BYTES,
        )
    }

    /// A store whose file is checked if it has at most `checked_bytes`, or was not closed cleanly.
    fn with_opener(opener: Opener, path: &Path, checked_bytes: u64) -> Result<Disk, OpenError> {
        let io = |reason| OpenError::Io {
            path: path.to_owned(),
            reason,
        };
        let medium = opener(Attempt::First).map_err(io)?;
        let bytes = medium.len().map_err(io)?;
        let is_checked = bytes <= checked_bytes;
        if !is_checked {
            tracing::warn!(
                path = %path.display(),
                mib = bytes >> 20,
                "the file of the embedded store is so large that it is not checked for damage after a clean stop; \
                 to check it, start the server with --check"
            );
        }
        let database = open(medium, is_checked, path)?;
        Ok(Disk {
            opener,
            path: path.to_owned(),
            state: State::Open(database),
        })
    }

    /// The state as of the newest commit.
    pub fn snapshot(&self) -> Result<Snapshot, String> {
        match &self.state {
            State::Open(database) | State::ReadOnly(database, _) => {
                catch_panic(|| snapshot(database)).unwrap_or_else(Err)
            }
            State::Failed(reason) => Err(reason.clone()),
        }
    }

    /// Whether changes can be written.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Writes `changes` as one transaction, and returns the state with them once they are on the medium. After a
    /// failure, any part of them may be on the medium, and [`Disk::recover`] must be called.
    pub fn commit(&self, changes: &Changes) -> Result<Snapshot, String> {
        match &self.state {
            State::Open(database) => {
                catch_panic(|| commit(database, changes).and_then(|()| snapshot(database))).unwrap_or_else(Err)
            }
            State::ReadOnly(_, reason) | State::Failed(reason) => Err(reason.clone()),
        }
    }

    /// Opens the medium again, as after a crash: only its content counts. A medium that cannot be written is opened
    /// read-only. Returns the state, or why there is none.
    pub fn recover(&mut self) -> Result<Snapshot, String> {
        self.close();
        self.state = match self.reopen() {
            Ok(database) => State::Open(database),
            Err(reason) => match self.reopen_read_only() {
                Ok(database) => State::ReadOnly(database, reason),
                Err(_) => State::Failed(reason),
            },
        };
        self.snapshot()
    }

    fn reopen_read_only(&self) -> Result<Database, OpenError> {
        let view = (self.opener)(Attempt::Later)
            .and_then(ReadOnlyView::of)
            .map_err(|reason| OpenError::Io {
                path: self.path.clone(),
                reason,
            })?;
        open(view, true, &self.path)
    }

    fn reopen(&self) -> Result<Database, String> {
        let medium = (self.opener)(Attempt::Later).map_err(|error| error.to_string())?;
        open(medium, true, &self.path).map_err(|error| error.to_string())
    }

    /// Closes the file. Snapshots can no longer be read.
    pub fn close(&mut self) {
        let closed = State::Failed("it is closed".to_owned());
        if let State::Open(database) | State::ReadOnly(database, _) = std::mem::replace(&mut self.state, closed) {
            match catch_panic(|| database.close()) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "the file of the embedded store was not closed cleanly"),
                Err(reason) => tracing::debug!(reason, "the file of the embedded store was not closed cleanly"),
            }
        }
    }
}

/// Opens the file, which only its owner can read, and creates it if it is missing. A later attempt never creates it,
/// because the new file would be empty.
fn open_file(path: &Path, attempt: Attempt) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(attempt == Attempt::First);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    if attempt == Attempt::Later && file.metadata()?.len() == 0 {
        return Err(io::Error::other("the file has been emptied"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Earlier versions created it with the permissions that the user's umask leaves.
        if file.metadata()?.permissions().mode() & 0o077 != 0
            && let Err(error) = file.set_permissions(std::fs::Permissions::from_mode(0o600))
        {
            tracing::warn!(%error, "other users may be able to read the file of the embedded store");
        }
    }
    // Pages of a failed write in the system's cache may never reach the medium, and the system reports that only once.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed) {
        tracing::debug!(%error, "the system's cache of the embedded store's file could not be dropped");
    }
    Ok(file)
}

/// Opens the database in `medium`. With `is_checked`, every page is checked, even after a clean close.
fn open(medium: impl StorageBackend, is_checked: bool, path: &Path) -> Result<Database, OpenError> {
    // redb trusts the structure of a file that was closed cleanly, and may panic on later damage.
    let opened = catch_panic(|| {
        let database = Builder::new()
            .set_cache_size(CACHE_BYTES)
            .set_check_integrity_on_open(is_checked)
            .create_with_backend(medium)
            .map_err(|error| open_error(path, error))?;
        prepare(database, path)
    });
    opened.unwrap_or_else(|reason| {
        Err(OpenError::Damaged {
            path: path.to_owned(),
            reason,
        })
    })
}

/// The result of `run`. A panic of redb means that the file is damaged.
fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(run)).map_err(|_| "its structure is not valid".to_owned())
}

/// Creates the table in a new file; in an old one, checks that the file is a Coord store.
fn prepare(database: Database, path: &Path) -> Result<Database, OpenError> {
    let not_a_store = |reason: String| OpenError::NotAStore {
        path: path.to_owned(),
        reason,
    };
    let damaged = |error: redb::Error| match error {
        // Errors of the operating system have a number. They are not damage: the disk may be full.
        redb::Error::Io(reason) if reason.raw_os_error().is_some() => OpenError::Io {
            path: path.to_owned(),
            reason,
        },
        other => OpenError::Damaged {
            path: path.to_owned(),
            reason: other.to_string(),
        },
    };
    let transaction = database.begin_write().map_err(|error| damaged(error.into()))?;
    let tables: Vec<String> = transaction
        .list_tables()
        .map_err(|error| damaged(error.into()))?
        .map(|table| table.name().to_owned())
        .collect();
    if !tables.is_empty() && !tables.iter().any(|name| name == TABLE.name()) {
        return Err(not_a_store(format!(
            "it is a redb file of another program (tables {})",
            tables.join(", ")
        )));
    }
    let is_new = {
        let mut table = transaction.open_table(TABLE).map_err(|error| match error {
            TableError::Storage(error) => damaged(error.into()),
            other => not_a_store(other.to_string()),
        })?;
        let format = table
            .get(records::FORMAT)
            .map_err(|error| damaged(error.into()))?
            .map(|format| format.value().to_vec());
        match format {
            Some(format) if format == FORMAT => false,
            Some(format) => {
                let format = String::from_utf8_lossy(&format).into_owned();
                return Err(not_a_store(format!(
                    "its format is {format:?}, and this program reads format 1"
                )));
            }
            None if !tables.is_empty() => return Err(not_a_store("it does not name its format".to_owned())),
            None => {
                table
                    .insert(records::FORMAT, FORMAT)
                    .map_err(|error| damaged(error.into()))?;
                true
            }
        }
    };
    if is_new {
        transaction.commit().map_err(|error| damaged(error.into()))?;
    } else {
        // Nothing was written.
        transaction.abort().map_err(|error| damaged(error.into()))?;
    }
    Ok(database)
}

fn snapshot(database: &Database) -> Result<Snapshot, String> {
    let transaction = database.begin_read().map_err(|error| error.to_string())?;
    let table = transaction.open_table(TABLE).map_err(|error| error.to_string())?;
    Ok(Snapshot { table })
}

fn commit(database: &Database, changes: &Changes) -> Result<(), String> {
    let mut transaction = database.begin_write().map_err(|error| error.to_string())?;
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

impl Snapshot {
    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Page>, StorageError> {
        catch_damage(|| self.table.get(key))
    }

    /// The records between two keys, in the order of their bytes.
    pub fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> Result<Range<'static, &'static [u8], &'static [u8]>, StorageError> {
        catch_damage(|| self.table.range::<&[u8]>((from, to)))
    }
}

/// The result of `read`. redb may panic on a page that was damaged after the file was opened.
pub(super) fn catch_damage<T>(read: impl FnOnce() -> Result<T, StorageError>) -> Result<T, StorageError> {
    catch_panic(read).unwrap_or_else(|reason| Err(StorageError::Corrupted(reason)))
}

fn open_error(path: &Path, error: DatabaseError) -> OpenError {
    let path = path.to_owned();
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => OpenError::InUse(path),
        DatabaseError::UpgradeRequired(version) => OpenError::NotAStore {
            path,
            reason: format!("its file format is version {version}, too old to read"),
        },
        DatabaseError::Storage(StorageError::Io(source)) if source.kind() == io::ErrorKind::InvalidData => {
            OpenError::NotAStore {
                path,
                reason: source.to_string(),
            }
        }
        DatabaseError::Storage(StorageError::Io(reason)) => OpenError::Io { path, reason },
        other => OpenError::Damaged {
            path,
            reason: other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Write};

    use parking_lot::Mutex;
    use redb::backends::InMemoryBackend;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// The lines of a log.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<String>>);

    impl Visit for Log {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            write!(self.0.lock(), "{field}={value:?} ").unwrap();
        }
    }

    impl Subscriber for Log {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            event.record(&mut self.clone());
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// The log line for opening a file of which at most this many bytes are checked.
    fn open_message(checked_bytes: u64) -> String {
        let medium = Medium(Arc::new(InMemoryBackend::new()));
        let opener = move |_| Ok(medium.clone());
        let mut disk = Disk::with_opener(Box::new(opener.clone()), Path::new("store.redb"), CHECKED_BYTES).unwrap();
        disk.close();
        let log = Log::default();
        tracing::subscriber::with_default(log.clone(), || {
            Disk::with_opener(Box::new(opener), Path::new("store.redb"), checked_bytes)
                .unwrap()
                .close();
        });
        log.0.lock().clone()
    }

    #[test]
    fn opening_a_large_file_unchecked_logs_how_to_check_it() {
        assert!(!open_message(CHECKED_BYTES).contains("not checked"));
        let message = open_message(1);
        assert!(message.contains("path=store.redb"), "{message}");
        assert!(
            message.contains("not checked for damage") && message.contains("--check"),
            "{message}"
        );
    }
}
