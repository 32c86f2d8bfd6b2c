//! Histories of concurrent clients, and whether they can be true.
//!
//! - [`operation`]: a client's request, its time, and its answer
//! - [`recorder`]: clients over HTTP that note all of it
//! - [`log`]: the event log and the locks, as they are in the store
//! - [`model`]: locks, and when each event may happen, written from the rules, sharing nothing with the scripts
//! - [`rule`]: the rules that a history has to follow
//! - [`judge`]: holds the three against each other
//!
//! The event log names an order in which everything is said to have happened. The judge shows that the order keeps every
//! rule, that it agrees with real time (who was answered before another asked comes first), and that each answer is the one
//! that belongs to its place. That is what linearizable means.

pub mod judge;
pub mod log;
pub mod model;
pub mod operation;
pub mod queue;
pub mod recorder;
pub mod rule;
