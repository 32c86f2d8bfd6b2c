//! One request at a time: scripts and plain commands.

use super::commands;
use super::failure::Failure;
use super::keyspace::Keyspace;
use super::lua::{Interpreter, ScriptEnd};
use coord_store::{Request, StoreError, Value};
use parking_lot::Mutex;
use std::sync::Arc;

/// Runs requests, one at a time.
pub(super) struct Engine {
    interpreter: Interpreter,
    keyspace: Arc<Mutex<Keyspace>>,
}

pub(super) struct RequestResult {
    pub value: Value,
    /// The batch that must be durable before the value is sent.
    pub depends_on: u64,
    /// Whether the request was a script.
    pub is_script: bool,
}

impl Engine {
    /// An engine over `keyspace`.
    pub fn new(interpreter: Interpreter, keyspace: Arc<Mutex<Keyspace>>) -> Self {
        Engine { interpreter, keyspace }
    }

    pub fn run(&mut self, request: &Request) -> Result<RequestResult, StoreError> {
        match request {
            Request::Script { script, keys, args } => {
                let is_query = script.is_query();
                {
                    let mut keyspace = self.keyspace.lock();
                    keyspace.refuses_writes = is_query && keyspace.layers.is_failing();
                }
                let keys = keys.iter().map(String::as_bytes);
                let end = self.interpreter.run(script, keys, args.iter().map(Vec::as_slice));
                self.end_script(end, is_query)
            }
            Request::Command(words) => {
                let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                self.run_command(&words)
            }
        }
    }

    fn run_command(&self, words: &[&[u8]]) -> Result<RequestResult, StoreError> {
        let mut keyspace = self.keyspace.lock();
        keyspace.begin(false);
        let (value, depends_on) = match commands::run(&mut keyspace, words) {
            Ok(value) => (value, keyspace.layers.commit()),
            Err(Failure::Reply(text)) => (Value::Error(text.into_owned()), keyspace.layers.rollback()),
            Err(Failure::Storage(text)) => {
                keyspace.layers.rollback();
                return Err(StoreError::Failed(text));
            }
        };
        Ok(RequestResult {
            value,
            depends_on,
            is_script: false,
        })
    }

    /// Ends the transaction of a script. **One script is one transaction**: a script that raises an error leaves no
    /// change. Redis keeps writes before the error; none of our scripts relies on that. While the disk cannot be
    /// written, the changes of a query script are dropped, so that it still responds.
    fn end_script(&self, end: ScriptEnd, is_query: bool) -> Result<RequestResult, StoreError> {
        let mut keyspace = self.keyspace.lock();
        keyspace.refuses_writes = false;
        let (value, depends_on) = match end {
            ScriptEnd::Returned(value) => (
                value,
                match is_query && keyspace.layers.is_failing() {
                    true => keyspace.layers.rollback(),
                    false => keyspace.layers.commit(),
                },
            ),
            ScriptEnd::Raised(text) => (Value::Error(text), keyspace.layers.rollback()),
            ScriptEnd::Storage(text) => {
                keyspace.layers.rollback();
                return Err(StoreError::Failed(text));
            }
        };
        Ok(RequestResult {
            value,
            depends_on,
            is_script: true,
        })
    }
}
