//! Ranges of records: those of all layers merged in order, upper layers first.

use std::collections::btree_map;
use std::ops::Bound;

use bytes::Bytes;
use redb::StorageError;

use super::{Layers, StoredBytes};
use crate::disk::{Page, catch_damage};
use crate::failure::Failure;
use crate::records;

impl Layers {
    /// The records between two keys, in reverse order if `reverse`.
    pub fn scan(&self, from: Bound<&[u8]>, to: Bound<&[u8]>, reverse: bool) -> Result<Scan<'_>, Failure> {
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
            Some((&self.script_changes, 0)),
            Some((&self.gathering.changes, self.gathering.number)),
            committing.map(|batch| (&batch.changes, batch.number)),
        ];
        for (head, layer) in scan.heads.iter_mut().zip(layers) {
            // Layers are mostly empty, and then cost nothing here.
            if let Some((changes, batch)) = layer.filter(|(changes, _)| !changes.is_empty()) {
                head.insert(Head {
                    range: changes.range::<[u8], _>((from, to)),
                    at: None,
                    batch,
                })
                .advance(reverse);
            }
        }
        let range = self.open_snapshot().and_then(|snapshot| snapshot.range(from, to));
        scan.disk = Some(self.note_failure(range)?);
        scan.advance_disk()?;
        Ok(scan)
    }

    /// The records whose key begins with `prefix`.
    pub fn scan_prefix(&self, prefix: &[u8]) -> Result<Scan<'_>, Failure> {
        let end = records::end_of_prefix(prefix);
        self.scan(Bound::Included(prefix), Bound::Excluded(&end), false)
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
pub(crate) struct Scan<'a> {
    layers: &'a Layers,
    reverse: bool,
    heads: [Option<Head<'a>>; 3],
    disk: Option<redb::Range<'static, &'static [u8], &'static [u8]>>,
    disk_head: Option<(Page, Page)>,
}

impl<'a> Scan<'a> {
    fn advance_disk(&mut self) -> Result<(), StorageError> {
        let next = match &mut self.disk {
            Some(range) if self.reverse => catch_damage(|| range.next_back().transpose()),
            Some(range) => catch_damage(|| range.next().transpose()),
            None => Ok(None),
        };
        self.disk_head = self.layers.note_failure(next)?;
        Ok(())
    }

    pub fn next(&mut self) -> Result<Option<(StoredBytes<'a>, StoredBytes<'a>)>, Failure> {
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
                            self.layers.note_dependency(first, head.batch);
                        }
                        head.advance(self.reverse);
                    }
                }
                if let Some(Some(value)) = change {
                    return Ok(Some((StoredBytes::Borrowed(first), StoredBytes::Borrowed(value))));
                }
            } else if let Some((key, value)) = self.disk_head.take() {
                self.advance_disk()?;
                return Ok(Some((StoredBytes::Page(key), StoredBytes::Page(value))));
            }
        }
    }
}
