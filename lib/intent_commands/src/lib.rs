//! The commands of intents: `coord intent`, `map`, `why`, `verify`, `ledger` and `sync`.

pub mod intent;
pub mod ledger;
pub mod map;
pub mod sync;
pub mod verify;
pub mod why;
