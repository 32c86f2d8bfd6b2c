//! Bounds the text that all threads of a build scan at once, and so the memory of their scans.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::cores::lock;

/// Most bytes of large texts that are scanned at once: a scan may briefly need many times the memory of its text.
const MAX_SCANNED_BYTES: usize = 4 << 20;
/// Texts up to this size do not count. Nearly all files of nearly all repositories are this small.
const SMALL_TEXT: usize = 64 << 10;

/// Bounds the large texts that are scanned at once.
#[derive(Debug, Default)]
pub(super) struct ScanBudget {
    taken: Mutex<usize>,
    /// Notified whenever a text releases its bytes.
    released: Condvar,
}

/// The bytes that one text has taken. Dropping it releases them.
#[derive(Debug)]
pub(super) struct ReservedBytes<'a> {
    budget: &'a ScanBudget,
    bytes: usize,
}

impl ScanBudget {
    /// Waits until there is room for a text of `bytes`, and takes it. A text larger than the budget takes all of it.
    pub(super) fn take(&self, bytes: usize) -> ReservedBytes<'_> {
        let bytes = if bytes <= SMALL_TEXT {
            0
        } else {
            bytes.min(MAX_SCANNED_BYTES)
        };
        if bytes > 0 {
            let mut taken = lock(&self.taken);
            while *taken + bytes > MAX_SCANNED_BYTES {
                taken = self.released.wait(taken).unwrap_or_else(PoisonError::into_inner);
            }
            *taken += bytes;
        }
        ReservedBytes { budget: self, bytes }
    }
}

impl Drop for ReservedBytes<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            *lock(&self.budget.taken) -= self.bytes;
            self.budget.released.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn large_texts_wait_for_each_other_and_small_ones_do_not() {
        let budget = ScanBudget::default();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let whole = budget.take(100 << 20);
        drop(budget.take(SMALL_TEXT));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _taken = budget.take(MAX_SCANNED_BYTES / 2);
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
            assert_eq!(now.load(Ordering::SeqCst), 0);
            drop(whole);
        });
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    }
}
