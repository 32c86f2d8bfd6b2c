//! Locks on files: checks, claims and releases.

pub mod keys;
pub mod scripts;

mod check;
mod claim;
mod claimed_repositories;
mod live;
mod release;
mod request_keys;
mod survey;

pub use check::check_status;
pub use claim::{ClaimOutcome, Wanted, claim};
pub use claimed_repositories::ClaimedRepositories;
pub use live::{LiveLocks, live_locks};
pub use release::{Judged, Release, ReleaseOutcome, Released, Written, release};
pub use survey::{Direction, Finding, Held, Relation, Spelled, Survey};
