//! The scripts.

use crate::scripts;

scripts! {
    /// Records the newest commit of a branch.
    RECORD_HEAD = "record_head", repeatable: true;
    /// Records that the head of a branch could not be fetched.
    FAIL_HEAD = "fail_head", repeatable: true;
    /// Records a push from a webhook delivery.
    PUSH_HEAD = "push_head", repeatable: true;
}
