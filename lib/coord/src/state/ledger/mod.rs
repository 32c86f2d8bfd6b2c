//! The ledger: lines in the order in which scripts append them, and their chain, which is made in Rust.

pub mod keys;
