//! KEYS of the functions of a request, with the names that `admission/modules/request.lua` gives them.

use std::future::Future;

use super::admission::AdmissionTerms;
use super::extension::{Extension, SeamKeys, registered};
pub use super::named_keys::{Keys, NamedKey};
use super::reply::Reply;
use super::{builds, events, locks};
use coord_store::StoreError;

/// KEYS of the functions that read the locks of a branch.
fn graph_and_locks(terms: &AdmissionTerms<'_>) -> Keys {
    let AdmissionTerms { repo, branch, .. } = terms;
    let mut keys = terms.keys();
    keys.add([
        ("locks", locks::keys::locks(repo)),
        ("expiries", locks::keys::expiries(repo)),
        ("graph", builds::keys::graph(repo, branch)),
        ("adjacency", builds::keys::graph_adjacency(repo, branch)),
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
        ("held", locks::keys::held(repo)),
        ("graph_json", builds::keys::graph_json(repo, branch)),
        ("graph_scan", builds::keys::graph_scan(repo, branch)),
    ]);
    add_of_extensions(&mut keys, terms, |extension| extension.keys);
    keys
}

/// KEYS of rare features.
fn add_features(keys: &mut Keys, terms: &AdmissionTerms<'_>) {
    add_of_extensions(keys, terms, |extension| extension.rare_keys);
    keys.add([("pending", locks::keys::pending(terms.repo))]);
}

fn add_of_extensions(keys: &mut Keys, terms: &AdmissionTerms<'_>, seam_keys: fn(&Extension) -> SeamKeys) {
    keys.add(registered().iter().flat_map(|extension| seam_keys(extension)(terms)));
}

/// KEYS of a login's allowances: its share of the event log, and of other logs.
fn add_shares(keys: &mut Keys, terms: &AdmissionTerms<'_>) {
    keys.add([
        ("refusals", events::keys::refusals(terms.repo)),
        ("shares", events::keys::shares(terms.repo)),
    ]);
}

/// KEYS of a check; with `uses_all`, also of rare features.
pub fn check_keys(terms: &AdmissionTerms<'_>, uses_all: bool) -> Keys {
    let mut keys = graph_and_locks(terms);
    if uses_all {
        add_features(&mut keys, terms);
    }
    keys
}

/// The same of a claim or a release.
pub fn change_keys(terms: &AdmissionTerms<'_>, uses_all: bool) -> Keys {
    let mut keys = check_keys(terms, uses_all);
    add_shares(&mut keys, terms);
    keys.add([
        ("releases", locks::keys::releases(terms.repo)),
        ("token", locks::keys::token(terms.repo)),
    ]);
    keys
}

/// KEYS of the functions that may use up the caller's share of a log.
pub fn share_keys(terms: &AdmissionTerms<'_>) -> Keys {
    let mut keys = check_keys(terms, true);
    add_shares(&mut keys, terms);
    keys
}

/// KEYS of the functions that may change locks, whatever the repository uses.
pub fn lock_keys(terms: &AdmissionTerms<'_>) -> Keys {
    change_keys(terms, true)
}

/// Runs `call(terms, uses_all)`: with all keys if the repository is known to use rare features, or the request `needs_all`; and once
/// more with all keys if the function finds that the repository uses them.
pub async fn run_with_required_keys<'a, F: Future<Output = Result<Reply, StoreError>>>(
    terms: &AdmissionTerms<'a>,
    needs_all: bool,
    call: impl Fn(AdmissionTerms<'a>, bool) -> F,
) -> Result<Reply, StoreError> {
    let reply = call(*terms, needs_all || terms.uses.uses_all()).await?;
    if reply.outcome != "NEEDS" {
        return Ok(reply);
    }
    terms.uses.set_uses_all();
    let counted = AdmissionTerms {
        rates: terms.rates.of_counted(),
        ..*terms
    };
    call(counted, true).await
}
