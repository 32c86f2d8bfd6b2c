//! The question of the scripts of teams.

use std::collections::BTreeMap;

use serde::Deserialize;

use coord_state::admission::Question;

/// Which team does the request mean? It names none, and the one that was assumed is not the caller's only team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TeamQuestion {
    /// The caller's handles, by team in lower case.
    pub handles: BTreeMap<String, String>,
}

impl TeamQuestion {
    /// The team question; or `question` itself, if it is another one.
    ///
    /// # Errors
    /// When `question` is another one.
    pub fn of(question: Question) -> Result<Self, Question> {
        match question {
            Question::OfExtension { name, fields } if name == "ASK_TEAM" => {
                Self::deserialize(&fields).map_err(|_| Question::OfExtension { name, fields })
            }
            question => Err(question),
        }
    }
}
