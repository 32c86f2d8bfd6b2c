//! Locks on files: what stands in the way of a claim, claims and releases.

pub mod keys;
pub mod scripts;

mod claim;
mod live;
mod release;
mod request_keys;

pub use claim::{ClaimOutcome, Direction, Finding, Held, Relation, Spelled, Survey, Wanted, check_status, claim};
pub use live::{LiveLocks, live_locks};
pub use release::{Judged, Release, ReleaseOutcome, Released, Written, release};
