//! The scripts.

use crate::scripts::scripts;

scripts! {
    /// Moves the seal, and drops the oldest sealed lines.
    SEAL_LEDGER = "seal_ledger", repeatable: true;
}
