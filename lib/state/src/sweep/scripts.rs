//! The scripts.

use crate::scripts;

scripts! {
    /// Drops and announces expired locks.
    SWEEP = "sweep", repeatable: false;
}
