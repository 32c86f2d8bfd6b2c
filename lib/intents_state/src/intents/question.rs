//! The question of the gate: a judgement by the scope of an intent.

use serde::Deserialize;

/// A judgement by the scope of an intent, which scripts cannot make, because they match no patterns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ScopeQuestion {
    pub intent: String,
    /// Digest of its scope.
    pub scope: String,
    /// The intent as JSON; empty where this digest was sent.
    #[serde(default)]
    pub text: String,
    /// Digest of `.intentignore`; empty where there is none.
    #[serde(default)]
    pub ignore: String,
    /// `.intentignore`; empty where this digest was sent.
    #[serde(default)]
    pub ignore_text: String,
    /// The files, where only the store knows them.
    #[serde(default)]
    pub files: Vec<String>,
}

impl ScopeQuestion {
    /// Its name in scripts.
    pub const NAME: &str = "ASK_SCOPE";
}
