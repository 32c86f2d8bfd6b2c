//! The scripts.

use crate::scripts;

scripts! {
    /// Puts a repository on the due list before a lock is held in it.
    MARK_DUE = "mark_due", repeatable: true;
    /// Removes it again if nothing was locked.
    UNMARK_DUE = "unmark_due", repeatable: true;
    /// Leases the repositories in which a lock may have expired.
    TAKE_DUE = "take_due", repeatable: false;
    /// Ends a sweep of one repository.
    SETTLE_DUE = "settle_due", repeatable: false;
}
