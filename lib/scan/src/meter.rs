//! Counts the bytes that a reading of text takes, second readings included, for the tests of linear time of every crate that reads
//! text. Compiled to nothing without debug assertions.

#[cfg(debug_assertions)]
thread_local! {
    static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts `bytes` as read.
#[inline(always)]
pub fn read(bytes: usize) {
    #[cfg(debug_assertions)]
    BYTES.with(|total| total.set(total.get().wrapping_add(bytes)));
    #[cfg(not(debug_assertions))]
    let _ = bytes;
}

/// Number of bytes that this thread has read since the last call. It does not exist where nothing is counted, so that no test of
/// linear time passes there.
#[cfg(debug_assertions)]
pub fn take() -> usize {
    BYTES.with(std::cell::Cell::take)
}
