//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Drops and announces expired locks.
    SWEEP = "sweep", repeatable: false;
}
