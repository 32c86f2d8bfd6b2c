//! All scripts of a build as one library of functions.

use std::sync::LazyLock;

use coord_library::{Part, Source};
use coord_store::script::Library;

use super::extension::registered;

/// Prefix of the names of Coord's libraries.
pub const PREFIX: &str = "coord";

/// The core's part.
static CORE: Part = include!(concat!(env!("OUT_DIR"), "/part.rs"));

/// The library of the core and of the extensions that are registered.
pub fn library() -> &'static Library {
    static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
        let extensions = registered().iter().map(|extension| &extension.lua);
        Library::of_parts(PREFIX, std::iter::once(&CORE).chain(extensions))
    });
    &LIBRARY
}
