//! `coord serve`: everything on one machine.
//!
//! - `args`, `run`, `server`: the options; starting and stopping; what a server consists of
//! - `store`, `sources`: where the state is kept, and what is read
//! - [`listen`], `listen_address`, [`local_guard`], `page`: connections, who may connect, the web page
//! - `banner`, `announcement`: what a person sees, and a second process
//! - [`fetch`], `signals`: fetching clones, being told to stop
//! - [`upstash_listen`]: the store offered on a port

mod announcement;
mod args;
mod banner;
pub mod fetch;
pub mod listen;
mod listen_address;
pub mod local_guard;
mod page;
mod run;
mod server;
mod signals;
mod sources;
mod store;
pub mod upstash_listen;

pub use args::ServeArgs;
pub use server::{Server, build};
