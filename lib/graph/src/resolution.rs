//! Where a specifier leads: to a file, or to none for a reason.

use crate::file::FileId;

/// Where one specifier led.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// To a tracked file, which may be the importing file itself.
    File(FileId),
    /// To none.
    Unresolved(Reason),
}

/// Why a specifier led to no tracked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A package or module that is not in the repository.
    External,
    /// A path, an alias or a relative module that names no tracked file.
    Missing,
    /// A relative path that leads out of the repository.
    OutsideRepository,
    /// A package of the repository that offers nothing of that name.
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

    /// Lower-case name, as the wire has it.
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

    /// The same for people.
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

/// Where the specifiers of one file led, and what that rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resolved {
    /// One for each specifier, in order.
    pub(crate) outcomes: Box<[Resolution]>,
    /// Where one specifier leads to several files: those after the first, as (position of the specifier, file), sorted by
    /// position. Apart from the outcomes, because most languages have none.
    pub(crate) more: Box<[(u32, FileId)]>,
    /// The keys of all lookups, sorted.
    pub(crate) keys: Box<[u32]>,
}
