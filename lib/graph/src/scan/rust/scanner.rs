//! The state of a scan, and its findings before their names are looked up.

use crate::scan::rust::scope;
use crate::scan::rust::scope::Scopes;
use crate::scan::rust::trivia::skip;
use crate::specifier::Specifier;

/// A finding, before its names are looked up.
#[derive(Debug)]
pub(super) enum Form {
    /// `mod name;`: the path from the file's module on, and the value of `#[path]`.
    Module(String, Option<String>),
    /// A leaf of `use`.
    Use(String),
    /// A path elsewhere, without its last name.
    Path(String),
    /// An included file.
    Include(String),
}

#[derive(Debug)]
pub(super) struct Found {
    pub(super) position: usize,
    pub(super) scope: u32,
    pub(super) form: Form,
}

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
    pub(super) pending: Vec<Found>,
    pub(super) found: &'f mut Vec<Specifier>,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends specifiers to `found`.
    pub(super) fn new(text: &'t [u8], found: &'f mut Vec<Specifier>) -> Self {
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
            pending: Vec::new(),
            found,
        }
    }

    pub(super) fn note(&mut self, position: usize, form: Form) {
        self.pending.push(Found {
            position,
            scope: self.scope,
            form,
        });
    }
}
