//! A client over HTTP, for agents' tools and tests. Every call is bounded in time and in the size of its response.

mod events;
mod http;
mod intents;
mod ledger;
mod teams;

pub use events::{EventStream, StreamItem};
pub use http::{ActivityFilter, Client, ClientError, ClientSettings, GraphFilter, LocksFilter, SERVER_HEADER};
pub use intents::IntentsView;
pub use ledger::LedgerFilter;
pub use teams::{HistoryFilter, TaskFilter};
