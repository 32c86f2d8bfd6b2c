//! Messages between members, which are read by a cursor.

pub mod scripts;

mod read;
mod send;

pub use read::*;
pub use send::*;
