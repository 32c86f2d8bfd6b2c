//! The storage below redb: a file, or another medium for tests; and a read-only view of it.

use parking_lot::Mutex;
use redb::{BackendError, StorageBackend};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::ops::Bound;
use std::sync::Arc;

/// Page size of the view.
const PAGE: u64 = 4096;

/// A medium that several databases use, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Medium(pub Arc<dyn StorageBackend>);

/// A view of a medium that cannot be written. redb repairs a medium that was not closed cleanly before it reads it; the
/// view keeps these writes in memory.
#[derive(Debug)]
pub(super) struct ReadOnlyView {
    medium: Medium,
    repaired: Mutex<Repaired>,
}

#[derive(Debug)]
struct Repaired {
    length: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

impl ReadOnlyView {
    /// A view of `medium` as it is now.
    pub fn of(medium: Medium) -> io::Result<ReadOnlyView> {
        let repaired = Repaired {
            length: medium.len()?,
            pages: BTreeMap::new(),
        };
        Ok(ReadOnlyView {
            medium,
            repaired: Mutex::new(repaired),
        })
    }

    /// The pages of a range: the number of each page, the range within the page, and the range within the whole.
    fn pages(
        offset: u64,
        length: usize,
    ) -> impl Iterator<Item = (u64, std::ops::Range<usize>, std::ops::Range<usize>)> {
        let end = offset + length as u64;
        let mut at = offset;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let (page, begin) = (at / PAGE, at % PAGE);
                let size = (PAGE - begin).min(end - at) as usize;
                let in_range = (at - offset) as usize;
                at += size as u64;
                (page, begin as usize..begin as usize + size, in_range..in_range + size)
            })
        })
    }

    /// The page in the medium below, with zeros past the end.
    fn page_below(&self, page: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; PAGE as usize];
        let length = self.medium.len()?.saturating_sub(page * PAGE).min(PAGE) as usize;
        if length > 0 {
            self.medium.read(page * PAGE, &mut bytes[..length])?;
        }
        Ok(bytes)
    }
}

impl StorageBackend for ReadOnlyView {
    fn len(&self) -> io::Result<u64> {
        Ok(self.repaired.lock().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let repaired = self.repaired.lock();
        if offset + out.len() as u64 > repaired.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (page, in_page, in_range) in ReadOnlyView::pages(offset, out.len()) {
            match repaired.pages.get(&page) {
                Some(bytes) => out[in_range].copy_from_slice(&bytes[in_page]),
                None => out[in_range].copy_from_slice(&self.page_below(page)?[in_page]),
            }
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.repaired.lock().length = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut repaired = self.repaired.lock();
        for (page, in_page, in_range) in ReadOnlyView::pages(offset, data.len()) {
            let bytes = match repaired.pages.entry(page) {
                Entry::Occupied(page) => page.into_mut(),
                Entry::Vacant(vacant) => vacant.insert(self.page_below(page)?),
            };
            bytes[in_page].copy_from_slice(&data[in_range]);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.medium.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.medium.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.medium.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.medium.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.medium.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.medium.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.medium.query_lock_range(start, end)
    }
}

impl StorageBackend for Medium {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.query_lock_range(start, end)
    }
}
