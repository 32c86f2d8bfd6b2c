//! The ledger of a repository. Scripts append lines: `includes/append.lua`.

pub mod keys;

mod lines;

pub use lines::*;
