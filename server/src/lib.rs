//! Coord server.

pub mod git_source;
