//! Counts the bytes that a scan reads, second readings included. Only in tests: elsewhere this is nothing.

#[cfg(test)]
thread_local! {
    static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes that so many bytes were read.
#[inline(always)]
pub(super) fn read(bytes: usize) {
    #[cfg(test)]
    BYTES.with(|total| total.set(total.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

/// How many bytes this thread has read since it was last asked.
#[cfg(test)]
pub(super) fn take() -> usize {
    BYTES.with(std::cell::Cell::take)
}
