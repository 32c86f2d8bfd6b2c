//! The key of the health check.

/// string: time of the last test whether the store can be written.
pub const PROBE: &str = "coord:probe";
