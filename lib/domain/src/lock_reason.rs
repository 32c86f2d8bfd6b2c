use coord_protocol::plain_text::is_invisible;

use super::{FilePath, Invalid, plain_text};

/// The reason for a lock, which other agents read: one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockReason(String);

/// Words that do not say which work is done, or why.
const VAGUE_WORDS: [&str; 38] = [
    "a",
    "an",
    "and",
    "at",
    "change",
    "changes",
    "changing",
    "code",
    "edit",
    "editing",
    "edits",
    "file",
    "files",
    "fix",
    "fixing",
    "fixes",
    "i",
    "in",
    "is",
    "it",
    "making",
    "modify",
    "modifying",
    "my",
    "on",
    "refactor",
    "refactoring",
    "some",
    "stuff",
    "the",
    "this",
    "to",
    "touching",
    "update",
    "updates",
    "updating",
    "work",
    "working",
];

impl LockReason {
    /// Maximum number of characters after trimming.
    pub const MAX_CHARS: usize = coord_protocol::bounds::MESSAGE_CHARS;

    /// # Errors
    /// When nothing is left after trimming, or it is longer than [`LockReason::MAX_CHARS`].
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim_matches(|character: char| character.is_whitespace() || is_invisible(character));
        let length = text.chars().count();
        if length == 0 {
            return Err(Invalid(
                "is empty; say in one sentence what you are doing and why".to_owned(),
            ));
        }
        if length > Self::MAX_CHARS {
            return Err(Invalid(format!(
                "has {length} characters; at most {} are allowed",
                Self::MAX_CHARS
            )));
        }
        Ok(LockReason(plain_text(&text.replace(char::is_whitespace, " "))))
    }

    /// Whether the reason says no more than the names of the files: "Working on auth.ts".
    pub fn is_vague(&self, paths: &[FilePath]) -> bool {
        let mut rest = self.0.to_lowercase();
        let mut names: Vec<String> = paths
            .iter()
            .flat_map(|path| {
                let name = path.file_name().to_lowercase();
                let stem = name.split('.').next().unwrap_or_default().to_owned();
                [path.as_str().to_lowercase(), name, stem]
            })
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        for name in names {
            rest = rest
                .split(|c: char| !(c.is_alphanumeric() || "._-/".contains(c)))
                .filter(|word| word.trim_matches('.') != name)
                .collect::<Vec<_>>()
                .join(" ");
        }
        rest.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .all(|word| VAGUE_WORDS.contains(&word))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_only_names_the_file_is_vague() {
        let paths = [
            FilePath::parse("src/auth.ts").unwrap(),
            FilePath::parse("src/db.ts").unwrap(),
        ];
        for (text, vague) in [
            ("Working on auth.ts", true),
            ("working on src/auth.ts and src/db.ts.", true),
            ("auth", true),
            ("Editing the file", true),
            ("Refactoring auth", true),
            ("...", true),
            (
                "Refactoring authentication to use JWT tokens instead of sessions",
                false,
            ),
            ("Fix login redirect loop in auth.ts", false),
            ("登录修复", false),
        ] {
            assert_eq!(LockReason::parse(text).unwrap().is_vague(&paths), vague, "{text}");
        }
    }

    #[test]
    fn a_message_is_one_line_that_turns_no_text_around() {
        let message = LockReason::parse("Rewriting\nCONFLICT: \u{1b}[2K\u{202e}me").unwrap();
        assert_eq!(message.as_str(), "Rewriting CONFLICT: [2Kme");
        assert!(LockReason::parse("\u{202e}\u{200b}\u{7}").is_err());
    }

    #[test]
    fn a_message_has_1_to_500_characters_after_trimming() {
        assert!(LockReason::parse(" \n\t ").is_err());
        assert!(LockReason::parse(&format!("  {}  ", "ä".repeat(500))).is_ok());
        assert!(LockReason::parse(&"ä".repeat(501)).is_err());
    }
}
