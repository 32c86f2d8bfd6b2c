//! The additions of an extension to the core. A process registers the extensions of its build before it opens a store.

use std::sync::{Mutex, OnceLock};

use super::admission::AdmissionTerms;
use super::named_keys::NamedKey;
use super::read::Read;
use coord_domain::RepoId;
use coord_library::Part;
use coord_runtime::mutex::lock;
use coord_store::Script;

/// KEYS of the functions of an extension in a request.
pub type SeamKeys = fn(&AdmissionTerms<'_>) -> Vec<NamedKey>;

/// The additions of an extension to the core.
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
    pub sweep_keys: fn(&RepoId) -> Vec<NamedKey>,
    /// Whether it has something to finish once a repository is swept.
    pub read_unfinished: fn(&RepoId) -> Option<Read<bool>>,
    /// Prefixes of expendable keys: see [`super::is_expendable`].
    pub expendable: &'static [&'static str],
}

/// The extensions of this process, until its first call of the store.
static REGISTERED: Mutex<Vec<&Extension>> = Mutex::new(Vec::new());

/// The extensions of this process, from its first call of the store on.
static IN_USE: OnceLock<Vec<&Extension>> = OnceLock::new();

/// Adds `extension` to this process. Nothing changes if it was added before.
///
/// # Panics
/// When this process has called the store without it: the keys and the library of one call must agree.
pub fn register(extension: &'static Extension) {
    let mut registered = lock(&REGISTERED);
    if registered.iter().all(|other| other.name != extension.name) {
        let is_late = IN_USE.get().is_some();
        assert!(!is_late, "{} is registered after a call of the store", extension.name);
        registered.push(extension);
    }
}

/// The extensions of this process. After this call, none can be added.
pub fn registered() -> &'static [&'static Extension] {
    IN_USE.get().unwrap_or_else(|| {
        // Under the lock, so that none is added between the copy and its use.
        let registered = lock(&REGISTERED);
        IN_USE.get_or_init(|| registered.clone())
    })
}
