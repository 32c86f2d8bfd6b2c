//! KEYS of the scripts of a request: `admission/includes/request.lua` has their names.

use super::admission::AdmissionTerms;
use super::{builds, events, intents, ledger, locks, teams};

/// KEYS of the scripts that read the locks of a branch, and the intents of its repository.
pub(super) fn branch_keys(terms: &AdmissionTerms<'_>) -> Vec<String> {
    let AdmissionTerms {
        repo, branch, holder, ..
    } = terms;
    let mut keys = terms.keys();
    keys.extend([
        locks::keys::locks(repo),
        locks::keys::expiries(repo),
        builds::keys::graph(repo, branch),
        builds::keys::graph_adjacency(repo, branch),
        events::keys::status_log(repo),
        events::keys::events(repo),
        locks::keys::held(repo),
        builds::keys::graph_json(repo, branch),
        builds::keys::graph_scan(repo, branch),
        events::keys::refusals(repo),
        intents::keys::intents(repo),
        intents::keys::intent_texts(repo),
        intents::keys::intent_use(repo),
        intents::keys::owners(repo),
        intents::keys::sessions(repo, holder),
        ledger::keys::ledger(repo),
        ledger::keys::traces(repo),
        teams::keys::members(repo),
        locks::keys::pending(repo),
    ]);
    keys
}

/// The same of the scripts that may use up a share of the caller, by lines of the ledger or events.
pub(super) fn share_keys(terms: &AdmissionTerms<'_>) -> Vec<String> {
    let mut keys = branch_keys(terms);
    keys.push(events::keys::shares(terms.repo));
    keys
}

/// The same of the scripts that may change locks, too.
pub(super) fn lock_keys(terms: &AdmissionTerms<'_>) -> Vec<String> {
    let mut keys = share_keys(terms);
    keys.push(locks::keys::releases(terms.repo));
    keys.push(locks::keys::token(terms.repo));
    keys
}
