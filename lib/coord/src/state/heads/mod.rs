//! Heads of branches: the newest known commit, and the time of its last confirmation.

pub mod keys;
pub mod scripts;

mod head;

pub use head::{
    FetchedHead, HeadChange, Pushed, PushedHead, fail_head, forget_head, push_head, record_head, stored_head,
};
