//! The question of the gate: a judgment by the scope of an intent.

use serde::Deserialize;

/// Asks for a judgment by the scope of an intent. Scripts cannot make it, because they cannot match patterns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ScopeQuestion {
    pub intent: String,
    /// Digest of its scope.
    pub scope: String,
    /// The intent as JSON; empty if the request has this digest.
    #[serde(default)]
    pub text: String,
    /// Digest of `.intentignore`; empty if there is none.
    #[serde(default)]
    pub ignore: String,
    /// `.intentignore`; empty if the request has this digest.
    #[serde(default)]
    pub ignore_text: String,
    /// The files, if only the store knows them.
    #[serde(default)]
    pub files: Vec<String>,
}

impl ScopeQuestion {
    /// Its name in scripts.
    pub const NAME: &str = "ASK_SCOPE";
}
