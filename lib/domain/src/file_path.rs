//! Paths of files.

use std::borrow::Cow;

use coord_protocol::bounds;
use coord_protocol::plain_text::is_invisible;
use serde::Serialize;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::{Invalid, quote};

/// The path of a file, relative to the root of its repository, with `/` as separator. All spellings of a path are one
/// value, in Unicode NFC, in which `ö` is one character.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct FilePath(String);

impl FilePath {
    /// Maximum length of a path in bytes.
    pub const MAX_BYTES: usize = bounds::PATH_BYTES;

    /// Removes `./` and doubled slashes.
    ///
    /// # Errors
    /// When it is empty, absolute, too long or a directory, contains `..`, a backslash, or a control, invisible or
    /// direction character, or begins or ends with whitespace. An agent on Windows that sends `src\a.ts` must not get
    /// a lock besides the one on `src/a.ts`; whitespace at an end is a typing error.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let reject = |why: &str| Err(Invalid(format!("{} {why}", quote(text))));
        if text.is_empty() {
            return Err(Invalid(
                "has an empty path; send paths relative to the repository root".to_owned(),
            ));
        }
        let reject_length = |bytes: usize, form: &str| {
            let most = Self::MAX_BYTES;
            reject(&format!("is {bytes} bytes long{form}; at most {most} are allowed"))
        };
        if text.len() > Self::MAX_BYTES {
            return reject_length(text.len(), "");
        }
        if let Some(character) = find_invisible_character(text) {
            return reject(&format!(
                "has the character {}, which is invisible; send the path without it",
                character.escape_unicode()
            ));
        }
        if text.contains('\\') {
            return reject("has a backslash; separate folders with /");
        }
        if text.starts_with('/') || matches!(text.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic()) {
            return reject("is absolute; send paths relative to the repository root");
        }
        if text.ends_with('/') || text == "." || text.ends_with("/.") {
            return reject("is a directory; locks are held on files");
        }
        if text.split('/').any(|part| part == "..") {
            return reject("has '..'; send the path without it");
        }
        let parts: Vec<&str> = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let path = parts.join("/");
        if path.starts_with(char::is_whitespace) || path.ends_with(char::is_whitespace) {
            return reject("begins or ends with whitespace; send the path without it");
        }
        let path = to_nfc(&path).into_owned();
        // NFC can make a text up to three times as long.
        if path.len() > Self::MAX_BYTES {
            return reject_length(path.len(), " in Unicode NFC");
        }
        Ok(FilePath(path))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of the path.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// `path` as locks spell it: with composed characters, whatever form the caller's file system uses.
pub fn to_nfc(path: &str) -> Cow<'_, str> {
    if path.is_ascii() || is_nfc(path) {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(path.nfc().collect())
    }
}

/// The first character by which two paths could differ and look the same. A joiner is allowed after a visible character
/// that is not ASCII: it changes how emoji and some scripts look.
fn find_invisible_character(text: &str) -> Option<char> {
    let mut previous = ' ';
    text.chars().find(|character| {
        let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
        let is_invisible = is_invisible(*character) && !(is_joiner && !previous.is_ascii() && !is_invisible(previous));
        previous = *character;
        is_invisible
    })
}

impl std::fmt::Display for FilePath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The files of one request: 1 to 512, distinct, in the order given; or [`FilePaths::everything`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePaths(Vec<FilePath>);

impl FilePaths {
    /// Maximum number of files in one request.
    pub const MAX: usize = bounds::FILES;

    /// Maximum bytes of all paths together.
    pub const MAX_BYTES: usize = bounds::PATHS_BYTES;

    /// In a request, this means all files that the caller holds; a file of that name is `./*`.
    pub const EVERYTHING: &str = "*";

    /// All files that the caller holds on the branch, without naming them.
    pub fn everything() -> Self {
        FilePaths(Vec::new())
    }

    /// Whether they are [`Self::everything`].
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Parses the paths; spellings of the same file count once.
    ///
    /// # Errors
    /// When there are no paths, too many, or too many bytes of them, or one is not a [`FilePath`].
    pub fn parse<'a>(paths: impl ExactSizeIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let count = paths.len();
        let mut seen = std::collections::HashSet::new();
        let mut distinct_paths = Vec::with_capacity(count.min(Self::MAX));
        let mut bytes = 0;
        for text in paths {
            let path = FilePath::parse(text)?;
            if seen.insert(path.clone()) {
                if distinct_paths.len() == Self::MAX {
                    return Err(Invalid(format!(
                        "has {count} paths; at most {} distinct ones are allowed",
                        Self::MAX
                    )));
                }
                bytes += path.as_str().len();
                if bytes > Self::MAX_BYTES {
                    return Err(Invalid(format!(
                        "has more than {} bytes of paths; name fewer files in one request",
                        Self::MAX_BYTES
                    )));
                }
                distinct_paths.push(path);
            }
        }
        if distinct_paths.is_empty() {
            return Err(Invalid("is empty; name at least one file".to_owned()));
        }
        Ok(FilePaths(distinct_paths))
    }
}

impl std::ops::Deref for FilePaths {
    type Target = [FilePath];

    fn deref(&self) -> &[FilePath] {
        &self.0
    }
}

impl AsRef<str> for FilePath {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_file_are_one_path() {
        for text in ["src/a.ts", "./src/a.ts", "src//a.ts", "src/./a.ts", ".//src///a.ts"] {
            assert_eq!(FilePath::parse(text).unwrap().as_str(), "src/a.ts", "{text}");
        }
        let paths = FilePaths::parse(["a", "./a", "b"].into_iter()).unwrap();
        assert_eq!(paths.len(), 2);
    }

    #[test]
    fn a_path_outside_of_the_repository_is_refused() {
        for text in [
            "",
            ".",
            "./",
            "src/",
            "src/.",
            "/etc/passwd",
            "//a",
            "C:/a",
            "../a",
            "a/../a",
            "a/..",
            "a\0b",
            "src\\a.ts",
            "src/a.ts\n",
            "src/a.ts\n<src/b.ts",
            " src/a.ts",
            "src/a.ts ",
            "src/a.ts\u{a0}",
            "\u{feff}src/a.ts",
            "src/\tb",
            "src/\u{7f}",
            "src/\u{85}",
            "src/\u{202e}st.a",
            "src/\u{2028}a",
            "src/a\u{200b}.ts",
            "src/a\u{200d}b.ts",
            "src/\u{f6}\u{200d}\u{200d}.ts",
            "src/\u{2060}a.ts",
        ] {
            assert!(FilePath::parse(text).is_err(), "{text:?}");
        }
        assert!(FilePath::parse(&"a".repeat(4097)).is_err());
        assert!(FilePath::parse(&"a".repeat(4096)).is_ok());
        // 4,095 bytes, which are 8,190 in the form that is kept.
        let error = FilePath::parse(&"\u{fb2c}".repeat(1365)).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("is 8190 bytes long in Unicode NFC; at most 4096"),
            "{error}"
        );
        let longest = FilePath::parse(&"\u{fb2c}".repeat(682)).unwrap();
        assert_eq!(
            FilePath::parse(longest.as_str()),
            Ok(longest),
            "what is kept can be parsed again"
        );
        for text in [
            "..a",
            "a..",
            ".env",
            "a b",
            "größe.ts",
            "C:a",
            "...",
            "a:b",
            "\u{1f468}\u{200d}\u{1f469}.md",
            "\u{645}\u{6cc}\u{200c}\u{62e}.md",
        ] {
            assert!(FilePath::parse(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn composed_and_decomposed_characters_are_one_path() {
        let paths = FilePaths::parse(["src/gr\u{f6}\u{df}e.ts", "src/gro\u{308}\u{df}e.ts"].into_iter()).unwrap();
        assert_eq!(paths.len(), 1);
        assert_eq!(paths[0].as_str(), "src/größe.ts");
        // A character that NFC replaces, and blanks within a name, which are part of it.
        assert_eq!(FilePath::parse("a b/\u{2126}").unwrap().as_str(), "a b/\u{3a9}");
    }

    #[test]
    fn a_request_names_1_to_512_files() {
        assert!(FilePaths::parse(std::iter::empty::<&str>().collect::<Vec<_>>().into_iter()).is_err());
        let names: Vec<String> = (0..513).map(|number| format!("f{number}")).collect();
        assert!(FilePaths::parse(names.iter().map(String::as_str)).is_err());
        assert!(FilePaths::parse(names[..512].iter().map(String::as_str)).is_ok());
    }

    #[test]
    fn the_paths_of_a_request_have_at_most_64_kib_together() {
        let names: Vec<String> = (0..17).map(|number| format!("{number:04096}")).collect();
        assert!(FilePaths::parse(names[..16].iter().map(String::as_str)).is_ok());
        assert!(FilePaths::parse(names.iter().map(String::as_str)).is_err());
        // The same file twice counts once.
        let twice = names[..16].iter().chain(&names[..16]).map(String::as_str);
        assert!(FilePaths::parse(twice.collect::<Vec<_>>().into_iter()).is_ok());
    }
}
