//! Tracked symbolic links within the repository. A link to a file means that file. A path below a link to a folder
//! means that folder's file. A link that leads out of the repository, or nowhere, means itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::file::FileId;
use crate::resolve::extension::{Extension, Siblings};
use crate::resolve::manifests::{Manifests, ParsedManifest};
use crate::resolve::paths::{folder, is_within, joined};
use crate::resolve::tracked_paths::TrackedPaths;

/// Most links to follow for one path.
const MAX_HOPS: usize = 16;
/// Most paths through links.
const MAX_LINKED: usize = 50_000;
/// Most bytes of paths through links.
const MAX_LINKED_BYTES: usize = 8 << 20;
/// Most files to visit below the targets of links.
const MAX_STEPS: usize = 2_000_000;
/// Most links to folders on the way to a file.
const MAX_NESTING: usize = 3;

/// Path of each link -> its target.
pub(crate) type Symlinks = BTreeMap<String, String>;

/// The links among `manifests` whose targets are within the repository.
pub(crate) fn symlinks(manifests: &Manifests) -> Symlinks {
    let mut links = Symlinks::new();
    for (path, parsed) in manifests {
        if let ParsedManifest::Link(target) = &**parsed
            && !target.starts_with('/')
            && let Some(target) = joined(folder(path), target)
        {
            links.insert(path.clone(), target);
        }
    }
    links
}

/// `path` with all links resolved. `None` if they form a cycle.
pub(crate) fn real_path(links: &Symlinks, path: &str) -> Option<String> {
    let mut path = path.to_owned();
    for _ in 0..MAX_HOPS {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let link = ends.into_iter().find_map(|end| Some((end, links.get(&path[..end])?)));
        let Some((end, target)) = link else {
            return Some(path);
        };
        path = joined(target, &path[end..])?;
    }
    None
}

/// The paths through links.
#[derive(Debug, Default)]
pub(crate) struct LinkedPaths {
    pub(crate) links: Symlinks,
    /// Path and file, sorted: links to files, and paths below links to folders.
    pub(crate) paths: Vec<(String, FileId)>,
    whole: HashMap<String, FileId>,
    stems: HashMap<String, Siblings>,
    /// A link to a file -> that file.
    real: HashMap<FileId, FileId>,
    /// The links for which `paths` lacks some or all files, because the links lead to too many.
    pub(crate) cut: HashSet<String>,
    bytes: usize,
    steps: usize,
}

impl LinkedPaths {
    pub(crate) fn new(tracked: &TrackedPaths, links: Symlinks) -> Self {
        let mut linked = LinkedPaths {
            links,
            ..LinkedPaths::default()
        };
        for link in linked.links.clone().into_keys() {
            linked.add(tracked, &link, &link, 0);
            if linked.is_full() {
                linked.cut.insert(link);
            }
        }
        linked.paths.sort_unstable();
        for (path, id) in &linked.paths {
            if let Some(link) = tracked.file(path) {
                linked.real.insert(link, *id);
            } else if let Some((stem, extension)) = Extension::split(path) {
                linked.stems.entry(stem.to_owned()).or_default().set(extension, *id);
            }
        }
        linked.whole = linked.paths.iter().cloned().collect();
        linked
    }

    /// Adds `path`, which leads to the link at `link`: the link's target file, or the files below its target folder.
    fn add(&mut self, tracked: &TrackedPaths, path: &str, link: &str, nesting: usize) {
        self.steps += 1;
        if self.is_full() {
            return;
        }
        let Some(target) = real_path(&self.links, link) else {
            return;
        };
        if let Some(id) = tracked.file(&target) {
            self.push(path, id);
            return;
        }
        // A link to a folder around itself would occur again below itself.
        let is_cycle = is_within(link, &target);
        for (id, file) in tracked.ids_below(&target) {
            self.steps += 1;
            if self.is_full() {
                return;
            }
            let rest = file.get(target.len()..).unwrap_or_default().trim_start_matches('/');
            let below = format!("{path}/{rest}");
            if !self.links.contains_key(file) {
                self.push(&below, id);
            } else if nesting < MAX_NESTING && !is_cycle {
                self.add(tracked, &below, file, nesting + 1);
            }
        }
    }

    fn push(&mut self, path: &str, id: FileId) {
        self.bytes += path.len();
        self.paths.push((path.to_owned(), id));
    }

    fn is_full(&self) -> bool {
        self.paths.len() >= MAX_LINKED || self.bytes >= MAX_LINKED_BYTES || self.steps >= MAX_STEPS
    }

    pub(crate) fn file(&self, path: &str) -> Option<FileId> {
        self.whole.get(path).copied()
    }

    pub(crate) fn siblings(&self, stem: &str) -> Option<Siblings> {
        self.stems.get(stem).copied()
    }

    pub(crate) fn real(&self, id: FileId) -> FileId {
        self.real.get(&id).copied().unwrap_or(id)
    }
}
