//! Denials: why a request was not admitted.

use serde::Deserialize;

use super::question::{HeadQuestion, Question};
use crate::reply::Reply;
use coord_store::StoreError;

/// The subject of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LimitSubject {
    Holder,
    /// All agents and credentials of one person together.
    Person,
    /// All callers in the repository together.
    Repository,
    /// Lookups of commits that the store does not know.
    #[serde(rename = "SOURCE")]
    CommitLookups,
    /// Lookups of branches that the store does not know.
    #[serde(rename = "NEW")]
    BranchLookups,
    /// The share of one login in the ledger.
    Ledger,
}

/// The part that is too large to examine in one script: see `locks/modules/entries.lua` and
/// `builds/modules/adjacency.lua`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "part", rename_all = "UPPERCASE")]
pub enum SizeLimit {
    /// Locks on the files of the request.
    Locks,
    /// Neighbors of these files.
    Neighbors,
}

/// The part without room for more locks: see `locks/modules/reserve.lua`; or for more owners: see
/// `intents/modules/gate_claim.lua`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "part", content = "file", rename_all = "UPPERCASE")]
pub enum FullPart {
    File(String),
    Person,
    Repository,
    /// The owners of this file, or of the repository's files.
    Owners(Option<String>),
}

/// Locks that a person has force-released: `locks/modules/force_released.lua`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ForceReleased {
    /// Login of the person.
    pub by: String,
    /// Why.
    pub message: String,
    pub files: Vec<String>,
}

/// Why a request was not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// There were too many requests.
    Limited {
        /// Until the next request is admitted.
        retry_after_seconds: u64,
        whose: LimitSubject,
    },
    /// The request needs the head, which cannot be fetched now.
    AwaitHead {
        /// Until it can be fetched again.
        retry_after_seconds: u64,
    },
    /// The head of this branch is unknown, and no source can be asked.
    UnknownHead,
    /// The request needs too many reads; fewer files at once would do.
    TooMuch(SizeLimit),
    /// There is no room for more locks.
    Full(FullPart),
    /// A person has force-released locks of the caller.
    ForceReleased(ForceReleased),
    /// The script lacks a fact, with which the same call is repeated.
    Question(Question),
}

/// The fields of LIMITED.
#[derive(Deserialize)]
struct MetLimit {
    retry_after_seconds: u64,
    whose: LimitSubject,
}

/// The fields of AWAIT_HEAD.
#[derive(Deserialize)]
struct AwaitedHead {
    retry_after_seconds: Option<u64>,
}

/// The denial in a reply, if there is one.
pub(super) fn decode_denial(reply: &Reply) -> Result<Option<Denial>, StoreError> {
    Ok(Some(match reply.outcome.as_str() {
        "LIMITED" => {
            let MetLimit {
                retry_after_seconds,
                whose,
            } = reply.object()?;
            Denial::Limited {
                retry_after_seconds,
                whose,
            }
        }
        "AWAIT_HEAD" => match reply.object::<AwaitedHead>()?.retry_after_seconds {
            None => Denial::Question(Question::Head(HeadQuestion::Await)),
            Some(retry_after_seconds) => Denial::AwaitHead { retry_after_seconds },
        },
        "UNKNOWN_HEAD" => Denial::UnknownHead,
        "TOO_MUCH" => Denial::TooMuch(reply.object()?),
        "FULL" => Denial::Full(reply.object()?),
        "LOCK_TAKEN" => Denial::ForceReleased(reply.object()?),
        _ => return Ok(Question::read(reply)?.map(Denial::Question)),
    }))
}
