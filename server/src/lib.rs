//! Coord server.

pub mod upstash_listen;
