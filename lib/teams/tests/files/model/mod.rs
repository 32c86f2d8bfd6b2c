//! The documented rules in memory, as simple as they can be, to compare scripts and recorded runs with. One team, no
//! leases, no clock.

mod messages;
mod shutdown;
mod tasks;
mod team;

pub use tasks::Edit;
pub use team::{Mail, ModelTask, Team};
