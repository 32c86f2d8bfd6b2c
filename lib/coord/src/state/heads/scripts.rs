//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// Notes the newest commit of a branch.
    RECORD_HEAD = "record_head", repeatable: true;
    /// Notes that the head of a branch could not be asked for.
    FAIL_HEAD = "fail_head", repeatable: true;
    /// Notes what a webhook tells of a push.
    PUSH_HEAD = "push_head", repeatable: true;
}
