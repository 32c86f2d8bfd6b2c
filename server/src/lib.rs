//! Coord on one machine: the server behind the binary `coord`.
//!
//! - [`cli`], [`banner`]: the command line, what a person sees
//! - [`listen`], [`local_guard`], [`page`]: connections, who may connect, the web page
//! - [`git_source`]: repositories on disk
//! - [`upstash_listen`]: the store offered on a port

pub mod banner;
pub mod cli;
pub mod git_source;
pub mod listen;
pub mod local_guard;
pub mod page;
pub mod upstash_listen;
