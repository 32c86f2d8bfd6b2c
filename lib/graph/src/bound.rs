//! The bounds that a build has reached, with the affected files: a graph that lacks imports must report it.

use std::collections::BTreeMap;

/// Most files that are named for one bound.
const MAX_NAMED_FILES: usize = 5;

/// A bound of a file or of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bound {
    /// One file has more imports, or longer ones, than are kept of a file.
    FileImports,
    /// The imports of one file take more lookups than a file may have.
    FileLookups,
    /// The graph has [`Limits::max_files`](crate::Limits::max_files) files before this one.
    Files,
    /// It has read [`Limits::max_bytes`](crate::Limits::max_bytes) before this file.
    Bytes,
    /// It has [`Limits::max_imports`](crate::Limits::max_imports) before this file.
    Imports,
    /// It has as many edges as a graph may have before this file.
    Edges,
    /// It has had as many lookups as a graph may have before this file.
    Lookups,
    /// The manifests together have more text or values than a build reads.
    Manifests,
    /// Symbolic links lead to more paths than are followed.
    Links,
}

impl Bound {
    /// Every bound, in order.
    pub const ALL: [Bound; 9] = [
        Bound::FileImports,
        Bound::FileLookups,
        Bound::Files,
        Bound::Bytes,
        Bound::Imports,
        Bound::Edges,
        Bound::Lookups,
        Bound::Manifests,
        Bound::Links,
    ];

    /// The name on the wire and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Bound::FileImports => "file_imports",
            Bound::FileLookups => "file_lookups",
            Bound::Files => "files",
            Bound::Bytes => "bytes",
            Bound::Imports => "imports",
            Bound::Edges => "edges",
            Bound::Lookups => "lookups",
            Bound::Manifests => "manifests",
            Bound::Links => "links",
        }
    }

    /// The bound that was met, and how to fix it, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Bound::FileImports => "one file has more imports than Coord keeps of a file",
            Bound::FileLookups => "the imports of one file take more lookups than Coord makes for a file",
            Bound::Files => "the repository has more files than COORD_GRAPH_MAX_FILES",
            Bound::Bytes => "the files have more bytes than COORD_GRAPH_MAX_BYTES",
            Bound::Imports => "the files have more imports than COORD_GRAPH_MAX_IMPORTS",
            Bound::Edges => "the graph has more edges than Coord keeps",
            Bound::Lookups => {
                "the imports take more lookups than Coord makes; raise COORD_GRAPH_MAX_IMPORTS to allow more"
            }
            Bound::Manifests => "the manifests have more text or values than Coord reads",
            Bound::Links => "the symbolic links lead to more paths than Coord follows",
        }
    }
}

/// A bound that a build has met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetBound {
    pub bound: Bound,
    /// Number of files whose imports are missing because of it.
    pub files: usize,
    /// The first of these files, by path.
    pub first: Vec<String>,
}

/// Collects the files of each bound.
#[derive(Debug, Default)]
pub(crate) struct MetBounds(BTreeMap<Bound, MetBound>);

impl MetBounds {
    /// Adds a file. Files are added in the order of their paths.
    pub(crate) fn add(&mut self, bound: Bound, path: &str) {
        let met = self.0.entry(bound).or_insert_with(|| MetBound {
            bound,
            files: 0,
            first: Vec::new(),
        });
        met.files += 1;
        if met.first.len() < MAX_NAMED_FILES {
            met.first.push(path.to_owned());
        }
    }

    pub(crate) fn into_list(self) -> Vec<MetBound> {
        self.0.into_values().collect()
    }
}
