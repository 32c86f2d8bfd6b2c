//! The question of the scripts of teams.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Which team does the request mean? It names none, and the one that was assumed is not the caller's only team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TeamQuestion {
    /// The caller's handles, by team in lower case.
    pub handles: BTreeMap<String, String>,
}

impl TeamQuestion {
    /// Its name in scripts.
    pub const NAME: &str = "ASK_TEAM";
}
