//! Questions of scripts: facts that a run lacks, so that the same call is repeated with the answer.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::locks::WrittenFile;
use crate::reply::Reply;
use coord_domain::CommitSha;
use coord_store::StoreError;

/// The prefix of the names of extensions' questions.
const EXTENSION_PREFIX: &str = "ASK_";

/// A script's question. Its run has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The head of the branch.
    Head(HeadQuestion),
    /// Whether the branch has the caller's commits.
    Ancestry(AncestryQuestion),
    /// The policy of the branch for the files.
    Policy(Box<PolicyQuestion>),
    /// A question of an extension, which only the extension can answer.
    Extension {
        /// Its name, which begins with [`EXTENSION_PREFIX`].
        name: String,
        fields: Value,
    },
}

/// How to find the head of the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadQuestion {
    /// This caller must fetch it; meanwhile others use the stored one.
    Refresh {
        /// The stored head.
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

/// The policy by which Rust must judge files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PolicyQuestion {
    /// Its digest; empty where there is none.
    #[serde(default)]
    pub digest: String,
    #[serde(default)]
    pub text: String,
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

impl Question {
    /// The fields of the extension's question `name`.
    ///
    /// # Errors
    /// The question itself, if it has a different name, or if its fields are not those of `T`.
    pub fn of_extension<T: DeserializeOwned>(self, name: &str) -> Result<T, Question> {
        match self {
            Question::Extension { name: own, fields } if own == name => {
                T::deserialize(&fields).map_err(|_| Question::Extension { name: own, fields })
            }
            question => Err(question),
        }
    }

    /// The question in a reply, if there is one.
    pub fn read(reply: &Reply) -> Result<Option<Self>, StoreError> {
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
            "ASK_POLICY" => Question::Policy(reply.object()?),
            name if name.starts_with(EXTENSION_PREFIX) => Question::Extension {
                name: name.to_owned(),
                fields: reply.object()?,
            },
            _ => return Ok(None),
        }))
    }
}
