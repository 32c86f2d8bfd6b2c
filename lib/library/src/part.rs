//! The Lua files of a crate.

use super::source::Source;

/// The Lua files of a crate, each with its name.
#[derive(Debug)]
pub struct Part {
    pub modules: &'static [(&'static str, Source<'static>)],
    pub functions: &'static [(&'static str, Source<'static>)],
}
