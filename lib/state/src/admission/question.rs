//! Questions of scripts: facts that a run lacks, so that the same call is repeated with the answer.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::locks::WrittenFile;
use crate::reply::Reply;
use coord_domain::CommitSha;
use coord_store::StoreError;

/// A script's question. Its run has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The head of the branch.
    Head(HeadQuestion),
    /// Does the branch have the caller's commits?
    Ancestry(AncestryQuestion),
    /// Which files may the intent of the request change?
    Scope(Box<ScopeQuestion>),
    /// The policy of the branch for the files.
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
        /// The stored commit.
        commit: Option<CommitSha>,
        /// Its ETag, if that can still be trusted.
        etag: Option<String>,
    },
    /// Another caller is fetching it.
    Await,
}

/// Facts about commits that only the source has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AncestryQuestion {
    /// Whether the caller's commits contain the head.
    Commits {
        /// Head of the branch.
        head: CommitSha,
        /// Seconds since the head was last confirmed.
        age: u64,
        /// Its ETag, if that can still be trusted.
        etag: Option<String>,
    },
    /// Whether the branch has the work that is released.
    Work {
        /// Head of the branch.
        head: CommitSha,
        /// Its ETag, if that can still be trusted.
        etag: Option<String>,
        /// The files, and their claim heads.
        written: Vec<WrittenFile>,
    },
}

/// A judgement by the scope of an intent, which scripts cannot make, because they match no patterns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ScopeQuestion {
    /// The intent.
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

/// The policy by which files have to be judged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PolicyQuestion {
    /// Its digest; empty where there is none.
    #[serde(default)]
    pub digest: String,
    /// Its text.
    #[serde(default)]
    pub text: String,
    /// The files.
    #[serde(default)]
    pub files: Vec<String>,
}

/// The fields of REFRESH_HEAD.
#[derive(Deserialize)]
struct StoredHead {
    head: Option<CommitSha>,
    etag: Option<String>,
}

/// The fields of ASK_SOURCE.
#[derive(Deserialize)]
struct AgedHead {
    head: CommitSha,
    age: u64,
    etag: Option<String>,
}

/// The fields of ASK_WORK.
#[derive(Deserialize)]
struct WrittenFiles {
    head: CommitSha,
    etag: Option<String>,
    written: Vec<WrittenFile>,
}

/// The fields of ASK_TEAM.
#[derive(Deserialize)]
struct Handles {
    handles: BTreeMap<String, String>,
}

impl Question {
    /// The question that a reply asks, if any.
    pub(crate) fn read(reply: &Reply) -> Result<Option<Self>, StoreError> {
        Ok(Some(match reply.outcome.as_str() {
            "REFRESH_HEAD" => {
                let StoredHead { head: commit, etag } = reply.object()?;
                Question::Head(HeadQuestion::Refresh { commit, etag })
            }
            "ASK_SOURCE" => {
                let AgedHead { head, age, etag } = reply.object()?;
                Question::Ancestry(AncestryQuestion::Commits { head, age, etag })
            }
            "ASK_WORK" => {
                let WrittenFiles { head, etag, written } = reply.object()?;
                Question::Ancestry(AncestryQuestion::Work { head, etag, written })
            }
            "ASK_SCOPE" => Question::Scope(reply.object()?),
            "ASK_POLICY" => Question::Policy(reply.object()?),
            "ASK_TEAM" => {
                let Handles { handles } = reply.object()?;
                Question::Team { handles }
            }
            _ => return Ok(None),
        }))
    }
}
