//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Drops and announces what has expired.
    SWEEP = "sweep", repeatable: false;
}
