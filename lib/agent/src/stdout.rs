//! Standard output of commands that print one text.

use std::io::{ErrorKind, Write};

use anyhow::Context;

/// Prints `text`. A reader that closes the pipe early is not an error.
///
/// # Errors
/// When `text` cannot be written.
pub fn print(text: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text) {
        // A reader such as `head` has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output"),
    }
}
