//! The additions of teams to the core.

use super::{departures, messages, tasks, teams};
use coord_library::{Part, Source};
use coord_state::extension::Extension;

/// The additions of teams to the core.
pub static EXTENSION: Extension = Extension {
    name: "teams",
    lua: include!(concat!(env!("OUT_DIR"), "/part.rs")),
    scripts: include!(concat!(env!("OUT_DIR"), "/scripts.rs")),
    keys: |terms| vec![("members", teams::keys::members(terms.repo))],
    rare_keys: |_| Vec::new(),
    sweep_keys: tasks::keys::sweep_keys,
    read_unfinished: |_| None,
    expendable: &[teams::keys::SEEN],
};
