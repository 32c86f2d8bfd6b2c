//! The JSON that an agent writes to the hook's standard input. It is read until one value is whole: some agents leave the pipe open.
//! Results of tools have up to many megabytes (screenshots, whole files); only the relevant fields are kept while they stream by.

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

/// Most bytes of the JSON.
const MOST_BYTES: u64 = 128 << 20;

/// Time without another byte after which no more is waited for.
const QUIET: Duration = Duration::from_secs(2);

/// Time that all of it may take.
const LIMIT: Duration = Duration::from_secs(20);

/// The arguments of a tool, which are kept whole.
const ARGUMENTS: [&str; 3] = ["tool_input", "toolArgs", "args"];

/// The result of a tool.
const RESULTS: [&str; 3] = ["tool_response", "toolResult", "tool_result"];

/// The fields of a result that are kept.
const OF_RESULTS: [&str; 3] = ["error", "resultType", "result_type"];

/// Longest text that is kept of any other field, in bytes: longer than any command or prompt that is looked at.
const MOST_TEXT_BYTES: usize = 128 * 1024;

/// Most members of a list or an object in any other field.
const MOST_MEMBERS: usize = 512;

/// Depth of lists and objects that is kept in any other field.
const DEPTH: usize = 4;

/// Input that is no whole JSON object.
#[derive(Debug)]
pub(super) struct InvalidInput {
    /// Why, as a sentence.
    pub(super) why: String,
    /// The fields that came before.
    pub(super) fields: Value,
}

/// The input.
///
/// # Errors
/// When it does not arrive in time, is too large, or is no JSON object.
pub(super) async fn read() -> Result<Value, InvalidInput> {
    let (fields, count) = (Arc::new(Mutex::new(Map::new())), Arc::new(AtomicU64::new(0)));
    let (sender, mut ended) = oneshot::channel();
    let reading = (fields.clone(), count.clone());
    // No task of the runtime, which would wait at its end for input that never comes.
    std::thread::spawn(move || {
        let (fields, count) = reading;
        let input = CountingReader {
            input: std::io::stdin().lock(),
            count,
        };
        let _ = sender.send(parse(input, &fields));
    });
    let (started, mut last, mut read_before) = (Instant::now(), Instant::now(), 0);
    let why = loop {
        let outcome = timeout(QUIET / 8, &mut ended).await;
        let read = count.load(Ordering::Relaxed);
        match outcome {
            Ok(Ok(Ok(()))) => return Ok(Value::Object(std::mem::take(&mut fields.lock()))),
            Ok(Ok(Err(why))) => break why,
            Ok(Err(_)) => break "the hook's input cannot be read".to_owned(),
            Err(_) if read != read_before => (last, read_before) = (Instant::now(), read),
            Err(_) if last.elapsed() >= QUIET || started.elapsed() >= LIMIT => {
                break format!("the hook's input did not end: no whole JSON after {read} bytes");
            }
            Err(_) => {}
        }
    };
    let fields = Value::Object(std::mem::take(&mut fields.lock()));
    Err(InvalidInput { why, fields })
}

/// Reads one object into `fields`.
fn parse(input: impl Read, fields: &Mutex<Map<String, Value>>) -> Result<(), String> {
    let input = BufReader::new(JsonCleaner::new(input.take(MOST_BYTES)));
    let mut json = serde_json::Deserializer::from_reader(input);
    Fields(fields).deserialize(&mut json).map_err(|error| match error {
        error if error.is_eof() && error.column() as u64 >= MOST_BYTES => {
            format!("the hook's input is larger than {MOST_BYTES} bytes")
        }
        error if error.is_data() => format!("the hook's input is not a JSON object: {error}"),
        error => format!("the hook's input is not JSON: {error}"),
    })
}

/// Counts the bytes that have arrived.
struct CountingReader<R> {
    input: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The fields of the object.
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
                arguments if ARGUMENTS.contains(&arguments) => map.next_value()?,
                result if RESULTS.contains(&result) => map.next_value_seed(TruncatedValue::of_result())?,
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
    /// The members of an object that are kept; all where there are none.
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
            names: &OF_RESULTS,
            ..TruncatedValue::new()
        }
    }

    fn below(self) -> TruncatedValue {
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
        Ok(beginning(text, MOST_TEXT_BYTES).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MOST_MEMBERS {
            match list.next_element_seed(self.below())? {
                Some(value) => kept.push(value),
                None => return Ok(Value::Array(kept)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let is_kept = self.names.is_empty() || self.names.contains(&name.as_str());
            if is_kept && kept.len() < MOST_MEMBERS {
                kept.insert(name, map.next_value_seed(self.below())?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Value::Object(kept))
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
        assert_eq!(fields["output"].as_str().unwrap().len(), MOST_TEXT_BYTES);
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
