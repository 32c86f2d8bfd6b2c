//! The data that a script sees: its own changes, over changes that wait for the disk, over the newest commit.
//!
//! A change moves down through the layers. While a script runs, its changes are only its own. When it ends, they are
//! **gathered** with those of other scripts since the last commit began. Gathered changes are **committing** while the
//! disk writes them, and then part of the snapshot. A call that read a gathered or committing change must not be
//! answered before that change is on the disk: [`Layers::depends_on`] is the number of the batch to wait for. No call
//! waits for a change that may be lost ([`records::is_expendable`]); such a change is written with others, or after a
//! while.

pub(super) mod scan;

use super::disk::{Page, Snapshot};
use super::failure::Failure;
use super::pubsub::Message;
use super::record_cache::RecordCache;
use super::records::{self, Changes};
use bytes::Bytes;
use redb::StorageError;
use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes that a change or a message counts for in addition to its key and value.
const CHANGE_BYTES: usize = 64;

/// The changes of one transaction on the disk.
#[derive(Default)]
pub(super) struct Batch {
    /// Batches are numbered in order from 1.
    pub number: u64,
    pub changes: Changes,
    /// Messages to publish once the changes are durable.
    pub messages: Vec<Message>,
    /// Whether a call may wait for it: it has messages, or changes that must not be lost.
    is_awaited: bool,
}

/// The state, in layers.
pub(super) struct Layers {
    script_changes: Changes,
    script_messages: Vec<Message>,
    /// Bytes that the running script has written so far.
    script_bytes: usize,
    gathering: Batch,
    committing: Option<Arc<Batch>>,
    /// None while the disk cannot be read.
    snapshot: Option<Snapshot>,
    /// Cached records of the snapshot.
    cache: RefCell<RecordCache>,
    depends_on: Cell<u64>,
    /// Why the newest commit failed, if it did.
    failure: Option<String>,
    /// Whether a read has failed.
    is_unreadable: Cell<bool>,
    /// Whether changes that the script may have seen were lost while it ran.
    is_torn: bool,
}

/// A script that is suspended while others read.
pub(super) struct SuspendedScript {
    changes: Changes,
    depends_on: u64,
}

/// A value or key, wherever it is stored.
pub(super) enum StoredBytes<'a> {
    Shared(Bytes),
    Borrowed(&'a [u8]),
    Page(Page),
}

impl Deref for StoredBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            StoredBytes::Shared(bytes) => bytes,
            StoredBytes::Borrowed(bytes) => bytes,
            StoredBytes::Page(page) => page.value(),
        }
    }
}

impl Layers {
    /// Layers without changes, over `snapshot`.
    pub fn new(snapshot: Snapshot) -> Self {
        Layers {
            script_changes: Changes::new(),
            script_messages: Vec::new(),
            script_bytes: 0,
            gathering: Batch {
                number: 1,
                ..Batch::default()
            },
            committing: None,
            snapshot: Some(snapshot),
            cache: RefCell::default(),
            depends_on: Cell::new(0),
            failure: None,
            is_unreadable: Cell::new(false),
            is_torn: false,
        }
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<StoredBytes<'static>>, Failure> {
        if let Some(change) = self.script_changes.get(key) {
            return Ok(change.clone().map(StoredBytes::Shared));
        }
        let committing = self.committing.as_deref();
        for batch in std::iter::once(&self.gathering).chain(committing) {
            if let Some(change) = batch.changes.get(key) {
                self.note_dependency(key, batch.number);
                return Ok(change.clone().map(StoredBytes::Shared));
            }
        }
        let mut cache = self.cache.borrow_mut();
        if let Some(cached) = cache.get(key) {
            return Ok(cached.clone().map(StoredBytes::Shared));
        }
        let page = self.note_failure(self.open_snapshot().and_then(|snapshot| snapshot.get(key)))?;
        cache.put(key, page.as_ref().map(|page| Bytes::copy_from_slice(page.value())));
        Ok(page.map(StoredBytes::Page))
    }

    /// The snapshot, or the failure that has closed it.
    fn open_snapshot(&self) -> Result<&Snapshot, StorageError> {
        self.snapshot.as_ref().ok_or_else(|| {
            let reason = self.failure.as_deref().unwrap_or("it is not open");
            StorageError::Io(io::Error::other(format!("the disk failed: {reason}")))
        })
    }

    /// Notes whether `result`, that of a read, is a failure, and returns it.
    fn note_failure<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        result.inspect_err(|_| self.is_unreadable.set(true))
    }

    /// Sets `key`, as a change of the running script.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Bytes>) {
        let (key, value) = (key.into(), value.into());
        self.script_bytes += CHANGE_BYTES + key.len() + value.len();
        self.script_changes.insert(key, Some(value));
    }

    /// Removes `key`, as a change of the running script.
    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        let key = key.into();
        self.script_bytes += CHANGE_BYTES + key.len();
        self.script_changes.insert(key, None);
    }

    /// Publishes `message` once the running script is durable.
    pub fn publish(&mut self, message: Message) {
        self.script_bytes += CHANGE_BYTES + message.channel.len() + message.payload.len();
        self.script_messages.push(message);
    }

    fn note_dependency(&self, key: &[u8], batch: u64) {
        if !records::is_expendable(key) {
            self.depends_on.set(self.depends_on.get().max(batch));
        }
    }

    /// Begins a script or a plain command.
    pub fn begin(&mut self) {
        self.rollback();
        self.depends_on.set(0);
        self.script_bytes = 0;
        self.is_torn = false;
    }

    /// Sets the changes of the running script aside, for reads that must not see them.
    pub fn suspend(&mut self) -> SuspendedScript {
        SuspendedScript {
            changes: std::mem::take(&mut self.script_changes),
            depends_on: self.depends_on.take(),
        }
    }

    /// Resumes the script. Returns the batch that the reads since [`Layers::suspend`] depend on; 0 is none.
    pub fn resume(&mut self, suspended: SuspendedScript) -> u64 {
        self.script_changes = suspended.changes;
        self.depends_on.replace(suspended.depends_on)
    }

    /// Bytes that the running script has written, overwritten values included.
    pub fn script_bytes(&self) -> usize {
        self.script_bytes
    }

    /// Ends a script that succeeded. Returns the batch whose commit its response must wait for; 0 is none.
    pub fn commit(&mut self) -> u64 {
        if self.is_torn {
            return self.rollback();
        }
        let has_messages = !self.script_messages.is_empty();
        if !self.script_changes.is_empty() || has_messages {
            let is_awaited = has_messages || !self.script_changes.keys().all(|key| records::is_expendable(key));
            if self.gathering.changes.is_empty() {
                self.gathering.changes = std::mem::take(&mut self.script_changes);
            } else {
                self.gathering.changes.append(&mut self.script_changes);
            }
            self.gathering.messages.append(&mut self.script_messages);
            if is_awaited {
                self.gathering.is_awaited = true;
                self.depends_on.set(self.depends_on.get().max(self.gathering.number));
            }
        }
        self.depends_on.get()
    }

    /// Ends a script that failed: its changes are dropped. It still depends on its reads.
    pub fn rollback(&mut self) -> u64 {
        self.script_changes.clear();
        self.script_messages.clear();
        self.depends_on.get()
    }

    /// Whether a call waits for the gathered changes.
    pub fn is_awaited(&self) -> bool {
        self.gathering.is_awaited
    }

    /// Whether there are changes to commit.
    pub fn has_gathered(&self) -> bool {
        !self.gathering.changes.is_empty() || !self.gathering.messages.is_empty()
    }

    /// Moves the gathered changes to the committing layer.
    pub fn start_commit(&mut self) -> Arc<Batch> {
        let next = Batch {
            number: self.gathering.number + 1,
            ..Batch::default()
        };
        let batch = Arc::new(std::mem::replace(&mut self.gathering, next));
        self.committing = Some(batch.clone());
        batch
    }

    /// Drops the committing layer, whose changes are in `snapshot` now.
    pub fn finish_commit(&mut self, snapshot: Option<Snapshot>) {
        let committed = self.committing.take();
        if let Some(snapshot) = snapshot {
            self.snapshot = Some(snapshot);
            self.failure = None;
            let cache = self.cache.get_mut();
            match committed {
                Some(batch) => cache.apply(&batch.changes),
                None => cache.clear(),
            }
        }
    }

    /// Drops the committing changes, lost for `reason`, and those gathered meanwhile, which may depend on them. Reads
    /// fail until there is a snapshot again. Returns the newest lost batch.
    pub fn fail(&mut self, reason: String) -> u64 {
        let lost = self.gathering.number;
        self.gathering = Batch {
            number: lost + 1,
            ..Batch::default()
        };
        self.committing = None;
        self.snapshot = None;
        self.failure = Some(reason);
        // The running script gets no response either: it may have read lost changes.
        self.is_torn = true;
        self.depends_on.set(lost);
        lost
    }

    /// Sets the snapshot after the disk was opened again.
    pub fn replace_snapshot(&mut self, snapshot: Option<Snapshot>) {
        self.snapshot = snapshot;
        self.cache.get_mut().clear();
        self.is_unreadable.set(false);
    }

    /// Whether reading has failed, or would fail.
    pub fn is_unreadable(&self) -> bool {
        self.is_unreadable.get() || self.snapshot.is_none()
    }

    /// Whether the newest commit has failed.
    pub fn is_failing(&self) -> bool {
        self.failure.is_some()
    }
}
