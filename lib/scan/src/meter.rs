//! Counts the bytes that code reads of a text, second readings included, so that tests can check for linear time.
//! Without debug assertions, it counts nothing.

thread_local! {
    static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts `bytes` as read.
#[inline(always)]
pub fn read(bytes: usize) {
    if cfg!(debug_assertions) {
        BYTES.with(|total| total.set(total.get().wrapping_add(bytes)));
    }
}

/// Number of bytes that this thread has read since the last call. Without debug assertions it does not exist, so that
/// no test of linear time can pass by counting nothing.
#[cfg(debug_assertions)]
pub fn take() -> usize {
    BYTES.with(std::cell::Cell::take)
}
