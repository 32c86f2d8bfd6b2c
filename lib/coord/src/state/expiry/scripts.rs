//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Notes that a repository is about to hold a lock.
    MARK_DUE = "mark_due", repeatable: true;
    /// Takes that back where nothing was locked.
    UNMARK_DUE = "unmark_due", repeatable: true;
    /// Takes the repositories in which something may have expired.
    TAKE_DUE = "take_due", repeatable: false;
    /// Ends the turn of a sweep at one repository.
    SETTLE_DUE = "settle_due", repeatable: false;
}
