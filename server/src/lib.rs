//! Coord server.
