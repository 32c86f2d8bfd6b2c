//! Keys about the libraries of functions of a store.

/// Exists while a library is in use: set by each process that calls it, at most once a day.
pub fn used(library: &str) -> String {
    format!("coord:library:{library}")
}

/// Exists for a day after unused libraries were looked for.
pub const SWEPT: &str = "coord:libraries:swept";
