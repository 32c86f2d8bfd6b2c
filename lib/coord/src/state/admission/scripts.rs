//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Admits a request.
    ADMIT = "admit", repeatable: true;
}
