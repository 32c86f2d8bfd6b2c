//! Records the requests that the server would send to the store.

use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use bytes::Bytes;
use coord_domain::{Branch, CommitSha, FilePath, Holder, LockMode, NeighborPolicy, RepoId, UserId};
use coord_state as state;
use coord_state::admission::AdmissionTerms;
use coord_state::libraries::library;
use coord_store::{Request, Store, StoreError, Value};
use futures::stream::BoxStream;

use crate::client::Subject;
use crate::redis_link::encode;
use crate::repository::{FILE, file};

/// Records requests, and returns no result.
#[derive(Default)]
pub struct Recorder(Mutex<Vec<Request>>);

impl Recorder {
    /// Returns the recorded requests.
    pub fn requests(self) -> Vec<Request> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for Recorder {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(batch);
        Err(StoreError::Unreachable("nothing is behind this".to_owned()))
    }

    async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        Err(StoreError::Unreachable("nothing is behind this".to_owned()))
    }

    fn describe(&self) -> String {
        "a recorder".to_owned()
    }
}

/// The command that `check_status` sends to Redis.
pub async fn bare_check(subject: &Subject) -> Result<Vec<u8>> {
    let repo = RepoId::parse(&subject.repo_url).context("the repository")?;
    let branch = Branch::parse("main").context("the branch")?;
    let head = CommitSha::parse(&subject.head).context("the head")?;
    let holder = Holder {
        user_id: UserId::parse("ann").context("the user")?,
        user_name: "ann".to_owned(),
        agent_id: None,
    };
    let known = [head.clone()];
    let entry = AdmissionTerms::of(&repo, &branch, &holder, Some(&head), &known);
    let paths = [FilePath::parse(&file(FILE)).context("the file")?];
    let recorder = Recorder::default();
    // Only the recorded request is wanted, not the result.
    let policy = &state::locks::PolicyTerms::of(NeighborPolicy::Block);
    let gate = &state::locks::GateTerms::NONE;
    let _ = state::locks::check_status(&recorder, &entry, &paths, LockMode::Writing, policy, gate).await;
    let asked = recorder.requests();
    let [Request::Script { script, keys, args }] = asked.as_slice() else {
        bail!("check_status is not one script");
    };
    let count = keys.len().to_string();
    let function = library().function("", script);
    let mut words: Vec<&[u8]> = vec![b"FCALL", function.as_bytes(), count.as_bytes()];
    words.extend(keys.iter().map(String::as_bytes));
    words.extend(args.iter().map(Vec::as_slice));
    Ok(encode(&words))
}
