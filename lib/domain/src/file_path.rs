//! Paths of files.

use coord_protocol::bounds;
use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use coord_protocol::plain_text::is_unseen;

use super::{Invalid, quote};

/// The path of a file, relative to the root of its repository, with `/` as separator. Spellings of one path are one value:
/// Unicode's form NFC, in which `ö` is one character.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath(String);

impl FilePath {
    /// Maximum length of a path in bytes.
    pub const MAX_BYTES: usize = bounds::PATH_BYTES;

    /// Removes `./` and doubled slashes.
    ///
    /// # Errors
    /// When it is empty, absolute, too long or a directory, contains `..`, a backslash, or a control, invisible or direction
    /// character, or has a blank at its ends. An agent on Windows that sends `src\a.ts` must not get another lock than the
    /// one on `src/a.ts`; a blank at the ends is a typing error.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = |why: &str| Err(Invalid(format!("{} {why}", quote(text))));
        if text.is_empty() {
            return Err(Invalid(
                "has an empty path; send paths relative to the repository root".to_owned(),
            ));
        }
        let too_long = |bytes: usize, form: &str| {
            let most = Self::MAX_BYTES;
            refused(&format!("is {bytes} bytes long{form}; at most {most} are allowed"))
        };
        if text.len() > Self::MAX_BYTES {
            return too_long(text.len(), "");
        }
        if let Some(character) = invisible_character(text) {
            return refused(&format!(
                "has the character {}, which is invisible; send the path without it",
                character.escape_unicode()
            ));
        }
        if text.contains('\\') {
            return refused("has a backslash; separate folders with /");
        }
        if text.starts_with('/') || matches!(text.as_bytes(), [drive, b':', b'/', ..] if drive.is_ascii_alphabetic()) {
            return refused("is absolute; send paths relative to the repository root");
        }
        if text.ends_with('/') || text == "." || text.ends_with("/.") {
            return refused("is a directory; locks are held on files");
        }
        if text.split('/').any(|part| part == "..") {
            return refused("has '..'; send the path without it");
        }
        let folded: Vec<&str> = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let folded = folded.join("/");
        if folded.starts_with(char::is_whitespace) || folded.ends_with(char::is_whitespace) {
            return refused("begins or ends with white space; send the path without it");
        }
        let path = to_nfc(&folded).into_owned();
        // NFC makes some texts longer, up to three times.
        if path.len() > Self::MAX_BYTES {
            return too_long(path.len(), " in Unicode's form NFC");
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

/// `path` in the spelling of locks: with composed characters, whatever the file system of its origin uses.
pub fn to_nfc(path: &str) -> Cow<'_, str> {
    if path.is_ascii() || is_nfc(path) {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(path.nfc().collect())
    }
}

/// The first character by which two paths could differ and look the same. Joiners change what they stand behind in scripts that
/// have them, and in emoji.
fn invisible_character(text: &str) -> Option<char> {
    let mut before = ' ';
    text.chars().find(|character| {
        let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
        let is_refused = is_unseen(*character) && !(is_joiner && !before.is_ascii() && !is_unseen(before));
        before = *character;
        is_refused
    })
}

impl std::fmt::Display for FilePath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The files of one request: 1 to 512, distinct, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePaths(Vec<FilePath>);

impl FilePaths {
    /// Maximum number of files in one request.
    pub const MAX: usize = bounds::FILES;

    /// Maximum bytes of all paths together.
    pub const MAX_BYTES: usize = bounds::PATHS_BYTES;

    /// Stands in a request for all files that the caller holds; a file of that name is `./*`.
    pub const EVERYTHING: &str = "*";

    /// No named files, but all that the caller holds on the branch.
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
    /// When there are none, too many or too long ones, or one is not a [`FilePath`].
    pub fn parse<'a>(paths: impl ExactSizeIterator<Item = &'a str>) -> Result<Self, Invalid> {
        let given = paths.len();
        let mut seen = std::collections::HashSet::new();
        let mut distinct = Vec::with_capacity(given.min(Self::MAX));
        let mut bytes = 0;
        for text in paths {
            let path = FilePath::parse(text)?;
            if seen.insert(path.clone()) {
                if distinct.len() == Self::MAX {
                    return Err(Invalid(format!(
                        "has {given} paths; at most {} distinct ones are allowed",
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
                distinct.push(path);
            }
        }
        if distinct.is_empty() {
            return Err(Invalid("is empty; name at least one file".to_owned()));
        }
        Ok(FilePaths(distinct))
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
                .contains("is 8190 bytes long in Unicode's form NFC; at most 4096"),
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
