//! A JavaScript or TypeScript file whose specifiers are resolved.

use crate::resolve::keys::Trace;
use crate::resolve::path_table::PathTable;
use crate::resolve::projects::Projects;
use crate::resolve::projects::context::Context;

/// The importing file, and the context that governs it.
pub(crate) struct Importer<'a> {
    pub(crate) table: &'a PathTable,
    pub(crate) projects: &'a Projects,
    pub(crate) context: &'a Context,
    pub(crate) from: &'a str,
    pub(crate) trace: &'a mut Trace,
    /// A buffer for candidate paths, so that most lookups need no allocation.
    pub(crate) buffer: &'a mut String,
}
