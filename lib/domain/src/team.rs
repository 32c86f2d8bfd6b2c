//! Names in teams.

use serde::Serialize;

use super::{Invalid, quote};

/// The name of a team. Case does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamName {
    text: String,
    key: String,
}

impl TeamName {
    /// # Errors
    /// When it is not 1 to 64 letters, digits, `-`, `_`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_valid {
            let quoted = quote(text);
            let name = &quoted[1..quoted.len() - 1];
            return Err(Invalid(format!(
                "Invalid team name \"{name}\": Team name must be alphanumeric with hyphens/underscores"
            )));
        }
        Ok(TeamName {
            text: text.to_owned(),
            key: text.to_ascii_lowercase(),
        })
    }

    /// The name as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name in lower case, as in the store's keys.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// The name of a member in a team. Case does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handle(String);

impl Handle {
    /// # Errors
    /// When it is not 1 to 64 letters, digits, `.`, `_`, `-`, or begins with a dot, or is `broadcast`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if is_name(text) && !text.eq_ignore_ascii_case("broadcast") {
            Ok(Handle(text.to_owned()))
        } else {
            Err(Invalid(format!(
                "{} is not a handle; send 1 to 64 of letters, digits, '.', '_', '-', no leading dot, and not \
                 'broadcast'",
                quote(text)
            )))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The id of a task: `t1`, or one imported from another program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TaskId(String);

impl TaskId {
    /// # Errors
    /// When it is not 1 to 64 letters, digits, `.`, `_`, `-`, or begins with a dot.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if is_name(text) {
            Ok(TaskId(text.to_owned()))
        } else {
            Err(Invalid(format!("{} is not the id of a task", quote(text))))
        }
    }

    /// The id of a task to add. Coord continues its own numbers after it.
    ///
    /// # Errors
    /// As [`Self::parse`], and when it is `t` and a number of more than nine digits.
    pub fn parse_new(text: &str) -> Result<Self, Invalid> {
        let number = text.strip_prefix(['t', 'T']).unwrap_or_default();
        if number.len() > 9 && number.bytes().all(|byte| byte.is_ascii_digit()) {
            let problem = "has a number of more than nine digits; leave the id out, or choose another";
            return Err(Invalid(format!("{} {problem}", quote(text))));
        }
        Self::parse(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && !text.starts_with('.')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTACKS: [&str; 14] = [
        "",
        " ",
        "a b",
        "a/b",
        "..",
        "../../x",
        "a:b",
        "{a}",
        "a\nb",
        "a\0b",
        "a\u{1b}[2Kb",
        "größe",
        "a*",
        ".a",
    ];

    #[test]
    fn no_name_can_leave_its_key_or_its_folder() {
        for text in ATTACKS {
            assert!(TeamName::parse(text).is_err(), "{text:?}");
            assert!(Handle::parse(text).is_err(), "{text:?}");
            assert!(TaskId::parse(text).is_err(), "{text:?}");
        }
        assert!(TeamName::parse("a.b").is_err());
        assert!(Handle::parse(&"a".repeat(65)).is_err());
        assert!(Handle::parse("Broadcast").is_err());
        for text in ["a", "A-b_9", &"a".repeat(64)] {
            assert_eq!(TeamName::parse(text).unwrap().as_str(), text);
            assert_eq!(Handle::parse(text).unwrap().as_str(), text);
        }
        assert_eq!(
            TaskId::parse("1795348331226-74f188ed").unwrap().as_str(),
            "1795348331226-74f188ed"
        );
    }

    #[test]
    fn the_number_of_a_new_task_has_nine_digits_at_most() {
        for text in [
            "t999999999",
            "T1",
            "t",
            "1795348331226",
            "t1795348331226-74f188ed",
            "tx1795348331226",
        ] {
            assert_eq!(TaskId::parse_new(text).unwrap().as_str(), text);
        }
        for text in ["t1000000000", "T1000000000", "t99999999999999", "a b"] {
            assert!(TaskId::parse_new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_refusal_of_a_name_is_the_documented_one() {
        assert_eq!(
            TeamName::parse("a b").unwrap_err().to_string(),
            "Invalid team name \"a b\": Team name must be alphanumeric with hyphens/underscores"
        );
    }

    #[test]
    fn names_that_differ_in_case_have_one_key() {
        assert_eq!(
            TeamName::parse("Alpha").unwrap().key(),
            TeamName::parse("aLPHA").unwrap().key()
        );
    }
}
