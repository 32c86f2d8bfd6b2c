//! KEYS of the functions of a request, with the names that `admission/modules/request.lua` gives them.

use super::admission::AdmissionTerms;
use super::{builds, events, intents, ledger, locks, teams};

/// KEYS of a function, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    names: Vec<&'static str>,
    keys: Vec<String>,
}

impl Keys {
    /// Adds keys; those of a known name are there already.
    pub fn add<const N: usize>(&mut self, keys: [(&'static str, String); N]) {
        for (name, key) in keys {
            if !self.names.contains(&name) {
                self.names.push(name);
                self.keys.push(key);
            }
        }
    }

    /// Their names, in order.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }
}

impl From<Keys> for Vec<String> {
    fn from(keys: Keys) -> Self {
        keys.keys
    }
}

/// KEYS of the functions that read the locks of a branch, and the intents of its repository.
pub(super) fn branch_keys(terms: &AdmissionTerms<'_>) -> Keys {
    let AdmissionTerms {
        repo, branch, holder, ..
    } = terms;
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
        ("refusals", events::keys::refusals(repo)),
        ("intents", intents::keys::intents(repo)),
        ("intent_texts", intents::keys::intent_texts(repo)),
        ("intent_use", intents::keys::intent_use(repo)),
        ("owners", intents::keys::owners(repo)),
        ("sessions", intents::keys::sessions(repo, holder)),
        ("ledger", ledger::keys::ledger(repo)),
        ("traces", ledger::keys::traces(repo)),
        ("members", teams::keys::members(repo)),
        ("pending", locks::keys::pending(repo)),
    ]);
    keys
}

/// The same of the functions that may use up a share of the caller, by lines of the ledger or events.
pub(super) fn share_keys(terms: &AdmissionTerms<'_>) -> Keys {
    let mut keys = branch_keys(terms);
    keys.add([("shares", events::keys::shares(terms.repo))]);
    keys
}

/// The same of the functions that may change locks, too.
pub(super) fn lock_keys(terms: &AdmissionTerms<'_>) -> Keys {
    let mut keys = share_keys(terms);
    keys.add([
        ("releases", locks::keys::releases(terms.repo)),
        ("token", locks::keys::token(terms.repo)),
    ]);
    keys
}
