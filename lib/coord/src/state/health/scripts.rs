//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Tests whether the store can be written.
    PROBE = "probe", repeatable: true;
}
