//! The store as its callers see it.

mod commands;
mod durability;
mod faults;
mod own;
mod scripts;

use super::EmbeddedStore;
use coord_store::{Request, Store, Value};
use coord_test_support::script;
use std::time::SystemTime;

impl EmbeddedStore {
    fn in_memory() -> EmbeddedStore {
        EmbeddedStore::in_memory_by(SystemTime::now).expect("a store in memory")
    }
}

fn words(text: &[&str]) -> Request {
    Request::Command(text.iter().map(|word| word.as_bytes().to_vec()).collect())
}

/// The reply to one command.
async fn ask(store: &EmbeddedStore, text: &[&str]) -> Value {
    store.run(vec![words(text)]).await.expect("the store answers").remove(0)
}

/// The reply to a command without spaces in its words.
async fn say(store: &EmbeddedStore, line: &str) -> Value {
    ask(store, &line.split(' ').collect::<Vec<_>>()).await
}

/// The reply to a script.
async fn eval(store: &EmbeddedStore, source: &str) -> Value {
    store
        .run(vec![script::call(source, &[], &[])])
        .await
        .expect("the store answers")
        .remove(0)
}

/// A short form of a reply, for tables.
fn shown(value: &Value) -> String {
    match value {
        Value::Nil => "nil".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Bulk(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        Value::Status(text) => text.clone(),
        Value::Error(text) => format!("!{text}"),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
    }
}
