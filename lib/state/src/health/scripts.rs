//! The scripts.

use crate::scripts;

scripts! {
    /// Tests whether the store can be written.
    PROBE = "probe", repeatable: true;
}
