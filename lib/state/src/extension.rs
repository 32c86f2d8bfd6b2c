//! The additions of an extension to the heart.

use super::admission::AdmissionTerms;
use super::named_keys::NamedKey;
use super::read::Read;
use coord_domain::RepoId;

/// KEYS of the functions of an extension in a request.
pub(crate) type SeamKeys = fn(&AdmissionTerms<'_>) -> Vec<NamedKey>;

/// The additions of an extension to the heart, beside its functions at the seams.
pub(crate) struct Extension {
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
