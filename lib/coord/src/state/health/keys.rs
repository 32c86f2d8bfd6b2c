//! What health writes.

/// string: when somebody last looked whether the store can be written.
pub const PROBE: &str = "coord:probe";
