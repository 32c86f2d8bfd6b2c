//! The view of a script: its own changes, over those that wait for the disk, over the newest commit.
//!
//! A change moves down through the layers. While a script runs, its changes are its **own**. When it ends they are
//! **gathered** with those of other scripts since the last commit began. Gathered changes are **committing** while the disk
//! writes them, and then part of the snapshot. A call that read a gathered or committing change must not be answered before
//! that change is on the disk: [`Layers::depends_on`] is the number of the batch to wait for. No call waits for a change
//! that may be lost ([`records::is_expendable`]); it is written with others or after a while.

use super::disk::{Page, Snapshot, readable};
use super::pubsub::Message;
use super::record_cache::RecordCache;
use super::records::{self, Changes};
use bytes::Bytes;
use redb::StorageError;
use std::cell::{Cell, RefCell};
use std::collections::btree_map;
use std::io;
use std::ops::{Bound, Deref};
use std::sync::Arc;

/// The changes of one transaction on the disk.
#[derive(Default)]
pub(super) struct Batch {
    /// Batches are numbered in order from 1.
    pub number: u64,
    /// The changed records.
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

/// A value or key, wherever it is stored.
pub(super) enum Stored<'a> {
    Shared(Bytes),
    Borrowed(&'a [u8]),
    Page(Page),
}

impl Deref for Stored<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Stored::Shared(bytes) => bytes,
            Stored::Borrowed(bytes) => bytes,
            Stored::Page(page) => page.value(),
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
    pub fn get(&self, key: &[u8]) -> Result<Option<Stored<'static>>, StorageError> {
        if let Some(change) = self.own.get(key) {
            return Ok(change.clone().map(Stored::Shared));
        }
        let committing = self.committing.as_deref();
        for batch in std::iter::once(&self.gathering).chain(committing) {
            if let Some(change) = batch.changes.get(key) {
                self.saw(key, batch.number);
                return Ok(change.clone().map(Stored::Shared));
            }
        }
        let mut recent = self.recent.borrow_mut();
        if let Some(known) = recent.get(key) {
            return Ok(known.clone().map(Stored::Shared));
        }
        let found = self.noted(self.on_disk().and_then(|snapshot| snapshot.get(key)))?;
        recent.put(key, found.as_ref().map(|page| Bytes::copy_from_slice(page.value())));
        Ok(found.map(Stored::Page))
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
        self.own_bytes += key.len() + value.len();
        self.own.insert(key, Some(value));
    }

    /// Removes `key`, as a change of the running script.
    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        let key = key.into();
        self.own_bytes += key.len();
        self.own.insert(key, None);
    }

    /// Publishes `message` once the running script is durable.
    pub fn publish(&mut self, message: Message) {
        self.own_bytes += message.payload.len();
        self.own_messages.push(message);
    }

    /// The records between two keys, in reverse order if `reverse`.
    pub fn scan(&self, from: Bound<&[u8]>, to: Bound<&[u8]>, reverse: bool) -> Result<Scan<'_>, StorageError> {
        let mut scan = Scan {
            layers: self,
            reverse,
            heads: [None, None, None],
            disk: None,
            disk_head: None,
        };
        if is_empty(from, to) {
            return Ok(scan);
        }
        let committing = self.committing.as_deref();
        let layers = [
            Some((&self.own, 0)),
            Some((&self.gathering.changes, self.gathering.number)),
            committing.map(|batch| (&batch.changes, batch.number)),
        ];
        for (head, layer) in scan.heads.iter_mut().zip(layers) {
            // Layers are mostly empty, and then cost nothing.
            if let Some((changes, batch)) = layer.filter(|(changes, _)| !changes.is_empty()) {
                head.insert(Head {
                    range: changes.range::<[u8], _>((from, to)),
                    at: None,
                    batch,
                })
                .advance(reverse);
            }
        }
        let range = self.on_disk().and_then(|snapshot| snapshot.range(from, to));
        scan.disk = Some(self.noted(range)?);
        scan.advance_disk()?;
        Ok(scan)
    }

    /// The records whose key begins with `prefix`.
    pub fn scan_prefix(&self, prefix: &[u8]) -> Result<Scan<'_>, StorageError> {
        self.scan(Bound::Included(prefix), Bound::Excluded(&records::after(prefix)), false)
    }

    fn saw(&self, key: &[u8], batch: u64) {
        if !records::is_expendable(key) {
            self.depends_on.set(self.depends_on.get().max(batch));
        }
    }

    /// Begins a script.
    pub fn begin(&mut self) {
        self.rollback();
        self.depends_on.set(0);
        self.own_bytes = 0;
        self.is_torn = false;
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

    /// Ends a script that failed: its changes are dropped. It still depends on what it read.
    pub fn rollback(&mut self) -> u64 {
        self.own.clear();
        self.own_messages.clear();
        self.depends_on.get()
    }

    /// Gathers a change that means nothing, beside the script that runs. Returns the batch in which it is committed.
    pub fn probe(&mut self) -> u64 {
        let value = Bytes::from_static(b"");
        self.gathering.changes.insert(records::PROBED.to_vec(), Some(value));
        self.gathering.is_awaited = true;
        self.gathering.number
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

fn is_empty(from: Bound<&[u8]>, to: Bound<&[u8]>) -> bool {
    match (from, to) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => from >= to,
    }
}

/// The next record of one layer.
struct Head<'a> {
    range: btree_map::Range<'a, Vec<u8>, Option<Bytes>>,
    at: Option<(&'a Vec<u8>, &'a Option<Bytes>)>,
    batch: u64,
}

impl Head<'_> {
    fn advance(&mut self, reverse: bool) {
        self.at = if reverse {
            self.range.next_back()
        } else {
            self.range.next()
        };
    }
}

/// Records of all layers merged in order, upper layers first; see [`Layers::scan`].
pub(super) struct Scan<'a> {
    layers: &'a Layers,
    reverse: bool,
    heads: [Option<Head<'a>>; 3],
    disk: Option<redb::Range<'static, &'static [u8], &'static [u8]>>,
    disk_head: Option<(Page, Page)>,
}

impl<'a> Scan<'a> {
    fn advance_disk(&mut self) -> Result<(), StorageError> {
        let next = match &mut self.disk {
            Some(range) if self.reverse => readable(|| range.next_back().transpose()),
            Some(range) => readable(|| range.next().transpose()),
            None => Ok(None),
        };
        self.disk_head = self.layers.noted(next)?;
        Ok(())
    }

    /// The next record.
    pub fn next(&mut self) -> Result<Option<(Stored<'a>, Stored<'a>)>, StorageError> {
        loop {
            let mut first: Option<&'a Vec<u8>> = None;
            for head in self.heads.iter().flatten() {
                if let Some((key, _)) = head.at
                    && first.is_none_or(|first| if self.reverse { key > first } else { key < first })
                {
                    first = Some(key);
                }
            }
            let on_disk = self.disk_head.as_ref().map(|(key, _)| key.value());
            let disk_order = match (first, on_disk) {
                (None, None) => return Ok(None),
                (Some(_), None) => std::cmp::Ordering::Greater,
                (None, Some(_)) => std::cmp::Ordering::Less,
                (Some(first), Some(key)) if self.reverse => first.as_slice().cmp(key),
                (Some(first), Some(key)) => key.cmp(first.as_slice()),
            };
            if let Some(first) = first.filter(|_| disk_order.is_ge()) {
                if disk_order.is_eq() {
                    self.advance_disk()?;
                }
                let mut change: Option<&'a Option<Bytes>> = None;
                for head in self.heads.iter_mut().flatten() {
                    if let Some((key, value)) = head.at
                        && key == first
                    {
                        if change.is_none() {
                            change = Some(value);
                            self.layers.saw(first, head.batch);
                        }
                        head.advance(self.reverse);
                    }
                }
                if let Some(Some(value)) = change {
                    return Ok(Some((Stored::Borrowed(first), Stored::Borrowed(value))));
                }
            } else if let Some((key, value)) = self.disk_head.take() {
                self.advance_disk()?;
                return Ok(Some((Stored::Page(key), Stored::Page(value))));
            }
        }
    }
}
