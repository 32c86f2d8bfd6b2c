//! `coord store export`: a line of JSON for each key, and several for a large collection.
//!
//! `{"key", "type", "expires_in_ms", "value"}`. The value of a string is its text; of a hash or sorted set, a list of
//! `[name, value]`; of a stream, a list of `[id, [field, value, ...]]`. Bytes that are not UTF-8 are
//! `{"base64": "..."}`.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use coord_store::{Store, Value};
use serde_json::{Value as Json, json};

use super::contents::{Keys, PAGE_SIZE, run_command, run_commands, strings};

/// Prefix of the keys that are left out, because they contain digests of credentials.
const CREDENTIALS: &str = "coord:identity:";

/// Writes the content of `store` to `file`, or to standard output.
///
/// # Errors
/// When the store cannot be read or the file, which must not exist, cannot be written.
pub async fn run(store: &dyn Store, file: Option<PathBuf>) -> anyhow::Result<()> {
    let (out, name): (Box<dyn Write + Send>, String) = match &file {
        Some(path) => {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let name = path.display().to_string();
            let file = options.open(path).with_context(|| format!("cannot create {name}"))?;
            (Box::new(file), name)
        }
        None => (Box::new(std::io::stdout()), "standard output".to_owned()),
    };
    let mut export = Export {
        store,
        out: BufWriter::new(out),
        name,
    };
    let mut keys = Keys::of(store);
    while let Some(page) = keys.next().await? {
        for key in page.iter().filter(|key| !key.starts_with(CREDENTIALS)) {
            export.export_key(key).await?;
        }
    }
    export.out.flush().with_context(|| export.name.clone())
}

struct Export<'s> {
    store: &'s dyn Store,
    out: BufWriter<Box<dyn Write + Send>>,
    /// The name of the output, for errors.
    name: String,
}

impl Export<'_> {
    async fn export_key(&mut self, key: &str) -> anyhow::Result<()> {
        let replies = run_commands(self.store, &[vec!["TYPE", key], vec!["PTTL", key]]).await?;
        let kind = replies[0].as_str().unwrap_or_default().to_owned();
        let expires_in_ms = replies[1].as_int().filter(|ms| *ms >= 0);
        match kind.as_str() {
            "string" => {
                let value = run_command(self.store, &["GET", key]).await?;
                self.write_line(key, &kind, expires_in_ms, &to_json(&value))
            }
            "hash" => {
                let fields = strings(&run_command(self.store, &["HKEYS", key]).await?);
                for page in fields.chunks(PAGE_SIZE) {
                    let mut command = vec!["HMGET", key];
                    command.extend(page.iter().map(String::as_str));
                    let values = run_command(self.store, &command).await?;
                    let values = values.as_array().unwrap_or_default().iter();
                    let pairs: Json = page
                        .iter()
                        .zip(values)
                        .map(|(name, value)| json!([name, to_json(value)]))
                        .collect();
                    self.write_line(key, &kind, expires_in_ms, &pairs)?;
                }
                Ok(())
            }
            "zset" => {
                for first in (0..).step_by(PAGE_SIZE) {
                    let (first, last) = (first.to_string(), (first + PAGE_SIZE - 1).to_string());
                    let members = run_command(self.store, &["ZRANGE", key, &first, &last, "WITHSCORES"]).await?;
                    let (pairs, _) = members.as_array().unwrap_or_default().as_chunks::<2>();
                    if pairs.is_empty() {
                        break;
                    }
                    let pairs: Json = pairs
                        .iter()
                        .map(|pair| pair.iter().map(to_json).collect::<Json>())
                        .collect();
                    self.write_line(key, &kind, expires_in_ms, &pairs)?;
                }
                Ok(())
            }
            "stream" => {
                let (mut start, count) = ("-".to_owned(), PAGE_SIZE.to_string());
                loop {
                    let entries = run_command(self.store, &["XRANGE", key, &start, "+", "COUNT", &count]).await?;
                    let entries = entries.as_array().unwrap_or_default();
                    let last_id = entries.last().and_then(|entry| entry.as_array()?.first()?.as_str());
                    let Some(last_id) = last_id else { return Ok(()) };
                    start = format!("({last_id}");
                    self.write_line(key, &kind, expires_in_ms, &entries.iter().map(to_json).collect())?;
                }
            }
            // The key has expired meanwhile.
            "none" => Ok(()),
            other => bail!("{key} has a type that Coord does not use: {other}"),
        }
    }

    fn write_line(&mut self, key: &str, kind: &str, expires_in_ms: Option<i64>, value: &Json) -> anyhow::Result<()> {
        let line = json!({ "key": key, "type": kind, "expires_in_ms": expires_in_ms, "value": value });
        writeln!(self.out, "{line}").with_context(|| self.name.clone())
    }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Nil => Json::Null,
        Value::Int(number) => json!(number),
        Value::Status(text) | Value::Error(text) => json!(text),
        Value::Bulk(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({ "base64": STANDARD.encode(bytes) }),
        },
        Value::Array(items) => items.iter().map(to_json).collect(),
    }
}
