//! Denials: why a request was not admitted.

use std::collections::BTreeMap;

use super::policy_question::PolicyQuestion;
use super::scope_question::ScopeQuestion;
use crate::domain::CommitSha;
use crate::state::reply::Reply;
use crate::store::StoreError;

/// Whose rate limit was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// The caller's own.
    Holder,
    /// That of all agents and credentials of one person together.
    Person,
    /// That of all callers in the repository together.
    Repository,
    /// That of commits that the store does not know.
    Source,
    /// That of branches that the store does not know.
    New,
    /// The share of the ledger that one login has.
    Ledger,
}

/// What there is too much of to look at in one script: see `locks/includes/entries.lua` and `builds/includes/adjacency.lua`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// Locks on the files of the request.
    Locks,
    /// Neighbors of these files.
    Neighbors,
}

/// What has no room for more locks: see `locks/includes/reserve.lua`; or for more owners: see `locks/includes/gate_claim.lua`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Full {
    /// This file.
    File(String),
    /// The caller.
    Person,
    /// The repository.
    Repository,
    /// The owners of this file, or of the repository's files where it is empty.
    Owners(String),
}

/// Locks that a person has taken away: `locks/includes/taken.lua`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Login of the person.
    pub by: String,
    /// Why.
    pub message: String,
    /// The files.
    pub files: Vec<String>,
}

/// Why a request was not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// Too many questions.
    Limited {
        /// Until the next is let in.
        retry_after_seconds: u64,
        /// Whose limit was met.
        whose: Limited,
    },
    /// The head has to be asked for, and it is this caller's turn; others go on with the one before.
    RefreshHead {
        /// What is stored.
        commit: Option<CommitSha>,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
    },
    /// The head is needed, and it is another's turn to ask for it, or it cannot be asked for.
    AwaitHead {
        /// For how long it cannot; 0 while another asks.
        retry_after_seconds: u64,
    },
    /// Nobody knows the head of this branch, and nobody here can ask.
    UnknownHead,
    /// There is too much to look at; fewer files at once would do.
    TooMuch(TooMuch),
    /// There is no room for more locks.
    Full(Full),
    /// A person has taken locks of the caller away.
    Taken(Taken),
    /// Whether the caller's commits are of the branch, only the source can tell.
    AskSource {
        /// Head of the branch.
        head: CommitSha,
        /// Seconds since somebody looked whether it is still that.
        age: u64,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
    },
    /// Whether the intent of the request may change its files has yet to be judged.
    AskScope(Box<ScopeQuestion>),
    /// The files have yet to be judged by the policy of the branch.
    AskPolicy(Box<PolicyQuestion>),
    /// The request names no team, and is not made in the only one of the caller.
    AskTeam {
        /// Its handles, by team in lower case.
        handles: BTreeMap<String, String>,
    },
}

/// The denial that a reply tells of, or the reply to be read on.
pub(super) fn denied(mut reply: Reply) -> Result<Result<Denial, Reply>, StoreError> {
    Ok(Ok(match reply.outcome.as_str() {
        "LIMITED" => Denial::Limited {
            retry_after_seconds: reply.number()?.unsigned_abs(),
            whose: match reply.text()?.as_str() {
                "HOLDER" => Limited::Holder,
                "PERSON" => Limited::Person,
                "REPOSITORY" => Limited::Repository,
                "SOURCE" => Limited::Source,
                "NEW" => Limited::New,
                "LEDGER" => Limited::Ledger,
                _ => return Err(reply.malformed("an unknown limit")),
            },
        },
        "REFRESH_HEAD" => Denial::RefreshHead {
            commit: reply.optional_commit()?,
            etag: reply.optional_text()?,
        },
        "AWAIT_HEAD" => Denial::AwaitHead {
            retry_after_seconds: reply.number()?.unsigned_abs(),
        },
        "UNKNOWN_HEAD" => Denial::UnknownHead,
        "TOO_MUCH" => Denial::TooMuch(match reply.text()?.as_str() {
            "LOCKS" => TooMuch::Locks,
            "NEIGHBORS" => TooMuch::Neighbors,
            _ => return Err(reply.malformed("an unknown bound")),
        }),
        "FULL" => Denial::Full(match reply.text()?.as_str() {
            "FILE" => Full::File(reply.text()?),
            "PERSON" => Full::Person,
            "REPOSITORY" => Full::Repository,
            "OWNERS" => Full::Owners(reply.text()?),
            _ => return Err(reply.malformed("an unknown bound")),
        }),
        "LOCK_TAKEN" => Denial::Taken(Taken {
            by: reply.text()?,
            message: reply.text()?,
            files: reply.texts()?,
        }),
        "ASK_SCOPE" => Denial::AskScope(Box::new(ScopeQuestion::read(&mut reply)?)),
        "ASK_POLICY" => Denial::AskPolicy(Box::new(PolicyQuestion::read(&mut reply)?)),
        "ASK_TEAM" => {
            let text = reply.text()?;
            let handles = serde_json::from_str(&text).map_err(|error| reply.malformed(&error.to_string()))?;
            Denial::AskTeam { handles }
        }
        "ASK_SOURCE" => Denial::AskSource {
            head: reply.commit()?,
            age: reply.number()?.unsigned_abs(),
            etag: reply.optional_text()?,
        },
        _ => return Ok(Err(reply)),
    }))
}
