//! The key of the health check.

/// string: time of the last test write.
pub const PROBE: &str = "coord:probe";
