//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Moves the seal, and drops the oldest sealed lines.
    SEAL_LEDGER = "seal_ledger", repeatable: true;
}
