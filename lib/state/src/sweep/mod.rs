//! Drops and announces the expired entries of one repository.

pub mod scripts;

mod expired;

pub use expired::*;
