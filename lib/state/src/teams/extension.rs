//! The additions of teams to the heart.

use super::keys;
use crate::extension::Extension;

/// The additions of teams to the heart.
pub(crate) const EXTENSION: Extension = Extension {
    keys: |terms| vec![("members", keys::members(terms.repo))],
    rare_keys: |_| Vec::new(),
    swept: crate::tasks::keys::swept,
    has_unfinished: |_| None,
    expendable: &[keys::SEEN],
};
