//! The order of the messages of a team, and their delivery by scripts: `includes/deliver.lua`.

pub mod keys;
