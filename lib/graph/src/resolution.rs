//! The target of a specifier: a file, or none for a reason.

use crate::file::FileId;
use crate::resolve::keys::MAX_FILE_WORK;

/// The target of one specifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// A tracked file, which may be the importing file itself.
    File(FileId),
    /// No tracked file.
    Unresolved(Reason),
}

impl Resolution {
    /// `file`, or no file for `reason`.
    pub(crate) fn of(file: Option<FileId>, reason: Reason) -> Self {
        file.map_or(Resolution::Unresolved(reason), Resolution::File)
    }
}

/// Why a specifier has no tracked file as its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A package or module that is not in the repository.
    External,
    /// A path, an alias or a relative module that names no tracked file.
    Missing,
    /// A relative path that leads out of the repository.
    OutsideRepository,
    /// A package of the repository that has no entry of that name.
    NoEntry,
    /// A Python folder without `__init__`: there is no file to point at.
    Namespace,
    /// No specifier at all: empty or malformed.
    Invalid,
}

impl Reason {
    /// Every reason, in order.
    pub const ALL: [Reason; 6] = [
        Reason::External,
        Reason::Missing,
        Reason::OutsideRepository,
        Reason::NoEntry,
        Reason::Namespace,
        Reason::Invalid,
    ];

    /// Lower-case name, as on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Reason::External => "external",
            Reason::Missing => "missing",
            Reason::OutsideRepository => "outside_repository",
            Reason::NoEntry => "no_entry",
            Reason::Namespace => "namespace",
            Reason::Invalid => "invalid",
        }
    }

    /// A sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Reason::External => "a package or module that is not in the repository",
            Reason::Missing => "a path, an alias or a relative module that names no tracked file",
            Reason::OutsideRepository => "a relative path that leads out of the repository",
            Reason::NoEntry => "a package of the repository that offers nothing of that name",
            Reason::Namespace => "a folder without __init__.py, where there is no file to point at",
            Reason::Invalid => "empty or malformed",
        }
    }
}

/// The targets of the specifiers of one file, and the keys of the lookups for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ResolvedSpecifiers {
    /// One target for each specifier, in order.
    pub(crate) outcomes: Box<[Resolution]>,
    /// Targets beyond the first of a specifier: (position of the specifier, file), sorted by position. They are
    /// separate from the outcomes, because most languages have none.
    pub(crate) extra_targets: Box<[(u32, FileId)]>,
    /// The keys of all lookups, sorted. `None` if the graph has no room for them. Then every update with any change
    /// resolves the file again.
    pub(crate) keys: Option<Box<[u32]>>,
    /// The work for resolving the file.
    pub(crate) work: u32,
}

impl ResolvedSpecifiers {
    /// Whether some imports are not resolved, because the file took too much work.
    pub(crate) fn is_cut(&self) -> bool {
        self.work as usize >= MAX_FILE_WORK
    }
}
