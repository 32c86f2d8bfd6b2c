//! The additions of intents and their ledger to the heart.

use super::intents::keys;
use coord_library::{Part, Source};
use coord_state::extension::Extension;

/// The additions of intents and their ledger to the heart.
pub static EXTENSION: Extension = Extension {
    name: "intents",
    lua: include!(concat!(env!("OUT_DIR"), "/part.rs")),
    scripts: crate::SCRIPTS,
    keys: |_| Vec::new(),
    rare_keys: |terms| {
        let (repo, holder) = (terms.repo, terms.holder);
        vec![
            ("intents", keys::intents(repo)),
            ("intent_texts", keys::intent_texts(repo)),
            ("intent_use", keys::intent_use(repo)),
            ("owners", keys::owners(repo)),
            ("sessions", keys::sessions(repo, holder)),
            ("ledger", crate::ledger::keys::ledger(repo)),
            ("traces", crate::ledger::keys::traces(repo)),
        ]
    },
    swept: |_| Vec::new(),
    has_unfinished: |repo| Some(crate::ledger::has_unsealed_lines(repo)),
    expendable: &[],
};
