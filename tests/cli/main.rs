//! The binary `coord` as a process.
#![cfg(unix)]

mod contest;
mod crash;
mod graph_command;
mod policy;
mod replay;
mod soak;
mod starting;
mod store;

/// Where it is.
const COORD: &str = env!("CARGO_BIN_EXE_coord");
