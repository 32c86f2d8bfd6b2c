//! The view of a script: its own changes, over those that wait for the disk, over the newest commit.
//!
//! A change moves down through the layers. While a script runs, its changes are its **own**. When it ends they are
//! **gathered** with those of other scripts since the last commit began. Gathered changes are **committing** while the disk writes them, and then part of the
//! snapshot. A call that read a gathered or committing change must not be answered before that change is on the disk:
//! [`Layers::depends_on`] is the number of the batch to wait for. No call waits for a change that may be lost
//! ([`records::is_expendable`]); it is written with others or after a while.

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

/// Bytes that a change or a message counts for, beside its key and value.
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
    own: Changes,
    own_messages: Vec<Message>,
    /// Bytes that the running script has written so far.
    own_bytes: usize,
    gathering: Batch,
    committing: Option<Arc<Batch>>,
    /// None while the disk cannot be read.
    snapshot: Option<Snapshot>,
    /// Cached records of the snapshot.
    recent: RefCell<RecordCache>,
    depends_on: Cell<u64>,
    /// Why the newest commit failed, if it did.
    failure: Option<String>,
    /// Whether a read has failed.
    is_unreadable: Cell<bool>,
    /// Whether changes that the script may have seen were lost while it ran.
    is_torn: bool,
}

/// A script that does not run for a moment.
pub(super) struct SuspendedScript {
    own: Changes,
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
            own: Changes::new(),
            own_messages: Vec::new(),
            own_bytes: 0,
            gathering: Batch {
                number: 1,
                ..Batch::default()
            },
            committing: None,
            snapshot: Some(snapshot),
            recent: RefCell::default(),
            depends_on: Cell::new(0),
            failure: None,
            is_unreadable: Cell::new(false),
            is_torn: false,
        }
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<StoredBytes<'static>>, Failure> {
        if let Some(change) = self.own.get(key) {
            return Ok(change.clone().map(StoredBytes::Shared));
        }
        let committing = self.committing.as_deref();
        for batch in std::iter::once(&self.gathering).chain(committing) {
            if let Some(change) = batch.changes.get(key) {
                self.saw(key, batch.number);
                return Ok(change.clone().map(StoredBytes::Shared));
            }
        }
        let mut recent = self.recent.borrow_mut();
        if let Some(known) = recent.get(key) {
            return Ok(known.clone().map(StoredBytes::Shared));
        }
        let found = self.noted(self.on_disk().and_then(|snapshot| snapshot.get(key)))?;
        recent.put(key, found.as_ref().map(|page| Bytes::copy_from_slice(page.value())));
        Ok(found.map(StoredBytes::Page))
    }

    fn on_disk(&self) -> Result<&Snapshot, StorageError> {
        self.snapshot.as_ref().ok_or_else(|| {
            let reason = self.failure.as_deref().unwrap_or("it is not open");
            StorageError::Io(io::Error::other(format!("the disk failed: {reason}")))
        })
    }

    /// The result of `read`; a failure is noted.
    fn noted<T>(&self, read: Result<T, StorageError>) -> Result<T, StorageError> {
        read.inspect_err(|_| self.is_unreadable.set(true))
    }

    /// Sets `key`, as a change of the running script.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Bytes>) {
        let (key, value) = (key.into(), value.into());
        self.own_bytes += CHANGE_BYTES + key.len() + value.len();
        self.own.insert(key, Some(value));
    }

    /// Removes `key`, as a change of the running script.
    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        let key = key.into();
        self.own_bytes += CHANGE_BYTES + key.len();
        self.own.insert(key, None);
    }

    /// Publishes `message` once the running script is durable.
    pub fn publish(&mut self, message: Message) {
        self.own_bytes += CHANGE_BYTES + message.channel.len() + message.payload.len();
        self.own_messages.push(message);
    }

    fn saw(&self, key: &[u8], batch: u64) {
        if !records::is_expendable(key) {
            self.depends_on.set(self.depends_on.get().max(batch));
        }
    }

    /// Begins a script or a plain command.
    pub fn begin(&mut self) {
        self.rollback();
        self.depends_on.set(0);
        self.own_bytes = 0;
        self.is_torn = false;
    }

    /// Puts the changes of the running script aside, for reads that are not to see them.
    pub fn suspend(&mut self) -> SuspendedScript {
        SuspendedScript {
            own: std::mem::take(&mut self.own),
            depends_on: self.depends_on.take(),
        }
    }

    /// Takes the script up again. Returns the batch that meanwhile reads depend on; 0 is none.
    pub fn resume(&mut self, suspended: SuspendedScript) -> u64 {
        self.own = suspended.own;
        self.depends_on.replace(suspended.depends_on)
    }

    /// Bytes that the running script has written, overwritten values included.
    pub fn own_bytes(&self) -> usize {
        self.own_bytes
    }

    /// Ends a script that succeeded. Returns the batch whose commit its response must wait for; 0 is none.
    pub fn commit(&mut self) -> u64 {
        if self.is_torn {
            return self.rollback();
        }
        if !self.own.is_empty() || !self.own_messages.is_empty() {
            let is_awaited = !self.own_messages.is_empty() || !self.own.keys().all(|key| records::is_expendable(key));
            if self.gathering.changes.is_empty() {
                self.gathering.changes = std::mem::take(&mut self.own);
            } else {
                self.gathering.changes.append(&mut self.own);
            }
            self.gathering.messages.append(&mut self.own_messages);
            if is_awaited {
                self.gathering.is_awaited = true;
                self.depends_on.set(self.depends_on.get().max(self.gathering.number));
            }
        }
        self.depends_on.get()
    }

    /// Ends a script that failed: its changes are dropped. It still depends on its reads.
    pub fn rollback(&mut self) -> u64 {
        self.own.clear();
        self.own_messages.clear();
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

    /// The committing changes are in `snapshot` now.
    pub fn finish_commit(&mut self, snapshot: Option<Snapshot>) {
        let committed = self.committing.take();
        if let Some(snapshot) = snapshot {
            self.snapshot = Some(snapshot);
            self.failure = None;
            let recent = self.recent.get_mut();
            match committed {
                Some(batch) => recent.apply(&batch.changes),
                None => recent.clear(),
            }
        }
    }

    /// Drops the committing changes, lost for `reason`, and those gathered meanwhile, which may depend on them. Nothing can
    /// be read until there is a snapshot again. Returns the newest lost batch.
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

    /// Sets the snapshot after the disk was read again from the start.
    pub fn reread(&mut self, snapshot: Option<Snapshot>) {
        self.snapshot = snapshot;
        self.recent.get_mut().clear();
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
