//! The additions of intents and their ledger to the core.

use super::{intents, ledger};
use coord_library::{Part, Source};
use coord_state::extension::Extension;

/// The additions of intents and their ledger to the core.
pub static EXTENSION: Extension = Extension {
    name: "intents",
    lua: include!(concat!(env!("OUT_DIR"), "/part.rs")),
    scripts: include!(concat!(env!("OUT_DIR"), "/scripts.rs")),
    keys: |_| Vec::new(),
    rare_keys: |terms| {
        let (repo, holder) = (terms.repo, terms.holder);
        vec![
            ("intents", intents::keys::intents(repo)),
            ("intent_texts", intents::keys::intent_texts(repo)),
            ("intent_use", intents::keys::intent_use(repo)),
            ("owners", intents::keys::owners(repo)),
            ("sessions", intents::keys::sessions(repo, holder)),
            ("ledger", ledger::keys::ledger(repo)),
            ("traces", ledger::keys::traces(repo)),
        ]
    },
    sweep_keys: |_| Vec::new(),
    read_unfinished: |repo| Some(ledger::has_unsealed_lines(repo)),
    expendable: &[],
};
