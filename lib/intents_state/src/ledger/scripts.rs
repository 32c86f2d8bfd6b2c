//! The scripts.

use coord_state::scripts;

scripts! {
    /// Appends a holder's actions.
    RECORD = "record", repeatable: false;
    /// Moves the seal, and drops the oldest sealed lines.
    SEAL_LEDGER = "seal_ledger", repeatable: true;
}
