use serde::Deserialize;

use coord_domain::CommitSha;

/// The head that an outcome is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedHead {
    pub commit: CommitSha,
    /// Seconds since the head was last confirmed; none if it has just been fetched.
    pub age: Option<u64>,
    /// Whether it should have been fetched again, but could not be.
    pub is_unconfirmed: bool,
}

/// The head in the answers of `modules/answer.lua`; empty if the request was admitted without one.
#[derive(Deserialize)]
pub(super) struct RawHead {
    head: Option<CommitSha>,
    head_age: Option<u64>,
    #[serde(default)]
    is_unconfirmed: bool,
}

impl RawHead {
    pub fn into_reported(self) -> Option<ReportedHead> {
        let (age, is_unconfirmed) = (self.head_age, self.is_unconfirmed);
        self.head.map(|commit| ReportedHead {
            commit,
            age,
            is_unconfirmed,
        })
    }
}
