//! The JSON that an agent writes to the hook's standard input. It is read until one value is complete: some agents
//! leave the pipe open. Results of tools can have many megabytes (screenshots, whole files). They are parsed as a
//! stream, and only the relevant fields are stored.

mod clean;

use std::fmt;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coord_protocol::plain_text::beginning;
use parking_lot::Mutex;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use clean::JsonCleaner;

/// Maximum size of the JSON, in bytes.
const MAX_BYTES: u64 = 128 << 20;

/// Time without another byte after which the hook stops waiting.
const QUIET: Duration = Duration::from_secs(2);

/// Time limit of the whole input.
const LIMIT: Duration = Duration::from_secs(20);

/// The fields with the arguments of a tool, which are stored completely.
const ARGUMENT_FIELDS: [&str; 3] = ["tool_input", "toolArgs", "args"];

/// The fields with the result of a tool.
const RESULT_FIELDS: [&str; 3] = ["tool_response", "toolResult", "tool_result"];

/// The members of a result that are stored.
const RESULT_MEMBERS: [&str; 3] = ["error", "resultType", "result_type"];

/// Maximum text of any other field, in bytes: longer than any command or prompt that the hooks use.
const MAX_TEXT_BYTES: usize = 128 * 1024;

/// Maximum number of members of a list or an object in any other field.
const MAX_MEMBERS: usize = 512;

/// Maximum depth of lists and objects in any other field.
const DEPTH: usize = 4;

/// Input that is not a complete JSON object.
#[derive(Debug)]
pub(super) struct InvalidInput {
    /// Why, as a sentence.
    pub(super) why: String,
    /// The fields before the problem.
    pub(super) fields: Value,
}

/// Reads the input.
///
/// # Errors
/// When it does not arrive in time, is too large, or is not a JSON object.
pub(super) async fn read() -> Result<Value, InvalidInput> {
    let (fields, count) = (Arc::new(Mutex::new(Map::new())), Arc::new(AtomicU64::new(0)));
    let (sender, mut receiver) = oneshot::channel();
    let shared = (fields.clone(), count.clone());
    // A thread instead of a task: at its end, the runtime would wait for a task whose input never comes.
    std::thread::spawn(move || {
        let (fields, count) = shared;
        let input = CountingReader {
            input: std::io::stdin().lock(),
            count,
        };
        let _ = sender.send(parse(input, &fields));
    });
    let (started, mut last_arrival, mut last_count) = (Instant::now(), Instant::now(), 0);
    let why = loop {
        let outcome = timeout(QUIET / 8, &mut receiver).await;
        let count = count.load(Ordering::Relaxed);
        match outcome {
            Ok(Ok(Ok(()))) => return Ok(Value::Object(std::mem::take(&mut fields.lock()))),
            Ok(Ok(Err(why))) => break why,
            Ok(Err(_)) => break "the hook's input cannot be read".to_owned(),
            Err(_) if count != last_count => (last_arrival, last_count) = (Instant::now(), count),
            Err(_) if last_arrival.elapsed() >= QUIET || started.elapsed() >= LIMIT => {
                break format!("the hook's input did not end: no whole JSON after {count} bytes");
            }
            Err(_) => {}
        }
    };
    let fields = Value::Object(std::mem::take(&mut fields.lock()));
    Err(InvalidInput { why, fields })
}

/// Reads one object into `fields`.
fn parse(input: impl Read, fields: &Mutex<Map<String, Value>>) -> Result<(), String> {
    let input = BufReader::new(JsonCleaner::new(input.take(MAX_BYTES)));
    let mut json = serde_json::Deserializer::from_reader(input);
    Fields(fields).deserialize(&mut json).map_err(|error| match error {
        error if error.is_eof() && error.column() as u64 >= MAX_BYTES => {
            format!("the hook's input is larger than {MAX_BYTES} bytes")
        }
        error if error.is_data() => format!("the hook's input is not a JSON object: {error}"),
        error => format!("the hook's input is not JSON: {error}"),
    })
}

/// Counts the received bytes.
struct CountingReader<R> {
    input: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Stores the fields of the object.
struct Fields<'a>(&'a Mutex<Map<String, Value>>);

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let value = match name.as_str() {
                arguments if ARGUMENT_FIELDS.contains(&arguments) => map.next_value()?,
                result if RESULT_FIELDS.contains(&result) => map.next_value_seed(TruncatedValue::of_result())?,
                _ => map.next_value_seed(TruncatedValue::new())?,
            };
            self.0.lock().insert(name, value);
        }
        Ok(())
    }
}

/// A value without its long or deep parts.
#[derive(Clone, Copy)]
struct TruncatedValue {
    depth: usize,
    /// The members of an object that are stored. If empty, all members are.
    names: &'static [&'static str],
}

impl TruncatedValue {
    fn new() -> TruncatedValue {
        TruncatedValue {
            depth: DEPTH,
            names: &[],
        }
    }

    fn of_result() -> TruncatedValue {
        TruncatedValue {
            names: &RESULT_MEMBERS,
            ..TruncatedValue::new()
        }
    }

    fn nested(self) -> TruncatedValue {
        TruncatedValue {
            depth: self.depth - 1,
            names: &[],
        }
    }
}

impl<'de> DeserializeSeed<'de> for TruncatedValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        match self.depth {
            0 => json.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null),
            _ => json.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for TruncatedValue {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(beginning(text, MAX_TEXT_BYTES).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while members.len() < MAX_MEMBERS {
            match list.next_element_seed(self.nested())? {
                Some(value) => members.push(value),
                None => return Ok(Value::Array(members)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(members))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let is_stored = self.names.is_empty() || self.names.contains(&name.as_str());
            if is_stored && members.len() < MAX_MEMBERS {
                members.insert(name, map.next_value_seed(self.nested())?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(input: &[u8]) -> (Result<(), String>, Value) {
        let fields = Mutex::new(Map::new());
        let outcome = parse(input, &fields);
        (outcome, Value::Object(fields.into_inner()))
    }

    /// Gives a part of the input, and then never ends.
    struct Open<'a>(&'a [u8]);

    impl Read for Open<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            assert!(!self.0.is_empty(), "it waits for more than the value");
            let (now, rest) = self.0.split_at(self.0.len().min(buffer.len()).min(7));
            buffer[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    #[test]
    fn nothing_is_read_after_the_end_of_the_value() {
        for text in [
            r#"{"tool_name":"Read","tool_input":{"file_path":"/a"}}"#,
            r#"{"prompt":"half \ud83d"}"#,
            r#"{"prompt":"a line\n"}"#,
            "{\"prompt\":\"ü\"}",
        ] {
            let fields = Mutex::new(Map::new());
            assert_eq!(parse(Open(text.as_bytes()), &fields), Ok(()), "{text}");
            assert!(!fields.lock().is_empty());
        }
    }

    #[test]
    fn of_a_large_result_only_what_counts_is_kept() {
        let image = "A".repeat(4 << 20);
        let input = serde_json::json!({
            "tool_response": { "originalFile": image, "error": { "message": "no" }, "data": [1, 2] },
            "output": image,
            "tool_input": { "content": image },
        });
        let (outcome, fields) = parsed(input.to_string().as_bytes());
        assert_eq!(outcome, Ok(()));
        assert_eq!(
            fields["tool_response"],
            serde_json::json!({ "error": { "message": "no" } })
        );
        assert_eq!(fields["output"].as_str().unwrap().len(), MAX_TEXT_BYTES);
        assert_eq!(fields["tool_input"]["content"], image);
    }

    #[test]
    fn the_fields_before_a_defect_are_known() {
        let (outcome, fields) = parsed(br#"{"tool_name":"Read","x":}"#);
        assert!(outcome.unwrap_err().starts_with("the hook's input is not JSON"));
        assert_eq!(fields["tool_name"], "Read");
        let (outcome, _) = parsed(b"[1]");
        assert!(
            outcome
                .unwrap_err()
                .starts_with("the hook's input is not a JSON object")
        );
    }
}
