//! Intents as they are stored.

use std::collections::BTreeMap;

use coord_intents::intent::{Intent, Status};
use coord_intents::ledger::State;
use serde::{Deserialize, Serialize};

/// The fields of an intent that the scripts need; see `modules/records.lua`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct IntentRecord {
    pub status: Status,
    /// Why it was blocked, ended or resumed.
    pub reason: Option<String>,
    /// The login that gave the reason.
    pub reason_by: Option<String>,
    /// The branch that it is about; none for every branch.
    pub branch: Option<String>,
    /// The digest of its scope; empty without one.
    pub digest: String,
    /// Grows with every change that its holders have to know.
    pub version: u64,
    /// Maximum number of tool calls.
    pub max_turns: Option<u64>,
    pub max_tokens: Option<u64>,
    /// Intents with which a person has allowed it to overlap.
    #[serde(default)]
    pub may_overlap: Vec<String>,
    /// Its number in the order of creation.
    pub order: u64,
    /// Bytes of its text.
    pub bytes: usize,
    /// When it was created, Unix milliseconds.
    pub created_ms: u64,
    /// When it was last changed, Unix milliseconds.
    pub updated_ms: u64,
}

/// The text of an intent. Its status and its consumption are stored elsewhere; those in `intent` are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredIntent {
    #[serde(flatten)]
    pub intent: Intent,
    /// A login, or a login, a slash and an agent's id.
    pub created_by: String,
    /// The author of the last change of its words, in the same form; none if they were never changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
}

impl StoredIntent {
    /// The login that created it.
    pub fn author(&self) -> &str {
        login_of(&self.created_by)
    }

    /// The login that last changed it.
    pub fn editor(&self) -> &str {
        login_of(self.changed_by.as_ref().unwrap_or(&self.created_by))
    }
}

fn login_of(actor: &str) -> &str {
    actor.split('/').next().unwrap_or_default()
}

/// The costs of the work on an intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntentUse {
    /// Allowed tool calls of its owner's logins.
    pub turns: u64,
    /// Tokens, as agents report them.
    pub tokens: u64,
    /// Tool calls of other logins.
    pub other_turns: u64,
    /// The time of a holder's last call, Unix milliseconds; 0 for never.
    pub last_call_ms: u64,
}

impl IntentUse {
    /// Parses the stored text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<u64> = text
            .split(' ')
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?;
        let (turns, tokens, other_turns, last_call_ms) = match numbers[..] {
            [turns, tokens, last_call_ms] => (turns, tokens, 0, last_call_ms),
            [turns, tokens, other_turns, last_call_ms] => (turns, tokens, other_turns, last_call_ms),
            _ => return None,
        };
        Some(IntentUse {
            turns,
            tokens,
            other_turns,
            last_call_ms,
        })
    }
}

/// The handshake of a holder; see `modules/session.lua`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Session {
    pub state: State,
    /// The intent that it has selected.
    pub intent: Option<String>,
    /// The version of that intent when it was selected.
    pub version: Option<u64>,
    /// The intent that it had selected before.
    pub last: Option<String>,
}

/// An owner of a file; see `modules/owners.lua`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Owner {
    pub intent: String,
    /// The branch of that intent; none for every branch.
    pub branch: Option<String>,
    /// The content that was last recorded: `sha256:` and 64 digits, or `DELETED`.
    pub hash: Option<String>,
    /// Earlier contents, the newest first.
    #[serde(default)]
    pub earlier: Vec<String>,
}

/// The owners of files, by path.
pub type Owners = BTreeMap<String, Vec<Owner>>;
