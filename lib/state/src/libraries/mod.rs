//! All scripts of a build as one library of functions, and the libraries of other versions on the same store.

use std::sync::OnceLock;

use coord_library::{Part, Source};
use coord_store::script::Library;

use super::extension::{MOST_EXTENSIONS, registered};

/// Prefix of the names of Coord's libraries.
pub const PREFIX: &str = "coord";

/// The heart's part.
static HEART: Part = include!(concat!(env!("OUT_DIR"), "/part.rs"));

/// The library of the heart and of the extensions that are registered.
pub fn library() -> &'static Library {
    // By the number of extensions: a test may register one after its first call.
    static LIBRARIES: [OnceLock<Library>; MOST_EXTENSIONS + 1] = [const { OnceLock::new() }; MOST_EXTENSIONS + 1];
    let extensions: Vec<_> = registered().collect();
    LIBRARIES[extensions.len()].get_or_init(|| {
        let parts = extensions.iter().map(|extension| &extension.lua);
        Library::of_parts(PREFIX, std::iter::once(&HEART).chain(parts))
    })
}
