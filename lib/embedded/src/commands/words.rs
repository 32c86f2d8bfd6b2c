//! The words of a command.

/// The words of a command, name first.
pub(crate) type Words<'a> = &'a [&'a [u8]];
