//! Intents: their registry, the files that they own, and the handshake of holders.

pub mod keys;
pub mod scripts;

mod allow;
mod owned;
mod question;
mod read;
mod record;
mod select;
mod status;
mod take_over;
mod usage;
mod write;

pub use allow::*;
pub use owned::*;
pub use question::ScopeQuestion;
pub use read::*;
pub use record::*;
pub use select::*;
pub use status::*;
pub use take_over::*;
pub use usage::*;
pub use write::*;

use crate::extensions::Extension;

/// The additions of intents and their ledger to the heart.
pub(crate) const EXTENSION: Extension = Extension {
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
