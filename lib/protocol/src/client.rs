//! A client over HTTP, for agents' tools and tests. Every call is bounded in time and in the size of its response.

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
pub use intents::IntentsView;
pub use ledger::LedgerFilter;
pub use teams::{HistoryFilter, TaskFilter};
