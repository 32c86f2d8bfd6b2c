//! A store in memory, whose log and channel are under the control of a test.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::stream::BoxStream;

use coord_domain::EventId;
use coord_store::{Request, Store, StoreError, Value};

/// An event for a watcher: only the branch varies.
pub fn event(id: Option<&str>, branch: &str) -> String {
    let id = id.map(|id| format!(r#""id":"{id}","#)).unwrap_or_default();
    format!(r#"{{{id}"type":"graph_update","branch":"{branch}","version":"9bee4e1","time":1}}"#)
}

pub const UNKNOWN: &str = r#""type":"task_opened","time":1}"#;

#[derive(Default)]
pub struct Fake {
    log: Mutex<Vec<(EventId, String)>>,
    channels: Mutex<Vec<UnboundedSender<Bytes>>>,
    /// Subscriptions and requests so far.
    pub subscriptions: AtomicUsize,
    pub requests: AtomicUsize,
    /// Whether it responds to nothing.
    pub is_away: AtomicBool,
    /// Whether its channel delivers nothing.
    pub is_silent: AtomicBool,
    /// Whether it ends every subscription at once.
    pub is_ending: AtomicBool,
}

impl Fake {
    pub fn new() -> Arc<Fake> {
        Arc::default()
    }

    /// Writes event `number` to the log.
    pub fn log(&self, number: u64) {
        self.log_as(number, &event(None, "main"));
    }

    pub fn log_as(&self, number: u64, json: &str) {
        self.log.lock().unwrap().push((id(number), json.to_owned()));
    }

    /// Publishes event `number`.
    pub fn publish(&self, number: u64) {
        self.publish_as(&event(Some(&id(number).to_string()), "main"));
    }

    pub fn publish_as(&self, json: &str) {
        if !self.is_silent.load(Ordering::SeqCst) {
            let message = Bytes::from(json.to_owned());
            let mut channels = self.channels.lock().unwrap();
            channels.retain(|channel| channel.unbounded_send(message.clone()).is_ok());
        }
    }

    /// Does both, as a script does.
    pub fn emit(&self, number: u64) {
        self.log(number);
        self.publish(number);
    }

    /// Both for an event of a type that this version does not know.
    pub fn emit_unknown(&self, number: u64) {
        self.log_as(number, &format!("{{{UNKNOWN}"));
        self.publish_as(&format!(r#"{{"id":"{}",{UNKNOWN}"#, id(number)));
    }

    /// Ends all subscriptions.
    pub fn lose(&self) {
        self.channels.lock().unwrap().clear();
    }

    /// Forgets the events before `number`.
    pub fn trim(&self, number: u64) {
        self.log.lock().unwrap().retain(|(logged, _)| *logged >= id(number));
    }

    pub fn subscribed(&self) -> usize {
        self.subscriptions.load(Ordering::SeqCst)
    }

    pub fn request_count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub fn open(&self) -> usize {
        let channels = self.channels.lock().unwrap();
        channels.iter().filter(|channel| !channel.is_closed()).count()
    }

    fn answer(&self, words: &[Vec<u8>]) -> Value {
        let words: Vec<&str> = words.iter().map(|word| std::str::from_utf8(word).unwrap()).collect();
        let [command, _, from, to, "COUNT", most] = words[..] else {
            // The newest event that was dropped between others: none is.
            assert_eq!(words[0], "HGET", "{words:?}");
            return Value::Nil;
        };
        let bound = |text: &str| match text {
            "-" => EventId::START,
            "+" => id(u64::MAX),
            text => EventId::parse(text).unwrap(),
        };
        let log = self.log.lock().unwrap();
        let entry = |(id, json): &(EventId, String)| {
            let fields = Value::Array(vec![Value::bulk("event"), Value::bulk(json.as_str())]);
            Value::Array(vec![Value::bulk(id.to_string()), fields])
        };
        let most = most.parse().unwrap();
        let between = |least: EventId, greatest: EventId| {
            log.iter()
                .filter(move |(logged, _)| (least..=greatest).contains(logged))
        };
        Value::Array(match command {
            "XRANGE" => between(bound(from), bound(to)).take(most).map(entry).collect(),
            "XREVRANGE" => between(bound(to), bound(from)).rev().take(most).map(entry).collect(),
            other => panic!("{other}"),
        })
    }

    fn respond(&self) -> Result<(), StoreError> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(StoreError::Unreachable("a test".to_owned()));
        }
        Ok(())
    }
}

pub fn id(number: u64) -> EventId {
    // The greatest id has as many digits as one may have.
    let number = number.min(9_999_999_999_999_999_999);
    EventId::parse(&format!("{number}-0")).unwrap()
}

#[async_trait]
impl Store for Fake {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.respond()?;
        let answer = |request: &Request| match request {
            Request::Command(words) => self.answer(words),
            Request::Script { .. } => panic!("a watcher runs no script"),
        };
        Ok(batch.iter().map(answer).collect())
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        assert!(channel.starts_with("coord:events:"), "{channel}");
        self.respond()?;
        self.subscriptions.fetch_add(1, Ordering::SeqCst);
        let (sender, messages) = unbounded();
        if !self.is_ending.load(Ordering::SeqCst) {
            self.channels.lock().unwrap().push(sender);
        }
        Ok(messages.boxed())
    }

    fn describe(&self) -> String {
        "a store of a test".to_owned()
    }
}
