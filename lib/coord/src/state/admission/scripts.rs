//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Lets a request in.
    ADMIT = "admit", repeatable: true;
}
