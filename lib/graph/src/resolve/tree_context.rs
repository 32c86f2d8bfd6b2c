//! A tree with everything that the build has read from it.

use std::sync::Arc;

use crate::record::Record;
use crate::resolve::manifests::Manifests;
use crate::resolve::path_table::PathTable;
use crate::resolve::projects::Projects;

/// The paths of a tree, its manifests and projects, and the records of its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeContext<'a> {
    pub(crate) table: &'a PathTable,
    pub(crate) manifests: &'a Manifests,
    pub(crate) projects: &'a Projects,
    /// A record for each file.
    pub(crate) records: &'a [Option<Arc<Record>>],
}
