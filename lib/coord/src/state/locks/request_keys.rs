use super::keys;
use crate::state::admission::AdmissionTerms;
use crate::state::{builds, events};

/// KEYS of the scripts that read the locks of a branch, as in `admission/includes/request.lua`.
pub(super) fn branch_keys(entry: &AdmissionTerms<'_>) -> Vec<String> {
    let AdmissionTerms { repo, branch, .. } = entry;
    let mut keys = entry.keys();
    keys.extend([
        keys::locks(repo),
        keys::expiries(repo),
        builds::keys::graph(repo, branch),
        builds::keys::graph_adjacency(repo, branch),
        events::keys::status_log(repo),
        events::keys::events(repo),
        keys::held(repo),
        builds::keys::graph_json(repo, branch),
        builds::keys::graph_scan(repo, branch),
        keys::refusals(repo),
    ]);
    keys
}
