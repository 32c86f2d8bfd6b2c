//! Connections to the state. A [`Store`] runs the scripts of `coord-state`: [`upstash`] (REST), [`redis`] (`redis://`,
//! `rediss://`), or the embedded store of `coord serve`.

mod backlog;
pub mod connect;
mod functions;
mod limits;
mod promises;
pub mod redis;
mod request;
mod round_trip;
pub mod script;
mod store;
mod timed;
mod unused_libraries;
pub mod upstash;
mod value;

pub use backlog::Backlog;
pub use limits::Limits;
pub use promises::{BrokenPromise, Promises};
pub use request::Request;
pub use script::{Library, Script};
pub use store::{Store, StoreError};
pub use timed::TimedStore;
pub use value::Value;
