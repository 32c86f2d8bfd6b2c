use super::{Invalid, quote};

/// A commit id, 7 to 64 hex digits, lower case; possibly abbreviated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct CommitSha(String);

impl CommitSha {
    /// # Errors
    /// When it is not 7 to 64 hex digits.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if !(7..=64).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Invalid(format!(
                "{} is not a commit id; send 7 to 64 hex digits, as `git rev-parse HEAD` prints",
                quote(text)
            )));
        }
        Ok(CommitSha(text.to_ascii_lowercase()))
    }

    /// Whether both can name the same commit: one is a prefix of the other.
    pub fn matches(&self, other: &CommitSha) -> bool {
        self.0.starts_with(&other.0) || other.0.starts_with(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first seven digits, for sentences.
    pub fn short(&self) -> &str {
        &self.0[..7]
    }
}

impl<'de> serde::Deserialize<'de> for CommitSha {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        CommitSha::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl std::fmt::Display for CommitSha {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abbreviation_matches_the_whole_id() {
        let whole = CommitSha::parse("ABC1234def5678901234567890123456789abcde").unwrap();
        assert!(whole.matches(&CommitSha::parse("abc1234").unwrap()));
        assert!(CommitSha::parse("abc1234").unwrap().matches(&whole));
        assert!(!whole.matches(&CommitSha::parse("abc1235").unwrap()));
    }

    #[test]
    fn only_hex_of_7_to_64_digits_is_a_commit() {
        for text in ["", "abc123", "abc123g", "HEAD", "abc1234...", &"a".repeat(65)] {
            assert!(CommitSha::parse(text).is_err(), "{text:?}");
        }
    }
}
