//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// What stands in the way.
    CHECK_STATUS = "check_status", repeatable: true;
    /// All of some files, or none.
    CLAIM = "claim", repeatable: false;
    /// Gives files back.
    RELEASE = "release", repeatable: false;
}
