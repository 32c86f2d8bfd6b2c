//! Heads of branches: the newest commit that is known, and when somebody last looked.

pub mod keys;
pub mod scripts;

mod head;

pub use head::{
    FetchedHead, HeadChange, Pushed, PushedHead, fail_head, forget_head, push_head, record_head, stored_head,
};
