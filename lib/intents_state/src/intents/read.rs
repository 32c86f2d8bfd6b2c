//! Reads of the registry. The texts of intents are read only for given ids: each may have 64 KiB.

use std::collections::BTreeMap;

use super::keys;
use super::record::{IntentRecord, IntentUse, Session, StoredIntent};
use coord_domain::{Holder, RepoId};
use coord_state::read::{Read, parse_json};
use coord_state::unix_ms;
use coord_store::{Request, Store, StoreError, Value};

/// The registry of a repository, without the texts of intents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registry {
    /// Its version; empty without any intent.
    pub version: String,
    /// The records by id.
    pub records: BTreeMap<String, IntentRecord>,
    /// The costs of the work, by id.
    pub uses: BTreeMap<String, IntentUse>,
    /// The handshake of the caller.
    pub session: Session,
    /// The store's clock, Unix milliseconds.
    pub now_ms: u64,
}

impl Registry {
    /// The ids in the order of creation.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<(u64, &str)> = self
            .records
            .iter()
            .map(|(id, record)| (record.order, id.as_str()))
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }
}

/// Reads the registry as `holder` sees it.
pub fn registry(repo: &RepoId, holder: &Holder) -> Read<Registry> {
    let requests = [
        Request::command(["GET", &keys::governed(repo)]),
        Request::command(["HGETALL", &keys::intents(repo)]),
        Request::command(["HGETALL", &keys::intent_use(repo)]),
        Request::command(["HGET", &keys::sessions(repo, holder), holder.agent_or_empty()]),
        Request::command(["TIME"]),
    ];
    Read::new(requests, |[version, records, uses, session, time]| {
        let now_ms = unix_ms(&time).ok_or_else(|| malformed("the clock"))?;
        Ok(Registry {
            version: version.as_str().unwrap_or_default().to_owned(),
            records: decode_records(&records)?,
            uses: decode_uses(&uses)?,
            session: match &session {
                Value::Nil => Session::default(),
                stored => decode_session(bytes(stored)?, now_ms)?,
            },
            now_ms,
        })
    })
}

/// Decodes a session as `modules/session.lua` stores it.
fn decode_session(stored: &[u8], now_ms: u64) -> Result<Session, StoreError> {
    /// How long a session is remembered, in milliseconds.
    const KEPT_FOR_MS: u64 = 86_400_000;
    let stored = std::str::from_utf8(stored).ok();
    let parts = stored.and_then(|stored| stored.split_once(' '));
    let (time, json) = parts.ok_or_else(|| malformed("a session"))?;
    let time: u64 = time.parse().map_err(|_| malformed("a session"))?;
    if now_ms.saturating_sub(time) >= KEPT_FOR_MS {
        return Ok(Session::default());
    }
    parse_json(json.as_bytes())
}

/// Reads the texts of those of the intents that exist. One round trip, none without ids.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn intent_texts(
    store: &dyn Store,
    repo: &RepoId,
    ids: &[&str],
) -> Result<BTreeMap<String, StoredIntent>, StoreError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let key = keys::intent_texts(repo);
    let words = ["HMGET", &key].into_iter().chain(ids.iter().copied());
    let request = Request::Command(words.map(|word| word.as_bytes().to_vec()).collect());
    let texts = Read::new([request], |[texts]| Ok(texts)).run(store).await?;
    let texts = texts.as_array().ok_or_else(|| malformed("the texts of intents"))?;
    let mut stored_intents = BTreeMap::new();
    for (id, text) in ids.iter().zip(texts) {
        if !matches!(text, Value::Nil) {
            stored_intents.insert((*id).to_owned(), parse_json(bytes(text)?)?);
        }
    }
    Ok(stored_intents)
}

fn malformed(detail: &str) -> StoreError {
    StoreError::Malformed(format!("{detail} of a repository"))
}

fn bytes(value: &Value) -> Result<&[u8], StoreError> {
    match value {
        Value::Bulk(bytes) => Ok(bytes),
        _ => Err(malformed("a value of the intents")),
    }
}

/// The fields of a hash with their values.
fn fields(hash: &Value) -> Result<Vec<(String, &[u8])>, StoreError> {
    let pairs = hash.as_pairs().ok_or_else(|| malformed("a hash of the intents"))?;
    let fields = pairs.iter().map(|[name, value]| {
        let name = String::from_utf8(bytes(name)?.to_vec());
        let name = name.map_err(|error| StoreError::Malformed(error.to_string()))?;
        Ok((name, bytes(value)?))
    });
    fields.collect()
}

/// The records of intents, by id.
fn decode_records(hash: &Value) -> Result<BTreeMap<String, IntentRecord>, StoreError> {
    let records = fields(hash)?.into_iter().map(|(id, json)| Ok((id, parse_json(json)?)));
    records.collect()
}

/// The costs of the work on intents, by id.
fn decode_uses(hash: &Value) -> Result<BTreeMap<String, IntentUse>, StoreError> {
    let uses = fields(hash)?.into_iter().map(|(id, text)| {
        let intent_use = std::str::from_utf8(text).ok().and_then(IntentUse::parse);
        Ok((id, intent_use.ok_or_else(|| malformed("the use of an intent"))?))
    });
    uses.collect()
}
