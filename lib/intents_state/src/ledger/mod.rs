//! The ledger: its lines in order, and the seal, which says where their chain begins and how far it goes. Scripts append
//! lines: `modules/append.lua`.

pub mod keys;
pub mod scripts;

mod lines;
mod record;
mod seal;

pub use lines::*;
pub use record::*;
pub use seal::*;
