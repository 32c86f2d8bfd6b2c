//! The ledger: recording lines, reading them with their chain, checkpoints, and records of files.

mod adoption;
mod checkpoint;
mod entries;
mod map;
mod newest_seal;
mod page;
mod record;
mod verify;

pub use checkpoint::checkpoint;
pub use map::{MapRequest, map, markdown};
pub use page::{LedgerRange, LedgerRequest, page};
pub use record::record;
pub use verify::verify;
