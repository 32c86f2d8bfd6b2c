use coord_protocol::plain_text::is_invisible;

use super::{Invalid, quote};

/// A branch, without `refs/heads/`. It is valid by `git check-ref-format --branch`, and has no invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Branch(String);

impl Branch {
    /// Maximum length of a name in bytes: file systems have the same limit for one name.
    pub const MAX_BYTES: usize = coord_protocol::bounds::BRANCH_BYTES;

    /// # Errors
    /// When git would refuse to create a branch of that name, it is longer than [`Branch::MAX_BYTES`], or it has a
    /// control, invisible or direction character. Messages to other agents quote branch names.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        if name.is_empty() {
            return Err(Invalid(
                "is empty; send the name of the branch, such as main".to_owned(),
            ));
        }
        if name.len() > Self::MAX_BYTES {
            return Err(Invalid(format!(
                "is {} bytes long; at most {} are allowed",
                name.len(),
                Self::MAX_BYTES
            )));
        }
        let full_name = format!("refs/heads/{name}");
        let is_valid = !name.starts_with('-')
            && name != "HEAD"
            && gix_validate::reference::name(full_name.as_str().into()).is_ok();
        if !is_valid {
            return Err(Invalid(format!("{} is not a valid git branch name", quote(name))));
        }
        if let Some(character) = name.chars().find(|character| is_invisible(*character)) {
            return Err(Invalid(format!(
                "{} has the character {}, which is invisible; rename the branch without it",
                quote(name),
                character.escape_unicode()
            )));
        }
        Ok(Branch(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Branch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_those_of_git() {
        for name in ["main", "feature/login", "a", "release-1.0", "größe", "a{b}", "@a"] {
            assert!(Branch::parse(name).is_ok(), "{name:?}");
        }
        for name in [
            "", "-x", "HEAD", "a b", "a..b", "a:b", "a~1", "a^", "a?", "a*", "a[b", "a\\b", "/a", "a/", "a//b", ".a",
            "a/.b", "a.lock", "a.", "a@{1}", "a\nb", "a\0b", "a\x7fb",
        ] {
            assert!(Branch::parse(name).is_err(), "{name:?}");
        }
        assert!(Branch::parse(&"x".repeat(256)).is_err());
    }

    #[test]
    fn files_that_others_would_not_see_are_refused_by_name() {
        for name in [
            "a\u{202e}b",
            "a\u{85}b",
            "\u{9b}31m",
            "a\u{200b}",
            "\u{feff}a",
            "a\u{2066}b",
            "a\u{2028}b",
            "a\u{200d}b",
        ] {
            let Err(Invalid(problem)) = Branch::parse(name) else {
                panic!("{name:?}");
            };
            assert!(problem.contains("which is invisible"), "{problem}");
        }
        let Err(Invalid(problem)) = Branch::parse("pool\u{202e}niam") else {
            panic!("it is refused");
        };
        let expected =
            "'pool\\u{202e}niam' has the character \\u{202e}, which is invisible; rename the branch without it";
        assert_eq!(problem, expected);
    }
}
