//! An HTTP client for agents' tools and tests. It bounds the time of every call and the size of its response.

mod error;
mod events;
mod http;
mod intents;
mod ledger;
mod response;
mod teams;

pub use error::ClientError;
pub use events::{EventStream, StreamItem};
pub use http::{ActivityFilter, Client, ClientSettings, GraphFilter, LocksFilter, SERVER_HEADER};
pub use ledger::LedgerFilter;
pub use teams::{HistoryFilter, TaskFilter};
