//! Standard output of commands that print one text.

use std::io::{ErrorKind, Write};

use anyhow::Context;

/// Prints `text`. That nobody reads it to the end is no error.
///
/// # Errors
/// When it cannot be written.
pub fn print(text: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text) {
        // `head` has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}
