//! Counts the bytes that a scan reads, second readings included. Compiled to nothing outside of tests.

#[cfg(test)]
thread_local! {
    static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts `bytes` as read.
#[inline(always)]
pub(crate) fn read(bytes: usize) {
    #[cfg(test)]
    BYTES.with(|total| total.set(total.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

/// Number of bytes that this thread has read since the last call.
#[cfg(test)]
pub(crate) fn take() -> usize {
    BYTES.with(std::cell::Cell::take)
}
