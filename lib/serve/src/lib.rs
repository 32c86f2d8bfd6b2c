//! `coord serve`: everything on one machine.
//!
//! - `args`, `run`, `server`: the options; start and shutdown; the parts of a server
//! - `store`, `sources`, `joined_clones`: the store of the state, the repositories, and their other clones
//! - [`listen`], `listen_address`, [`local_guard`], `own_requests`, `page`: connections, permitted hosts, requests for
//!   another server, the web page
//! - `banner`: output for the user
//! - `syncing`, `sync_changes`: keeping the files of `.orchestration/` current
//! - [`fetch`], `idle`: fetching clones; ending an idle server

mod args;
mod banner;
pub mod fetch;
mod idle;
mod joined_clones;
pub mod listen;
mod listen_address;
pub mod local_guard;
mod own_requests;
mod page;
mod run;
mod server;
mod sources;
mod store;
#[cfg(feature = "intents")]
mod sync_changes;
#[cfg(feature = "intents")]
mod syncing;

pub use args::ServeArgs;
pub use coord_extensions::register_state;
pub use server::{Server, build};
