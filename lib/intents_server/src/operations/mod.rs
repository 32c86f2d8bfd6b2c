//! The operations on intents and on the ledger.

pub mod intents;
pub mod ledger;
