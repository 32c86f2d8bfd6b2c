//! A repository in memory, and its graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use coord_graph::{Blob, EntryKind, ImportGraph, Limits, Previous, Reason, Resolution, Snapshot, TreeEntry, Update};

/// Path -> content. Content that begins with `LINK ` is a symbolic link to the rest.
pub type Repository = BTreeMap<String, String>;

pub fn repository(files: &[(&str, &str)]) -> Repository {
    files
        .iter()
        .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
        .collect()
}

/// As in git: the same content has the same id.
fn blob_id(content: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("{:040x}", hasher.finish())
}

const LINK: &str = "LINK ";

fn tree(files: &Repository) -> Vec<TreeEntry> {
    files
        .iter()
        .map(|(path, content)| TreeEntry {
            path: path.clone(),
            blob: blob_id(content),
            kind: match content.starts_with(LINK) {
                true => EntryKind::Symlink,
                false => EntryKind::File,
            },
        })
        .collect()
}

/// A snapshot, and the number of files that were read for it.
pub fn snapshot_after(previous: Previous, files: &Repository) -> (Arc<Snapshot>, usize) {
    snapshot_within(Limits::default(), previous, files)
}

/// [`snapshot_after`] with other limits.
pub fn snapshot_within(limits: Limits, previous: Previous, files: &Repository) -> (Arc<Snapshot>, usize) {
    let contents: BTreeMap<String, &str> = files
        .values()
        .map(|content| (blob_id(content), content.as_str()))
        .collect();
    let update = Update::begin(previous, tree(files), limits);
    let mut read = 0;
    loop {
        let wanted = update.wanted();
        if wanted.is_empty() {
            return (Arc::new(update.finish()), read);
        }
        read += wanted.len();
        for one in wanted {
            let content = contents.get(&one.blob);
            update.supply(
                one.file,
                content.map_or(Blob::Unreadable, |content| {
                    Blob::Content(content.trim_start_matches(LINK).as_bytes())
                }),
            );
        }
    }
}

pub fn cold(files: &Repository) -> Arc<Snapshot> {
    snapshot_after(Previous::Nothing, files).0
}

/// `source -> target` of each edge.
pub fn edges(graph: &ImportGraph) -> Vec<String> {
    graph
        .edges()
        .map(|(from, to, _)| format!("{} -> {}", graph.path(from), graph.path(to)))
        .collect()
}

/// [`edges`] of the graph of `files`.
pub fn edges_of(files: &[(&str, &str)]) -> Vec<String> {
    edges(cold(&repository(files)).graph())
}

/// The targets of the edges of the file at `from` in `files`.
pub fn targets(files: &[(&str, &str)], from: &str) -> Vec<String> {
    let prefix = format!("{from} -> ");
    let all = edges_of(files);
    let own = all.iter().filter_map(|edge| edge.strip_prefix(&prefix));
    own.map(str::to_owned).collect()
}

/// The target of the only specifier of the file at `from` in `files`.
pub fn target(files: &[(&str, &str)], from: &str) -> Result<String, Reason> {
    let snapshot = cold(&repository(files));
    let explained = snapshot.explain(from).expect("the file was scanned");
    match explained.as_slice() {
        [(_, Resolution::File(id))] => Ok(snapshot.graph().path(*id).to_owned()),
        [(_, Resolution::Unresolved(reason))] => Err(*reason),
        other => panic!("{from} has {} specifiers", other.len()),
    }
}

/// Everything that a snapshot contains, as text.
pub fn everything(snapshot: &Snapshot) -> String {
    let graph = snapshot.graph();
    let mut text = String::new();
    for node in graph.nodes() {
        text.push_str(&format!("{node:?}\n"));
    }
    for (field, value) in graph.adjacency() {
        text.push_str(&format!("{field}\n{value}"));
    }
    for (from, to, kinds) in graph.edges() {
        text.push_str(&format!("{from} {to} {kinds:?}\n"));
    }
    for reason in Reason::ALL {
        text.push_str(&format!("{} {}\n", reason.name(), graph.unresolved(reason)));
    }
    for (path, record) in snapshot.records() {
        text.push_str(&format!("{path} {} {:?}\n", record.encode(), snapshot.explain(path)));
    }
    text
}
