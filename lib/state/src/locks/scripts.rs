//! The scripts.

use crate::scripts;

scripts! {
    /// Finds the locks that block a request.
    CHECK_STATUS = "check_status", repeatable: true;
    /// Claims all of some files, or none.
    CLAIM = "claim", repeatable: false;
    /// Releases files.
    RELEASE = "release", repeatable: false;
    /// Force-releases others' locks.
    FORCE_RELEASE = "force_release", repeatable: false;
    /// Announces interfaces that changed although their claims promised to keep them.
    ANNOUNCE_INTERFACE_CHANGES = "announce_interface_changes", repeatable: false;
    /// Ends pending changes, or updates what is recorded about them.
    SETTLE_PENDING = "settle_pending", repeatable: true;
}
