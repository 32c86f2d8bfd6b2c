use std::hash::{BuildHasher, RandomState};

use serde::Serialize;

use super::keys;
use super::scripts::{MARK_DUE, UNMARK_DUE};
use crate::reply::Reply;
use coord_domain::RepoId;
use coord_store::{Request, Store, StoreError, Value};

/// Seconds within which a claim may remove its mark: longer than any request lasts.
const UNMARKED_WITHIN: u32 = 60;

/// The entry of a repository on the due list, made by one claim: see `mark_due.lua`.
pub struct Mark<'a> {
    repo: &'a RepoId,
    ttl_seconds: u32,
    /// The unique name of the claim.
    claim: String,
}

/// Arguments of `mark_due.lua`.
#[derive(Serialize)]
struct MarkDueArgs<'a> {
    repository: &'a str,
    ttl: u32,
    claim: &'a str,
    kept_for: u32,
}

/// Arguments of `unmark_due.lua`.
#[derive(Serialize)]
struct UnmarkDueArgs<'a> {
    repository: &'a str,
    claim: &'a str,
}

impl<'a> Mark<'a> {
    pub fn new(repo: &'a RepoId, ttl_seconds: u32) -> Self {
        // A fresh `RandomState` is the standard library's own source of random bits.
        let claim = format!("{:016x}", RandomState::new().hash_one(repo));
        Mark {
            repo,
            ttl_seconds,
            claim,
        }
    }

    /// The request that makes the mark, for the round trip of the claim.
    pub fn request(&self) -> Request {
        let keys = keys::due();
        let args = keys.args(&MarkDueArgs {
            repository: self.repo.as_str(),
            ttl: self.ttl_seconds,
            claim: &self.claim,
            kept_for: UNMARKED_WITHIN,
        });
        Request::Script {
            script: &MARK_DUE,
            keys: keys.into(),
            args,
        }
    }

    /// Whether the repository was not on the list, by the reply to that request.
    pub fn is_new(reply: Option<Value>) -> Result<bool, StoreError> {
        let reply = Reply::open(&MARK_DUE, reply)?;
        match reply.outcome.as_str() {
            "MARKED" => Ok(true),
            "KNOWN" => Ok(false),
            _ => reply.unknown(),
        }
    }

    /// Removes the repository from the list, unless another claim or a sweep relies on its entry now.
    pub async fn unmark(&self, store: &dyn Store) -> Result<(), StoreError> {
        let request = UnmarkDueArgs {
            repository: self.repo.as_str(),
            claim: &self.claim,
        };
        keys::due().call(store, &UNMARK_DUE, &request).await?;
        Ok(())
    }
}
