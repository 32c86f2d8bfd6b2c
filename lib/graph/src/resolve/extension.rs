//! Extensions that an import may omit or replace, and the files that differ only in them.

use crate::file::{FileId, NO_FILE};

/// Extensions that an import may omit or replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Extension {
    Ts,
    Tsx,
    Dts,
    Mts,
    Dmts,
    Cts,
    Dcts,
    Js,
    Jsx,
    Mjs,
    Cjs,
    Py,
    Pyi,
}

impl Extension {
    const COUNT: usize = 13;

    /// The path without its extension, and the extension, if it is one of these.
    pub(crate) fn split(path: &str) -> Option<(&str, Extension)> {
        let bytes = path.as_bytes();
        let dot = memchr::memrchr2(b'.', b'/', bytes).filter(|at| bytes[*at] == b'.')?;
        // A name whose only dot is its first character has no extension.
        let is_name = |stem: &str| !stem.is_empty() && !stem.ends_with('/');
        let stem = Some(&path[..dot]).filter(|stem| is_name(stem))?;
        let declaration = |plain, declared| match stem.strip_suffix(".d") {
            Some(shorter) if is_name(shorter) => (shorter, declared),
            _ => (stem, plain),
        };
        Some(match &path[dot + 1..] {
            "ts" => declaration(Extension::Ts, Extension::Dts),
            "mts" => declaration(Extension::Mts, Extension::Dmts),
            "cts" => declaration(Extension::Cts, Extension::Dcts),
            "tsx" => (stem, Extension::Tsx),
            "js" => (stem, Extension::Js),
            "jsx" => (stem, Extension::Jsx),
            "mjs" => (stem, Extension::Mjs),
            "cjs" => (stem, Extension::Cjs),
            "py" => (stem, Extension::Py),
            "pyi" => (stem, Extension::Pyi),
            _ => return None,
        })
    }
}

/// The files that have the same path apart from the extension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Siblings([FileId; Extension::COUNT]);

impl Default for Siblings {
    fn default() -> Self {
        Siblings([NO_FILE; Extension::COUNT])
    }
}

impl Siblings {
    pub(crate) fn set(&mut self, extension: Extension, file: FileId) {
        self.0[extension as usize] = file;
    }

    /// The first of `order` that exists.
    pub(crate) fn first(&self, order: &[Extension]) -> Option<FileId> {
        order
            .iter()
            .map(|extension| self.0[*extension as usize])
            .find(|file| *file != NO_FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_split_off_and_a_dotfile_has_none() {
        assert_eq!(Extension::split("a/b.d.ts"), Some(("a/b", Extension::Dts)));
        assert_eq!(Extension::split("a/b.test.ts"), Some(("a/b.test", Extension::Ts)));
        assert_eq!(Extension::split("a/.d.ts"), Some(("a/.d", Extension::Ts)));
        assert_eq!(Extension::split("a.b/.ts"), None);
        assert_eq!(Extension::split("a.b/c"), None);
        assert_eq!(Extension::split("x.json"), None);
    }
}
