//! The scripts.

use crate::scripts;

scripts! {
    /// Admits a request.
    ADMIT = "admit", repeatable: true;
    /// Counts lookups at the source.
    COUNT_LOOKUPS = "count_lookups", repeatable: true;
    /// Reads verdicts on credentials.
    RECALL_IDENTITIES = "recall_identities", repeatable: true;
}
