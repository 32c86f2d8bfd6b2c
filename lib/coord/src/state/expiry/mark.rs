use std::hash::{BuildHasher, RandomState};

use super::keys;
use super::scripts::{MARK_DUE, UNMARK_DUE};
use crate::domain::RepoId;
use crate::state::reply::{Reply, arguments, call};
use crate::store::{Request, Store, StoreError, Value};

/// How long a claim may take that takes back its mark, in seconds: longer than any request lives.
const UNMARKED_WITHIN: &str = "60";

/// A repository put on the list of what is due by one claim: see `mark_due.lua`.
pub(in crate::state) struct Mark<'a> {
    repo: &'a RepoId,
    ttl_seconds: u32,
    /// A name that no other claim has.
    claim: String,
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

    /// The request that makes it, for the round trip of the claim.
    pub fn request(&self) -> Request {
        let seconds = self.ttl_seconds.to_string();
        Request::Script {
            script: &MARK_DUE,
            keys: self.keys(),
            args: arguments([self.repo.as_str(), &seconds, &self.claim, UNMARKED_WITHIN]),
        }
    }

    /// Whether the repository was not on the list, by the reply to that request.
    pub fn is_new(reply: Option<Value>) -> Result<bool, StoreError> {
        Reply::open(&MARK_DUE, reply)?.flag()
    }

    /// Takes the repository from the list again, unless a claim or a sweep relies on it by now.
    pub async fn take_back(&self, store: &dyn Store) -> Result<(), StoreError> {
        let args = arguments([self.repo.as_str(), &self.claim]);
        call(store, &UNMARK_DUE, self.keys(), args).await?;
        Ok(())
    }

    fn keys(&self) -> Vec<String> {
        vec![keys::DUE.to_owned(), keys::DUE_CLAIMS.to_owned()]
    }
}
