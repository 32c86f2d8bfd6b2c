//! Teams: every outcome of their scripts.

mod contention;
mod departures;
mod membership;
mod messages;
mod model;
mod tasks;
