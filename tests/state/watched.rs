//! A store whose events are read: each event that a script publishes is one that the protocol describes, and equals the
//! output of its type. The answers of its scripts are noted.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use coord_protocol::{Event, PublishedEvent};
use coord_store::{Promises, Request, Store, StoreError, Value};
use futures::StreamExt;
use futures::stream::BoxStream;
use jsonschema::Validator;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// The last message that is published on a channel.
const END: &str = "end";

/// Longest time for a channel to come to its end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Names of scripts, and what they have answered: the outcome, with the code of a refusal.
pub type Outcomes = BTreeSet<(&'static str, String)>;

/// A store, and who reads each channel of events that its scripts were given.
pub struct WatchedStore {
    store: Arc<dyn Store>,
    readers: Mutex<HashMap<String, JoinHandle<()>>>,
    outcomes: parking_lot::Mutex<Outcomes>,
}

impl WatchedStore {
    pub fn over(store: Arc<dyn Store>) -> Arc<WatchedStore> {
        Arc::new(WatchedStore {
            store,
            readers: Mutex::default(),
            outcomes: parking_lot::Mutex::default(),
        })
    }

    fn note(&self, script: &'static str, reply: &Value) {
        let word = |place: usize| reply.as_array()?.get(place)?.as_str();
        let Some(outcome) = word(0) else { return };
        // The code alone, or an answer in JSON, which may have one.
        let code = |text: &str| match serde_json::from_str::<Json>(text) {
            Ok(answer) => Some(answer.get("code")?.as_str()?.to_owned()),
            Err(_) => Some(text.to_owned()),
        };
        let code = word(2).filter(|_| outcome == "REFUSED").and_then(code);
        let outcome = code.map_or_else(|| outcome.to_owned(), |code| format!("REFUSED {code}"));
        self.outcomes.lock().insert((script, outcome));
    }

    /// Reads the channels of `batch` from before its scripts publish anything.
    async fn watch(&self, batch: &[Request]) -> Result<(), StoreError> {
        let keys = batch.iter().flat_map(|request| match request {
            Request::Script { keys, .. } => keys.as_slice(),
            Request::Command(_) => &[],
        });
        for channel in keys.filter(|key| key.starts_with("coord:events:")) {
            let mut readers = self.readers.lock().await;
            if !readers.contains_key(channel) {
                let events = self.store.subscribe(channel).await?;
                readers.insert(channel.clone(), tokio::spawn(read(events)));
            }
        }
        Ok(())
    }

    /// Panics where an event was not as its type has it. Returns what scripts have answered.
    pub async fn finish(&self) -> Outcomes {
        for (channel, reader) in self.readers.lock().await.drain() {
            let end = vec![Request::command(["PUBLISH", &channel, END])];
            self.store.run(end).await.unwrap();
            let read = tokio::time::timeout(PATIENCE, reader).await;
            read.expect("the events have no end")
                .expect("every event is of the type");
        }
        std::mem::take(&mut *self.outcomes.lock())
    }
}

async fn read(mut events: BoxStream<'static, Bytes>) {
    while let Some(message) = events.next().await {
        if message == END {
            return;
        }
        if let Err(problem) = decode(&message) {
            panic!("{problem}: {}", String::from_utf8_lossy(&message));
        }
    }
    panic!("the subscription ended before the test");
}

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema = json!({
        "$ref": "#/components/schemas/PublishedEvent",
        "components": coord_extensions::document()["components"],
    });
    jsonschema::draft202012::new(&schema).unwrap()
});

/// The event of a message, where it is what the type writes, and what its schema describes.
fn decode(message: &[u8]) -> Result<Event, String> {
    let sent: Json = serde_json::from_slice(message).map_err(|error| error.to_string())?;
    let read: PublishedEvent = serde_json::from_value(sent.clone()).map_err(|error| error.to_string())?;
    let written = json!(read);
    if written != sent {
        return Err(format!("the type writes {written}"));
    }
    SCHEMA.validate(&sent).map_err(|error| error.to_string())?;
    let is_logged = !matches!(read.event, Event::GraphProgress(_));
    if read.id.is_some() != is_logged {
        return Err("an event has an id where it is in the log".to_owned());
    }
    Ok(read.event)
}

#[async_trait]
impl Store for WatchedStore {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        self.watch(&batch).await?;
        let scripts: Vec<Option<&'static str>> = batch
            .iter()
            .map(|request| match request {
                Request::Script { script, .. } => Some(script.name),
                Request::Command(_) => None,
            })
            .collect();
        let replies = self.store.run(batch).await?;
        for (script, reply) in scripts.into_iter().zip(&replies) {
            if let Some(script) = script {
                self.note(script, reply);
            }
        }
        Ok(replies)
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        self.store.subscribe(channel).await
    }

    async fn promises(&self) -> Promises {
        self.store.promises().await
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}

#[test]
fn an_event_that_does_not_match_its_type_is_an_error() {
    let with = |more: Json| {
        let mut event =
            json!({ "type": "graph_update", "branch": "main", "version": "a".repeat(40), "time": 1, "id": "1-0" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        decode(event.to_string().as_bytes()).map(|_| ())
    };
    assert_eq!(with(json!({})), Ok(()));
    for wrong in [
        json!({ "type": "graph_renamed" }),
        json!({ "more": 1 }),
        json!({ "time": "1" }),
        json!({ "version": null }),
        json!({ "branch": "a b" }),
        json!({ "type": "lock_expired" }),
        json!({ "id": null }),
    ] {
        assert!(with(wrong.clone()).is_err(), "{wrong}");
    }
}
