//! `cargo bench --bench replay`: its parts, and whole runs.

mod account;
mod branch;
mod clock;
mod conflicts;
mod history;
mod mode;
mod whole;
