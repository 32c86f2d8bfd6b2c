//! A command as it came.

/// The words of a command, its name first.
pub(crate) type Words<'a> = &'a [&'a [u8]];
