//! Records the requests that the server would send to the store.

use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use async_trait::async_trait;
use bytes::Bytes;
use coord_domain::{CommitSha, FilePath};
use coord_state::libraries::library;
use coord_store::{Request, Store, StoreError, Value};
use coord_test_worlds::script_agent::ScriptAgent;
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
    let mut agent = ScriptAgent::new(&subject.repo_url)?;
    agent.head = CommitSha::parse(&subject.head)?;
    let recorder = Recorder::default();
    // Only the recorded request is wanted, not the result.
    let _ = agent.check(&recorder, &[FilePath::parse(&file(FILE))?]).await;
    let requests = recorder.requests();
    let [Request::Script { script, keys, args }] = requests.as_slice() else {
        bail!("check_status is not one script");
    };
    let count = keys.len().to_string();
    let function = library().function("", script);
    let mut words: Vec<&[u8]> = vec![b"FCALL", function.as_bytes(), count.as_bytes()];
    words.extend(keys.iter().map(String::as_bytes));
    words.extend(args.iter().map(Vec::as_slice));
    Ok(encode(&words))
}
