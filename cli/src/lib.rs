//! The commands of the binary `coord`.
//!
//! - [`cli`], [`manual`], [`serve`], [`signals`], [`banner`], [`announcement`]: the command line, starting and stopping, what a person sees
//! - [`listen`], [`listen_address`], [`local_guard`], [`page`]: connections, who may connect, the web page
//! - [`sources`]: what is read
//! - [`graph_command`]: `coord graph`
//! - [`upstash_listen`]: the store offered on a port

pub mod announcement;
pub mod banner;
pub mod cli;
pub mod fetch;
pub mod graph_command;
pub mod listen;
pub mod listen_address;
pub mod local_guard;
pub mod manual;
pub mod page;
pub mod serve;
pub mod signals;
pub mod sources;
pub mod upstash_listen;
