//! Specifier -> file. Pure and in memory: resolvers see the paths of a tree and a few manifests, never a disk.
//!
//! From the ground up:
//!
//! - `paths`, `extension`, `keys`: paths as text; the keys of lookups, by which a later version finds out whether their
//!   results are still valid
//! - [`manifests`]: files with facts that paths lack
//! - `tracked_paths`, `symlinks`, [`path_table`]: the paths of a tree, links followed
//! - [`projects`]: the projects that the manifests of a tree describe together
//! - [`javascript`], [`python`], [`rust`], [`go`]: one resolver for each family of languages
//! - `tree_context`, [`layouts`]: a tree with its contents, and the knowledge that resolvers derive from it

pub(crate) mod keys;
pub(crate) mod layouts;
pub(crate) mod manifests;
pub(crate) mod path_table;
pub(crate) mod projects;
pub(crate) mod symlinks;
pub(crate) mod tree_context;

mod extension;
mod go;
mod javascript;
mod paths;
mod python;
mod rust;
mod tracked_paths;

use std::borrow::Cow;
use std::collections::HashSet;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use coord_scan::{Family, ImportKind, Language, Specifier};
use javascript::{Form, Importer};
use keys::Trace;
use layouts::Layouts;
use path_table::PathTable;
use paths::folder;
use projects::Projects;
use projects::context::Context;

use crate::file::FileId;
use crate::resolution::{Reason, Resolution, ResolvedSpecifiers};

/// Resolves specifiers in one tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolver<'a> {
    pub(crate) table: &'a PathTable,
    pub(crate) projects: &'a Projects,
    pub(crate) layouts: &'a Layouts,
}

/// State that one thread reuses from file to file.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    trace: Trace,
    buffer: String,
    extra_targets: Vec<(u32, FileId)>,
    context: Option<(String, Context)>,
}

/// The outcome of a specifier that is not tried, because its file has reached the bound on work.
const UNTRIED: Resolution = Resolution::Unresolved(Reason::Missing);

impl Resolver<'_> {
    /// Resolves all specifiers of the file `from`.
    pub(crate) fn resolve_file(
        &self,
        from: FileId,
        language: Language,
        specifiers: &[Specifier],
        scratch: &mut Scratch,
    ) -> ResolvedSpecifiers {
        if specifiers.is_empty() {
            return ResolvedSpecifiers::default();
        }
        let normalized = normalize(specifiers);
        let specifiers = normalized.as_deref().unwrap_or(specifiers);
        scratch.trace.begin();
        scratch.extra_targets.clear();
        let outcomes = match language.family() {
            Family::JavaScript => self.resolve_javascript(from, specifiers, scratch),
            Family::Python => self.resolve_python(from, specifiers, scratch),
            Family::Rust => self.resolve_rust(from, specifiers, scratch),
            Family::Go => self.resolve_go(from, specifiers, scratch),
        };
        scratch.trace.keys.sort_unstable();
        scratch.trace.keys.dedup();
        ResolvedSpecifiers {
            outcomes: outcomes.into(),
            extra_targets: scratch.extra_targets.as_slice().into(),
            keys: Some(scratch.trace.keys.as_slice().into()),
            work: u32::try_from(scratch.trace.work).unwrap_or(u32::MAX),
        }
    }

    fn resolve_javascript(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Resolution> {
        let path = self.table.path(from);
        let folder = folder(path);
        let context = match &scratch.context {
            Some((key, context)) if key == folder => context,
            _ => {
                let context = self.projects.context(path);
                let is_reusable = !self.projects.depends_on_name(path);
                // A folder cannot end in a slash, so this key matches no folder.
                let key = if is_reusable { folder } else { "/" }.to_owned();
                &scratch.context.insert((key, context)).1
            }
        };
        scratch.trace.charge(context.work);
        let mut importer = Importer {
            table: self.table,
            projects: self.projects,
            context,
            from: path,
            trace: &mut scratch.trace,
            buffer: &mut scratch.buffer,
            form: Form::default(),
            more_targets: Vec::new(),
        };
        let more = &mut scratch.extra_targets;
        // Patterns of one file may match the same files.
        let mut seen = HashSet::new();
        let resolve = |(index, specifier): (u32, &Specifier)| {
            if importer.trace.is_spent() {
                return UNTRIED;
            }
            if specifier.kind != ImportKind::Glob {
                let outcome = importer.resolve(specifier);
                more.extend(importer.more_targets.drain(..).map(|file| (index, file)));
                return outcome;
            }
            let files = match importer.files_of_glob(&specifier.text, specifier.name.as_deref()) {
                Ok(files) => files,
                Err(reason) => return Resolution::Unresolved(reason),
            };
            let first = files.first().copied();
            let mut fresh = files.into_iter().filter(|file| seen.insert(*file));
            let Some(first) = fresh.next().or(first) else {
                return UNTRIED;
            };
            more.extend(fresh.map(|file| (index, file)));
            Resolution::File(first)
        };
        (0..).zip(specifiers).map(resolve).collect()
    }

    fn resolve_python(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Resolution> {
        let (roots, path, trace) = (&self.layouts.python, self.table.path(from), &mut scratch.trace);
        let resolve = |specifier: &Specifier| {
            if trace.is_spent() {
                return UNTRIED;
            }
            roots.resolve(self.table, path, &specifier.text, specifier.name.as_deref(), trace)
        };
        specifiers.iter().map(resolve).collect()
    }

    fn resolve_rust(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Resolution> {
        resolve_each(specifiers, scratch, |specifier, trace| {
            self.layouts.rust.resolve(self.table, from, specifier, trace)
        })
    }

    fn resolve_go(&self, from: FileId, specifiers: &[Specifier], scratch: &mut Scratch) -> Vec<Resolution> {
        // Only the first import that leads to a package has all of its files as targets.
        let mut seen = HashSet::new();
        resolve_each(specifiers, scratch, |specifier, trace| {
            let files = self.layouts.go.resolve(self.table, from, specifier, trace)?;
            match files.first() {
                Some(first) if !seen.insert(*first) => Ok(Cow::Owned(vec![*first])),
                _ => Ok(files),
            }
        })
    }
}

/// `specifiers` in NFC, as paths are; `None` if they already are. Text that was written on a Mac may be decomposed.
fn normalize(specifiers: &[Specifier]) -> Option<Vec<Specifier>> {
    let is_composed = |text: &String| text.is_ascii() || is_nfc(text);
    let is_normal = |specifier: &Specifier| is_composed(&specifier.text) && specifier.name.iter().all(is_composed);
    let compose = |specifier: &Specifier| Specifier {
        text: specifier.text.nfc().collect(),
        name: specifier.name.as_ref().map(|name| name.nfc().collect()),
        ..*specifier
    };
    (!specifiers.iter().all(is_normal)).then(|| specifiers.iter().map(compose).collect())
}

/// The outcome of each specifier, which may lead to several files; the files after the first go to
/// `scratch.extra_targets`.
fn resolve_each<Files: AsRef<[FileId]>>(
    specifiers: &[Specifier],
    scratch: &mut Scratch,
    mut resolve: impl FnMut(&Specifier, &mut Trace) -> Result<Files, Reason>,
) -> Vec<Resolution> {
    let mut outcome = |(index, specifier): (u32, &Specifier)| {
        if scratch.trace.is_spent() {
            return UNTRIED;
        }
        match resolve(specifier, &mut scratch.trace).as_ref().map(AsRef::as_ref) {
            Ok([first, others @ ..]) => {
                scratch.extra_targets.extend(others.iter().map(|file| (index, *file)));
                Resolution::File(*first)
            }
            Ok([]) => Resolution::Unresolved(Reason::Missing),
            Err(reason) => Resolution::Unresolved(*reason),
        }
    };
    (0..).zip(specifiers).map(&mut outcome).collect()
}
