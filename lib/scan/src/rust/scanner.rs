//! The state of a scan, and its findings before their names are looked up.

use crate::findings::{BYTES_PER_WEIGHT, Findings, Weighted};
use crate::rust::scope;
use crate::rust::scope::Scopes;
use crate::rust::trivia::skip;

/// A finding, before its names are looked up.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// `mod name;`: the path from the file's module on, and the value of `#[path]`.
    Module(String, Option<String>),
    /// A leaf of `use`.
    Use(String),
    /// A path elsewhere, without its last name.
    Path(String),
    Include(String),
    /// `extern crate` in the file's own module: another name for a crate, and its path.
    CrateAlias(String, String),
}

/// A finding with its position and its scope.
#[derive(Debug)]
pub(super) struct PendingSpecifier {
    pub(super) position: usize,
    pub(super) scope: u32,
    pub(super) form: Form,
}

impl Weighted for PendingSpecifier {
    type Key<'a> = (u32, &'a Form);

    fn weight(&self) -> usize {
        let bytes = match &self.form {
            Form::Use(text) | Form::Path(text) | Form::Include(text) | Form::Module(text, None) => text.len(),
            Form::Module(text, Some(path)) | Form::CrateAlias(text, path) => text.len() + path.len(),
        };
        1 + bytes / BYTES_PER_WEIGHT
    }

    fn key(&self) -> Self::Key<'_> {
        (self.scope, &self.form)
    }
}

/// Most braces that are open at once, and most `path` attributes of one item.
const MAX_OPEN: usize = 1 << 16;
/// Most pairs of braces of one file that can bind names: four times as many as 4 MiB of code have.
const MAX_SCOPES: usize = 1 << 18;
/// Most inline modules of one file.
const MAX_MODULES: usize = 1 << 14;

/// An open brace: the scope around it, and whether braces directly inside bind their names outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) outer: u32,
    pub(super) is_conditional: bool,
}

/// A scan of one text.
pub(super) struct Scanner<'t, 'f> {
    pub(super) text: &'t [u8],
    pub(super) position: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) scope: u32,
    pub(super) scopes: Scopes<'t>,
    /// Values of `path` attributes since the last item, and whether each depends on a condition.
    pub(super) paths: Vec<(&'t str, bool)>,
    /// Whether the last attribute began with `cfg_attr`.
    pub(super) is_conditional: bool,
    pub(super) pending: Findings<PendingSpecifier>,
    pub(super) findings: &'f mut Findings,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends specifiers to `findings`.
    pub(super) fn new(text: &'t [u8], findings: &'f mut Findings) -> Self {
        let mut position = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let is_attribute = text.get(skip(text, position + 2)) == Some(&b'[');
        if text[position..].starts_with(b"#!") && !is_attribute {
            position = memchr::memchr(b'\n', text).unwrap_or(text.len());
        }
        Scanner {
            text,
            position,
            frames: Vec::new(),
            scope: scope::FILE,
            scopes: Scopes::new(),
            paths: Vec::new(),
            is_conditional: false,
            pending: Findings::default(),
            findings,
        }
    }

    /// Adds a finding in the current scope.
    pub(super) fn add(&mut self, position: usize, form: Form) {
        self.pending.push(PendingSpecifier {
            position,
            scope: self.scope,
            form,
        });
    }

    /// Whether the scan has reached a bound: it keeps no more findings, open braces, scopes or modules of this file.
    pub(super) fn is_full(&mut self) -> bool {
        let (scopes, modules) = self.scopes.sizes();
        if self.frames.len().max(self.paths.len()) > MAX_OPEN || scopes > MAX_SCOPES || modules > MAX_MODULES {
            self.pending.stop_collecting();
        }
        self.pending.is_full()
    }
}
