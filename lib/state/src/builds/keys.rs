//! The stored graph of a branch.

use crate::keys::of;
use crate::request_keys::Keys;
use coord_domain::{Branch, RepoId};

/// hash: version (commit), counts, times, and state of the build.
pub fn graph(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str()])
}

/// hash: file path -> its imports and importers.
pub fn graph_adjacency(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str(), ":adj"])
}

/// string: nodes and edges, as sent to callers.
pub fn graph_json(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str(), ":json"])
}

/// hash: file path -> blob id and raw specifiers, for incremental builds.
pub fn graph_scan(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str(), ":scan"])
}

/// The staging key of `key`: a complete value is written here before it replaces `key`.
pub fn staging(key: &str) -> String {
    format!("{key}:next")
}

/// The hash of a graph, and its parts.
pub(crate) fn graph_with_parts(repo: &RepoId, branch: &Branch) -> Keys {
    Keys::of([
        ("graph", graph(repo, branch)),
        ("adjacency", graph_adjacency(repo, branch)),
        ("graph_json", graph_json(repo, branch)),
        ("graph_scan", graph_scan(repo, branch)),
    ])
}
