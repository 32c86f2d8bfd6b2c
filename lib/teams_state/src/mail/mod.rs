//! The order of the messages of a team, and their delivery by scripts: `modules/deliver.lua`.

pub mod keys;
