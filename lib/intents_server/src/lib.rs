//! Intents and their ledger, as an extension of the server.
//!
//! - [`Intents`]: the extension in an [`App`](coord_server::app::App); [`ENDPOINTS`]: its rows of the table of routes
//! - [`operations`]: intents, their acts and their costs; the ledger, and its records of files
//! - `gate`: the gate before checks and claims; `scopes`: judges which files an intent may change; `verdict`: the
//!   findings of the gate in words
//! - [`ledger`]: seals of ledgers; `config`: settings

pub mod config;
mod endpoint;
pub mod examples;
mod extension;
mod gate;
pub mod ledger;
pub mod operations;
mod registered;
mod scopes;
mod verdict;

pub use endpoint::{ENDPOINTS, INTENTS, IntentsQuery, LEDGER_VERIFY, LedgerQuery, documents};
pub use registered::Intents;
