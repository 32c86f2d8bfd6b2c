//! All scripts of all aggregates as one library of functions, and the libraries of other versions on the same store.

use coord_store::script::Library;

/// Prefix of the names of Coord's libraries.
pub const PREFIX: &str = "coord";

/// All scripts, from `build.rs`.
pub static LIBRARY: Library = Library::new(
    PREFIX,
    include_str!(concat!(env!("OUT_DIR"), "/library.digest")),
    include_str!(concat!(env!("OUT_DIR"), "/library.lua")),
);
