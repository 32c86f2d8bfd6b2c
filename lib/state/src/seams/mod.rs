//! The places at which extensions add to the requests of the core, as Lua modules: see `modules`; and their answers there.
//!
//! - `gate`: the gate before checks and claims ([`crate::locks::GateFindings`])
//! - `waiting`: pending items for the caller, in answers ([`Membership`]); `offered`: alternatives for a caller whose files are blocked
//! - `expiring`: records other than locks that expire ([`crate::sweep`])

mod waiting;

pub use waiting::{EVERYBODY, Membership, PendingShutdown, Waiting};
