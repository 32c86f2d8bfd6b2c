//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Shows whether the store can be written.
    PROBE = "probe", repeatable: true;
}
