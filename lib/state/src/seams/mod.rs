//! The places at which extensions add to the requests of the heart, as Lua modules: see `modules`; and what they answer there.
//!
//! - `gate`: the gate before checks and claims ([`crate::locks::GateFindings`])
//! - `waiting`: what waits for the caller, in answers ([`Membership`]); `offered`: alternatives for a caller whose files are blocked
//! - `expiring`: what else than locks expires ([`crate::sweep`])

mod waiting;

pub use waiting::{EVERYBODY, Membership, PendingShutdown, Waiting};
