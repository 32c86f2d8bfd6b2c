//! Names that become parts of paths and keys. Paths contain no other parts.

use std::fmt;

use crate::bounds::NAME_CHARACTERS;
use crate::refusal::quote;
use crate::texts::BROADCAST;

/// Text that is not a valid name. The sentence says what is valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(String);

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The name in lower case: two names that differ only in case are one folder on some disks.
            pub fn folded(&self) -> String {
                self.0.to_ascii_lowercase()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// A team's name: 1 to 64 letters, digits, `_` and `-`.
    TeamName
}
name! {
    /// A member's name in its team, `agentId` in files: 1 to 64 letters, digits, `.`, `_` and `-`, no leading dot.
    /// `broadcast` is not a handle, because it addresses all members.
    Handle
}
name! {
    /// The id of a task: `t1`, `MS-8HEX`, or another name with the characters of handles.
    TaskId
}

impl TeamName {
    /// # Errors
    /// The documented sentence.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if text.is_empty() || !text.bytes().all(is_valid) {
            let text = quote(text);
            return Err(InvalidName(format!(
                "Invalid team name {text}: Team name must be alphanumeric with hyphens/underscores"
            )));
        }
        check_length(text, "team name").map(Self)
    }
}

impl Handle {
    /// # Errors
    /// The rule for handles.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        if text.eq_ignore_ascii_case(BROADCAST) {
            return Err(InvalidName(format!(
                "{} cannot be a handle: it addresses all members",
                quote(text)
            )));
        }
        check_characters(text, "handle").map(Self)
    }
}

impl TaskId {
    /// # Errors
    /// The rule for ids.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        check_characters(text, "task id").map(Self)
    }
}

fn check_characters(text: &str, kind: &str) -> Result<String, InvalidName> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if text.is_empty() || text.starts_with('.') || !text.bytes().all(is_valid) {
        return Err(InvalidName(format!(
            "{} is not a {kind}: use letters, digits, \".\", \"_\" and \"-\", and no leading dot",
            quote(text)
        )));
    }
    check_length(text, kind)
}

fn check_length(text: &str, kind: &str) -> Result<String, InvalidName> {
    if text.len() > NAME_CHARACTERS {
        let text = quote(text);
        return Err(InvalidName(format!(
            "the {kind} {text} has more than {NAME_CHARACTERS} characters"
        )));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_documents() {
        let long = "a".repeat(65);
        //  text, team, handle, task
        let table = [
            ("alpha", true, true, true),
            ("Alpha_1-x", true, true, true),
            ("1795348589271-bfb705e1", true, true, true),
            ("a.b", false, true, true),
            ("-", true, true, true),
            ("", false, false, false),
            (".", false, false, false),
            ("..", false, false, false),
            (".hidden", false, false, false),
            ("../../../escape", false, false, false),
            ("a/b", false, false, false),
            ("a\\b", false, false, false),
            ("a:b", false, false, false),
            ("a{b}", false, false, false),
            ("a b", false, false, false),
            ("a\n", false, false, false),
            ("a\u{1b}[31m", false, false, false),
            ("a\0", false, false, false),
            ("ünal", false, false, false),
            ("broadcast", true, false, true),
            ("Broadcast", true, false, true),
            (&long, false, false, false),
            (&long[1..], true, true, true),
        ];
        for (text, team, handle, task) in table {
            assert_eq!(TeamName::parse(text).is_ok(), team, "team {text:?}");
            assert_eq!(Handle::parse(text).is_ok(), handle, "handle {text:?}");
            assert_eq!(TaskId::parse(text).is_ok(), task, "task {text:?}");
        }
    }

    #[test]
    fn a_refusal_has_the_documented_sentence_and_no_control_characters() {
        let refused = TeamName::parse("a b").unwrap_err().to_string();
        assert_eq!(
            refused,
            "Invalid team name \"a b\": Team name must be alphanumeric with hyphens/underscores"
        );
        let refused = Handle::parse("a\u{1b}[2J\u{202e}").unwrap_err().to_string();
        assert!(
            refused.starts_with("\"a\\u{1b}[2J\\u{202e}\" is not a handle"),
            "{refused}"
        );
    }
}
