//! The additions of teams to the heart.

use super::teams::keys;
use coord_library::{Part, Source};
use coord_state::extension::Extension;

/// The additions of teams to the heart.
pub static EXTENSION: Extension = Extension {
    name: "teams",
    lua: include!(concat!(env!("OUT_DIR"), "/part.rs")),
    scripts: crate::SCRIPTS,
    keys: |terms| vec![("members", keys::members(terms.repo))],
    rare_keys: |_| Vec::new(),
    swept: crate::tasks::keys::swept,
    has_unfinished: |_| None,
    expendable: &[keys::SEEN],
};
