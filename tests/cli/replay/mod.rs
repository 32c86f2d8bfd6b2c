//! `cargo bench --bench replay`: its parts, and whole runs.

#[path = "../../../cli/benches/replay/bench/mod.rs"]
mod bench;

mod account;
mod branch;
mod clock;
mod conflicts;
mod history;
mod mode;
mod whole;
