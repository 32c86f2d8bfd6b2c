//! Keys whose values may be lost in a crash.

use super::admission::keys::LIMITS;
use super::locks::keys::REFUSALS;

/// Whether nobody has to wait until a change of `key` is on the disk: what it holds may be lost in a crash.
pub fn is_expendable(key: &[u8]) -> bool {
    [LIMITS, REFUSALS]
        .iter()
        .any(|prefix| key.starts_with(prefix.as_bytes()))
}
