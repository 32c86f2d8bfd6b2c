//! The scripts.

use crate::scripts;

scripts! {
    /// Surveys the locks that block.
    CHECK_STATUS = "check_status", repeatable: true;
    /// Claims all of some files, or none.
    CLAIM = "claim", repeatable: false;
    /// Releases files.
    RELEASE = "release", repeatable: false;
    /// Takes others' locks away.
    FORCE_RELEASE = "force_release", repeatable: false;
    /// Announces interfaces that changed, although they were to be kept.
    ANNOUNCE_INTERFACE_CHANGES = "announce_interface_changes", repeatable: false;
    /// Ends pending changes, or numbers them.
    SETTLE_PENDING = "settle_pending", repeatable: true;
}
