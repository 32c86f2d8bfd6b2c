//! The graph itself: files and the imports between them.

use std::sync::Arc;

use coord_scan::{FileState, KindSet, Language};

use crate::bound::MetBound;
use crate::file::{FileFacts, FileId, Node};
use crate::resolution::Reason;
use crate::tree::TreeEntry;

/// Files, imports and importers. Ids are positions in the order of paths. A file never imports itself here.
#[derive(Clone, Debug)]
pub struct ImportGraph {
    files: Arc<[TreeEntry]>,
    facts: Vec<FileFacts>,
    import_starts: Vec<u32>,
    imports: Vec<(FileId, KindSet)>,
    importer_starts: Vec<u32>,
    importers: Vec<FileId>,
    unresolved: [u64; Reason::ALL.len()],
    bounds: Vec<MetBound>,
}

impl ImportGraph {
    /// `edges` are distinct, sorted by (from, to), between files of `files`, and never from a file to itself.
    pub fn new(
        files: Arc<[TreeEntry]>,
        facts: Vec<FileFacts>,
        edges: impl IntoIterator<Item = (FileId, FileId, KindSet)>,
        unresolved: [u64; Reason::ALL.len()],
    ) -> Self {
        let mut import_starts = vec![0u32; files.len() + 1];
        let mut importer_starts = vec![0u32; files.len() + 1];
        // There may be millions of edges, so they are never stored in another form.
        let mut imports = Vec::new();
        for (from, to, kinds) in edges {
            import_starts[from as usize + 1] += 1;
            importer_starts[to as usize + 1] += 1;
            imports.push((to, kinds));
        }
        imports.shrink_to_fit();
        for starts in [&mut import_starts, &mut importer_starts] {
            for at in 1..starts.len() {
                starts[at] += starts[at - 1];
            }
        }
        let mut next = importer_starts.clone();
        let mut importers = vec![0; imports.len()];
        for from in 0..files.len() as FileId {
            for (to, _) in slice(&import_starts, &imports, from) {
                let slot = &mut next[*to as usize];
                importers[*slot as usize] = from;
                *slot += 1;
            }
        }
        ImportGraph {
            files,
            facts,
            import_starts,
            imports,
            importer_starts,
            importers,
            unresolved,
            bounds: Vec::new(),
        }
    }

    /// The same graph, whose build has reached `bounds`.
    #[must_use]
    pub(crate) fn with_bounds(mut self, bounds: Vec<MetBound>) -> Self {
        self.bounds = bounds;
        self
    }

    /// The bounds that its build has reached.
    pub fn bounds(&self) -> &[MetBound] {
        &self.bounds
    }

    /// The same files with the edges that `counts` accepts.
    #[must_use]
    pub fn filtered(&self, counts: impl Fn(Node<'_>, KindSet) -> bool) -> Self {
        let counts = &counts;
        let edges = (0..).zip(self.nodes()).flat_map(|(from, node)| {
            let imports = self.imports(from).iter();
            let accepted = imports.filter(move |(_, kinds)| counts(node, *kinds));
            accepted.map(move |(to, kinds)| (from, *to, *kinds))
        });
        ImportGraph::new(Arc::clone(&self.files), self.facts.clone(), edges, self.unresolved)
            .with_bounds(self.bounds.clone())
    }

    /// The same files without the edges to and from those that `is_left_out` accepts.
    #[must_use]
    pub fn without(&self, is_left_out: impl Fn(&str) -> bool) -> Self {
        let left_out: Vec<bool> = self.files.iter().map(|file| is_left_out(&file.path)).collect();
        let edges = self
            .edges()
            .filter(|(from, to, _)| !left_out[*from as usize] && !left_out[*to as usize]);
        ImportGraph::new(Arc::clone(&self.files), self.facts.clone(), edges, self.unresolved)
            .with_bounds(self.bounds.clone())
    }

    /// All files, in the order of their paths and ids.
    pub(super) fn files(&self) -> &[TreeEntry] {
        &self.files
    }

    /// About how many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        let text = |file: &TreeEntry| file.path.len() + file.blob.len();
        let file_bytes = size_of::<TreeEntry>() + size_of::<FileFacts>() + 2 * size_of::<u32>();
        let edge_bytes = size_of::<(FileId, KindSet)>() + size_of::<FileId>();
        self.files.iter().map(text).sum::<usize>() + self.files.len() * file_bytes + self.imports.len() * edge_bytes
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether the graph has no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Number of edges: pairs of files, whatever the number of forms in which one imports the other.
    pub fn edge_count(&self) -> usize {
        self.imports.len()
    }

    /// The id of the file at `path`.
    pub fn id(&self, path: &str) -> Option<FileId> {
        let position = self.files.binary_search_by(|file| file.path.as_str().cmp(path));
        position.ok().map(|at| at as FileId)
    }

    /// The path of a file; empty for an id outside this graph.
    pub fn path(&self, id: FileId) -> &str {
        self.files.get(id as usize).map_or("", |file| file.path.as_str())
    }

    /// A file, or `None` for an id outside this graph.
    pub fn node(&self, id: FileId) -> Option<Node<'_>> {
        let at = id as usize;
        (at < self.files.len()).then(|| self.node_at(at))
    }

    /// All files, in the order of their paths and ids.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node<'_>> {
        (0..self.files.len()).map(|at| self.node_at(at))
    }

    fn node_at(&self, at: usize) -> Node<'_> {
        let path = self.files[at].path.as_str();
        let facts = self.facts.get(at).copied().unwrap_or_default();
        Node {
            path,
            language: Language::of_path(path),
            size: facts.size,
            state: facts.state,
        }
    }

    /// The files that it imports, in order, and the forms of each import.
    pub fn imports(&self, id: FileId) -> &[(FileId, KindSet)] {
        slice(&self.import_starts, &self.imports, id)
    }

    /// The files that import it, in order.
    pub fn importers(&self, id: FileId) -> &[FileId] {
        slice(&self.importer_starts, &self.importers, id)
    }

    /// The files with at least `least` importers, each with the number of importers: the first `count`, most imported
    /// first.
    pub fn most_imported(&self, least: usize, count: usize) -> Vec<(usize, FileId)> {
        let mut files: Vec<(usize, FileId)> = (0..self.files.len() as FileId)
            .map(|id| (self.importers(id).len(), id))
            .filter(|(importers, _)| *importers >= least)
            .collect();
        files.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        files.truncate(count);
        files
    }

    /// All edges (from, to, forms), in order.
    pub fn edges(&self) -> impl Iterator<Item = (FileId, FileId, KindSet)> + '_ {
        (0..self.files.len() as FileId)
            .flat_map(|from| self.imports(from).iter().map(move |(to, kinds)| (from, *to, *kinds)))
    }

    /// Number of specifiers that led to no tracked file for this reason.
    pub fn unresolved(&self, reason: Reason) -> u64 {
        self.unresolved[reason as usize]
    }

    /// Number of files in this state.
    pub fn count_in_state(&self, state: FileState) -> usize {
        self.facts.iter().filter(|facts| facts.state == state).count()
    }
}

fn slice<'a, T>(starts: &[u32], items: &'a [T], id: FileId) -> &'a [T] {
    let at = id as usize;
    match (starts.get(at), starts.get(at + 1)) {
        (Some(start), Some(end)) => &items[*start as usize..*end as usize],
        _ => &[],
    }
}
