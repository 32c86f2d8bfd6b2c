//! The additions of an extension to the heart. A process registers the extensions of its build before it opens a store.

use std::sync::OnceLock;

use super::admission::AdmissionTerms;
use super::named_keys::NamedKey;
use super::read::Read;
use coord_domain::RepoId;
use coord_library::Part;
use coord_store::Script;

/// KEYS of the functions of an extension in a request.
pub type SeamKeys = fn(&AdmissionTerms<'_>) -> Vec<NamedKey>;

/// The additions of an extension to the heart.
pub struct Extension {
    pub name: &'static str,
    /// Its part of the library, with its functions at the seams.
    pub lua: Part,
    /// Its scripts, by aggregate.
    pub scripts: &'static [&'static [&'static Script]],
    /// KEYS of its functions in every request about locks.
    pub keys: SeamKeys,
    /// KEYS of its functions in the repositories that use it: see [`super::admission::RepositoryUses`].
    pub rare_keys: SeamKeys,
    /// KEYS of `seams/expiring` in a sweep.
    pub swept: fn(&RepoId) -> Vec<NamedKey>,
    /// Whether it has something to finish once a repository is swept.
    pub has_unfinished: fn(&RepoId) -> Option<Read<bool>>,
    /// Prefixes of expendable keys: see [`super::is_expendable`].
    pub expendable: &'static [&'static str],
}

/// More than a build has.
pub const MOST_EXTENSIONS: usize = 8;

static REGISTERED: [OnceLock<&Extension>; MOST_EXTENSIONS] = [const { OnceLock::new() }; MOST_EXTENSIONS];

/// Adds `extension` to this process. Nothing changes if it was added before.
///
/// # Panics
/// When there are more than [`MOST_EXTENSIONS`].
pub fn register(extension: &'static Extension) {
    let mut places = REGISTERED.iter();
    let is_there = places.any(|place| place.get_or_init(|| extension).name == extension.name);
    assert!(is_there, "more than {MOST_EXTENSIONS} extensions");
}

/// The extensions of this process.
pub fn registered() -> impl Iterator<Item = &'static Extension> {
    REGISTERED.iter().map_while(|place| place.get().copied())
}
