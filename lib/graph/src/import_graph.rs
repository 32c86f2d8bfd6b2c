//! The graph itself: files and which of them imports which.

use std::sync::Arc;

use super::FileId;
use super::language::Language;
use super::resolve::Reason;
use super::scan::ImportKind;
use crate::tree::TreeEntry;

/// The forms in which one file imports another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KindSet(u16);

impl KindSet {
    /// The set of `kind` alone.
    pub fn of(kind: ImportKind) -> Self {
        KindSet(1 << kind as u16)
    }

    /// The set in the form that is stored: a bit for each kind, in their order.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The set that [`Self::bits`] gave.
    pub fn from_bits(bits: u16) -> Self {
        KindSet(bits)
    }

    /// Both sets together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        KindSet(self.0 | other.0)
    }

    /// Whether `kind` is in it.
    pub fn has(self, kind: ImportKind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }

    /// The names of the kinds in it, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let kinds = ImportKind::ALL.into_iter().filter(move |kind| self.has(*kind));
        kinds.map(ImportKind::name)
    }

    /// Whether one of the forms is an import by the language itself, for a source in `language`: every import statement,
    /// `export ... from`, types, and in JavaScript and TypeScript `import()` and `require()`. Not among them are names
    /// in comments and in calls that only tools understand.
    pub fn is_core(self, language: Language) -> bool {
        let core = Self::of(ImportKind::Import)
            .and(Self::of(ImportKind::ExportFrom))
            .and(Self::of(ImportKind::Type))
            .and(Self::of(ImportKind::Require))
            .and(Self::of(ImportKind::Module))
            .and(Self::of(ImportKind::Path));
        let core = if language == Language::Python {
            core
        } else {
            core.and(Self::of(ImportKind::Dynamic))
        };
        self.0 & core.0 != 0
    }
}

/// How far a file could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileState {
    /// Its imports are known, or its language has none.
    #[default]
    Ok,
    /// Larger than the limit; not scanned.
    TooLarge,
    /// Not text; not scanned.
    Binary,
    /// Output of a minifier; only its head is scanned.
    Minified,
    /// The source of the repository did not give it.
    Unreadable,
    /// The limit on the files or on the bytes of one graph was met at it or before it; not scanned.
    OverLimit,
}

impl FileState {
    /// Every state, in order.
    pub const ALL: [FileState; 6] = [
        FileState::Ok,
        FileState::TooLarge,
        FileState::Binary,
        FileState::Minified,
        FileState::Unreadable,
        FileState::OverLimit,
    ];

    /// Lower-case name, as the wire and the store have it.
    pub fn name(self) -> &'static str {
        match self {
            FileState::Ok => "ok",
            FileState::TooLarge => "too_large",
            FileState::Binary => "binary",
            FileState::Minified => "minified",
            FileState::Unreadable => "unreadable",
            FileState::OverLimit => "over_limit",
        }
    }
}

/// One file of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Path from the repository root.
    pub path: &'a str,
    /// Its language; `None` where imports of it are not known.
    pub language: Option<Language>,
    /// Size in bytes; `None` where the file did not have to be read.
    pub size: Option<u64>,
    /// How far it could be read.
    pub state: FileState,
}

/// What reading a file told of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Size in bytes; `None` where the file did not have to be read.
    pub size: Option<u64>,
    /// How far it could be read.
    pub state: FileState,
}

/// Files, imports and importers. Ids are positions in the order of paths. A file never imports itself here.
#[derive(Clone, Debug)]
pub struct ImportGraph {
    files: Arc<[TreeEntry]>,
    facts: Vec<Facts>,
    import_starts: Vec<u32>,
    imports: Vec<(FileId, KindSet)>,
    importer_starts: Vec<u32>,
    importers: Vec<FileId>,
    unresolved: [u64; Reason::ALL.len()],
}

impl ImportGraph {
    /// `edges` are sorted by (from, to), distinct, between files of `files`, and none is from a file to itself.
    pub fn new(
        files: Arc<[TreeEntry]>,
        facts: Vec<Facts>,
        edges: &[(FileId, FileId, KindSet)],
        unresolved: [u64; Reason::ALL.len()],
    ) -> Self {
        let mut import_starts = vec![0u32; files.len() + 1];
        let mut importer_starts = vec![0u32; files.len() + 1];
        for (from, to, _) in edges {
            import_starts[*from as usize + 1] += 1;
            importer_starts[*to as usize + 1] += 1;
        }
        for starts in [&mut import_starts, &mut importer_starts] {
            for at in 1..starts.len() {
                starts[at] += starts[at - 1];
            }
        }
        let mut next = importer_starts.clone();
        let mut importers = vec![0; edges.len()];
        for (from, to, _) in edges {
            let slot = &mut next[*to as usize];
            importers[*slot as usize] = *from;
            *slot += 1;
        }
        ImportGraph {
            files,
            facts,
            import_starts,
            imports: edges.iter().map(|(_, to, kinds)| (*to, *kinds)).collect(),
            importer_starts,
            importers,
            unresolved,
        }
    }

    /// The same files with those of their edges that `counts` says yes to.
    #[must_use]
    pub fn filtered(&self, counts: impl Fn(Node<'_>, KindSet) -> bool) -> Self {
        let mut edges = Vec::with_capacity(self.imports.len());
        for (from, node) in (0..).zip(self.nodes()) {
            let own = self.imports(from).iter().filter(|(_, kinds)| counts(node, *kinds));
            edges.extend(own.map(|(to, kinds)| (from, *to, *kinds)));
        }
        ImportGraph::new(Arc::clone(&self.files), self.facts.clone(), &edges, self.unresolved)
    }

    /// All files, in the order of their paths and ids.
    pub(super) fn files(&self) -> &[TreeEntry] {
        &self.files
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Number of edges: pairs of files, in however many forms the one imports the other.
    pub fn edge_count(&self) -> usize {
        self.imports.len()
    }

    /// The id of the file at `path`.
    pub fn id(&self, path: &str) -> Option<FileId> {
        let found = self.files.binary_search_by(|file| file.path.as_str().cmp(path));
        found.ok().map(|at| at as FileId)
    }

    /// The path of a file; empty for an id that is none of this graph.
    pub fn path(&self, id: FileId) -> &str {
        self.files.get(id as usize).map_or("", |file| file.path.as_str())
    }

    /// A file, or `None` for an id that is none of this graph.
    pub fn node(&self, id: FileId) -> Option<Node<'_>> {
        let path = self.files.get(id as usize)?.path.as_str();
        let facts = self.facts.get(id as usize).copied().unwrap_or_default();
        Some(Node {
            path,
            language: Language::of_path(path),
            size: facts.size,
            state: facts.state,
        })
    }

    /// All files, in the order of their paths and ids.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node<'_>> {
        (0..self.files.len()).map(|at| {
            let path = self.files[at].path.as_str();
            let facts = self.facts.get(at).copied().unwrap_or_default();
            Node {
                path,
                language: Language::of_path(path),
                size: facts.size,
                state: facts.state,
            }
        })
    }

    /// What the file imports, in order, and in which forms.
    pub fn imports(&self, id: FileId) -> &[(FileId, KindSet)] {
        slice(&self.import_starts, &self.imports, id)
    }

    /// The files that import it, in order.
    pub fn importers(&self, id: FileId) -> &[FileId] {
        slice(&self.importer_starts, &self.importers, id)
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
