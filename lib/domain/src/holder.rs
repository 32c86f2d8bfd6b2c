use coord_protocol::plain_text::is_invisible;
use serde::{Deserialize, Serialize};

use super::{Invalid, quote};

/// A person: the verified login, never a name that the caller states.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct UserId(String);

impl UserId {
    /// # Errors
    /// When it is not 1 to 128 printable characters without spaces.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = (1..=128).contains(&text.chars().count())
            && text
                .chars()
                .all(|character| !character.is_whitespace() && !is_invisible(character));
        if is_valid {
            Ok(UserId(text.to_owned()))
        } else {
            Err(Invalid(format!(
                "{} is not a login: 1 to 128 printable characters without spaces",
                quote(text)
            )))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for UserId {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        UserId::parse(&text)
    }
}

impl std::fmt::Display for UserId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The id of one of a person's agents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentId(String);

impl AgentId {
    /// The separator between the agent of a conversation and one of its writers, such as a subagent.
    pub const WRITER_SEPARATOR: &str = "::";

    /// # Errors
    /// When it is not 1 to 128 of letters, digits, `.`, `_`, `-`, `:`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = (1..=128).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte));
        if is_valid {
            Ok(AgentId(text.to_owned()))
        } else {
            Err(Invalid(format!(
                "{} is not an agent id; send 1 to 128 of letters, digits, '.', '_', '-', ':'",
                quote(text)
            )))
        }
    }

    /// The agent that this one writes for: `a` for `a::b`.
    pub fn lead(&self) -> Option<AgentId> {
        let (lead, _) = self.0.rsplit_once(Self::WRITER_SEPARATOR)?;
        AgentId::parse(lead).ok()
    }

    /// Whether it writes for `lead`, directly or through other writers.
    pub fn is_below(&self, lead: &AgentId) -> bool {
        self.0
            .strip_prefix(&lead.0)
            .is_some_and(|rest| rest.starts_with(Self::WRITER_SEPARATOR))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A person who may read a repository, and that person's rights there, as stored under the hash of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Member {
    pub user_id: UserId,
    /// A display name of printable characters, or the login if there is none.
    pub user_name: String,
    /// Whether the credential may push.
    pub can_push: bool,
    /// Whether the person owns the repository, and may therefore force-release others' locks.
    #[serde(default)]
    pub is_owner: bool,
}

/// The holder of a lock: a person, and an agent if that person's agents must be distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub user_id: UserId,
    /// A display name; the login if none is known.
    pub user_name: String,
    pub agent_id: Option<AgentId>,
}

impl Holder {
    /// The agent id, or an empty string, which means none in a script.
    pub fn agent_or_empty(&self) -> &str {
        self.agent_id.as_ref().map_or("", AgentId::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_printable_and_that_of_an_app_is_one() {
        for login in ["alice", "github-actions[bot]", "octo-app[bot]", "alice_acme", "größe"] {
            assert!(UserId::parse(login).is_ok(), "{login}");
        }
        for login in [
            "",
            " ",
            "al ice",
            "alice\n",
            "a\0b",
            "a\u{85}b",
            "a\u{202e}b",
            &"a".repeat(129),
        ] {
            assert!(UserId::parse(login).is_err(), "{login:?}");
        }
    }
}
