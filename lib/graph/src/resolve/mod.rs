//! Specifier -> file. Pure and in memory: it sees the paths of a tree and what a few manifests say, never a disk.
//!
//! - [`javascript`]: JavaScript, TypeScript and the scripts of components
//! - [`python`]: Python and its stubs
//! - [`go`]: Go, package by package
//! - [`rust`]: Rust, along the tree of modules
//! - [`projects`]: what manifests say
//! - [`layouts`]: what else a resolver knows of the whole tree
//! - [`path_table`]: the paths, and which lookups an answer rests on

mod framework;
mod glob;
mod go;
mod javascript;
mod json;
mod layouts;
mod object_literal;
mod package;
mod path_table;
mod projects;
mod pyproject;
mod python;
mod python_stdlib;
mod rust;
mod symlinks;
mod tsconfig;
mod unbuilt;
mod workspace;

use std::borrow::Cow;
use std::collections::HashSet;

use super::FileId;
use super::language::{Family, Language};
use super::scan::Specifier;
pub(crate) use go::GO_MANIFESTS;
use javascript::Javascript;
pub(crate) use layouts::{Layouts, Tree};
use path_table::Trace;
pub(crate) use path_table::{Keys, PathTable};
pub(crate) use projects::{
    Context, JAVASCRIPT_MANIFESTS, ManifestForm, Manifests, PYTHON_MANIFESTS, Parsed, Projects, missing_configs,
    same_manifests,
};
pub use projects::{MAX_MANIFEST_BYTES, is_manifest};
pub(crate) use rust::RUST_MANIFESTS;
pub(crate) use symlinks::symlinks;

/// Where one specifier led.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
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
    pub(crate) outcomes: Box<[Outcome]>,
    /// Where one specifier leads to several files: those after the first, as (position of the specifier, file), sorted by
    /// position. Apart from the outcomes, because most languages have none.
    pub(crate) more: Box<[(u32, FileId)]>,
    /// The keys of all lookups, sorted.
    pub(crate) keys: Box<[u32]>,
}

/// Resolves in one tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolver<'a> {
    pub(crate) table: &'a PathTable,
    pub(crate) projects: &'a Projects,
    pub(crate) layouts: &'a Layouts,
}

/// What one thread keeps from file to file.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    trace: Trace,
    buffer: String,
    more: Vec<(u32, FileId)>,
    context: Option<(String, Context)>,
}

impl Resolver<'_> {
    /// Resolves all specifiers of the file `from`.
    pub(crate) fn resolve_file(
        &self,
        from: FileId,
        language: Language,
        specifiers: &[Specifier],
        scratch: &mut Scratch,
    ) -> Resolved {
        if specifiers.is_empty() {
            return Resolved::default();
        }
        scratch.trace.keys.clear();
        scratch.more.clear();
        let outcomes = match language.family() {
            Family::JavaScript => self.javascript(from, specifiers, scratch),
            Family::Python => self.python(from, specifiers, scratch),
            Family::Rust => self.rust(from, specifiers, scratch),
            Family::Go => self.go(from, specifiers, scratch),
        };
        scratch.trace.keys.sort_unstable();
        scratch.trace.keys.dedup();
        Resolved {
            outcomes: outcomes.into(),
            more: scratch.more.as_slice().into(),
            keys: scratch.trace.keys.as_slice().into(),
        }
    }

    fn javascript(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Outcome> {
        let path = self.table.path(from);
        let folder = path_table::folder(path);
        let context = match &scratch.context {
            Some((known, context)) if known == folder => context,
            _ => {
                let context = self.projects.context(path);
                let reusable = !self.projects.depends_on_name(path);
                // A folder cannot end in a slash, so that this key fits none.
                let key = if reusable { folder.to_owned() } else { "/".to_owned() };
                &scratch.context.insert((key, context)).1
            }
        };
        let mut javascript = Javascript {
            table: self.table,
            projects: self.projects,
            context,
            from: path,
            trace: &mut scratch.trace,
            buffer: &mut scratch.buffer,
        };
        let resolve = |specifier: &Specifier| javascript.resolve(&specifier.text, specifier.kind);
        specifiers.iter().map(resolve).collect()
    }

    fn python(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Outcome> {
        let path = self.table.path(from);
        let mut resolve = |specifier: &Specifier| {
            let name = specifier.name.as_deref();
            self.layouts
                .python
                .resolve(self.table, path, &specifier.text, name, &mut scratch.trace)
        };
        specifiers.iter().map(&mut resolve).collect()
    }

    fn rust(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Outcome> {
        let (crates, trace) = (&self.layouts.rust, &mut scratch.trace);
        each(specifiers, &mut scratch.more, |specifier| {
            crates.resolve(self.table, from, specifier, trace)
        })
    }

    fn go(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Outcome> {
        let (modules, trace) = (&self.layouts.go, &mut scratch.trace);
        // A package has its files from the first import on that leads to it, however many names lead there.
        let mut known = HashSet::new();
        each(specifiers, &mut scratch.more, |specifier| {
            let files = modules.resolve(self.table, from, specifier, trace)?;
            match files.first() {
                Some(first) if !known.insert(*first) => Ok(Cow::Owned(vec![*first])),
                _ => Ok(files),
            }
        })
    }
}

/// The outcome of each specifier, where each may lead to several files; those after the first go to `more`.
fn each<Files: AsRef<[FileId]>>(
    specifiers: &[Specifier],
    more: &mut Vec<(u32, FileId)>,
    mut resolve: impl FnMut(&Specifier) -> Result<Files, Reason>,
) -> Vec<Outcome> {
    let mut outcome = |(index, specifier): (u32, &Specifier)| match resolve(specifier).as_ref().map(AsRef::as_ref) {
        Ok([first, others @ ..]) => {
            more.extend(others.iter().map(|file| (index, *file)));
            Outcome::File(*first)
        }
        Ok([]) => Outcome::Unresolved(Reason::Missing),
        Err(reason) => Outcome::Unresolved(*reason),
    };
    (0..).zip(specifiers).map(&mut outcome).collect()
}
