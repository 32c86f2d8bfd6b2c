//! Questions of scripts: what a run lacks, so that the same call is made again with the answer.

use std::collections::BTreeMap;

use super::seen_head::SeenHead;
use crate::domain::CommitSha;
use crate::state::locks::Written;
use crate::state::reply::Reply;
use crate::store::StoreError;

/// What a script asks. Its run has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// What is the head of the branch?
    Head(HeadQuestion),
    /// Does the branch have the caller's commits?
    Ancestry(AncestryQuestion),
    /// Which files may the intent of the request change?
    Scope(Box<ScopeQuestion>),
    /// What does the policy of the branch say of the files?
    Policy(Box<PolicyQuestion>),
    /// Which team does the request mean? It names none, and the one that was assumed is not the caller's only team.
    Team {
        /// The caller's handles, by team in lower case.
        handles: BTreeMap<String, String>,
    },
}

/// How the head of the branch is to be found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadQuestion {
    /// It is this caller's turn to fetch it; others go on with the stored one.
    Refresh {
        /// What is stored.
        commit: Option<CommitSha>,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
    },
    /// Another caller is fetching it.
    Await,
}

/// What only the source can tell of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AncestryQuestion {
    /// Whether the caller's commits contain the head.
    Commits {
        /// Head of the branch.
        head: CommitSha,
        /// Seconds since somebody looked whether it is still that.
        age: u64,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
    },
    /// Whether the branch has the work that is released.
    Work {
        /// Head of the branch.
        head: CommitSha,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
        /// The files, and their claim heads.
        written: Vec<Written>,
    },
}

/// A judgement by the scope of an intent, which scripts cannot make, because they match no patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeQuestion {
    /// The intent.
    pub intent: String,
    /// Digest of its scope.
    pub scope: String,
    /// The intent as JSON; empty where this digest was sent.
    pub text: String,
    /// Digest of `.intentignore`; empty where there is none.
    pub ignore: String,
    /// `.intentignore`; empty where this digest was sent.
    pub ignore_text: String,
    /// The files, where only the store knows them.
    pub files: Vec<String>,
}

/// The policy by which files have to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyQuestion {
    /// Its digest; empty where there is none.
    pub digest: String,
    /// Its text.
    pub text: String,
    /// The files.
    pub files: Vec<String>,
}

impl Question {
    /// The question that a reply asks, if any.
    pub(in crate::state) fn read(reply: &mut Reply) -> Result<Option<Self>, StoreError> {
        Ok(Some(match reply.outcome.as_str() {
            "REFRESH_HEAD" => Question::Head(HeadQuestion::Refresh {
                commit: reply.optional_commit()?,
                etag: reply.optional_text()?,
            }),
            "ASK_SOURCE" => Question::Ancestry(AncestryQuestion::Commits {
                head: reply.commit()?,
                age: reply.number()?.unsigned_abs(),
                etag: reply.optional_text()?,
            }),
            "ASK_WORK" => Question::Ancestry(AncestryQuestion::Work {
                head: SeenHead::read(reply)?.commit,
                etag: reply.optional_text()?,
                written: reply.tuples(Written::read)?,
            }),
            "ASK_SCOPE" => Question::Scope(Box::new(ScopeQuestion {
                intent: reply.text()?,
                scope: reply.text()?,
                text: reply.text()?,
                ignore: reply.text()?,
                ignore_text: reply.text()?,
                files: reply.texts()?,
            })),
            "ASK_POLICY" => Question::Policy(Box::new(PolicyQuestion {
                digest: reply.text()?,
                text: reply.text()?,
                files: reply.texts()?,
            })),
            "ASK_TEAM" => {
                let text = reply.text()?;
                let handles = serde_json::from_str(&text).map_err(|error| reply.malformed(&error.to_string()))?;
                Question::Team { handles }
            }
            _ => return Ok(None),
        }))
    }
}
