//! Reads of the log.

use serde_json::{Map, Value as Json};

use super::keys;
use crate::domain::RepoId;
use crate::state::read::Read;
use crate::store::{Request, StoreError, Value};

/// An event as its script has written it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEvent {
    /// Its id in the log: the cursor from which a reader resumes.
    pub id: String,
    /// Its fields.
    pub fields: Map<String, Json>,
}

/// Reads the newest `most` events of `repo`, the latest first.
pub fn newest_events(repo: &RepoId, most: usize) -> Read<Vec<LoggedEvent>> {
    let most = most.to_string();
    let request = Request::command(["XREVRANGE", &keys::status_log(repo), "+", "-", "COUNT", &most]);
    Read::new([request], |[entries]| decode(&entries))
}

fn decode(entries: &Value) -> Result<Vec<LoggedEvent>, StoreError> {
    let malformed = || StoreError::Malformed("the log of a repository".to_owned());
    let entries = entries.as_array().ok_or_else(malformed)?;
    let events = entries.iter().map(|entry| {
        let [id, fields] = entry.as_array()? else {
            return None;
        };
        let [_, event] = fields.as_array()? else {
            return None;
        };
        Some(LoggedEvent {
            id: id.as_str()?.to_owned(),
            fields: serde_json::from_str(event.as_str()?).ok()?,
        })
    });
    events.map(|event| event.ok_or_else(malformed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(event: &str) -> Value {
        let fields = Value::Array(vec![Value::bulk("event"), Value::bulk(event)]);
        Value::Array(vec![Value::bulk("1-0"), fields])
    }

    #[test]
    fn a_log_that_cannot_be_read_is_no_empty_log() {
        for reply in [
            Value::Nil,
            Value::Array(vec![Value::bulk("1-0")]),
            Value::Array(vec![entry("no JSON")]),
        ] {
            assert!(decode(&reply).is_err(), "{reply:?}");
        }
        assert_eq!(decode(&Value::Array(vec![])).unwrap(), []);
        let events = decode(&Value::Array(vec![entry("{\"type\":\"head_moved\"}")])).unwrap();
        assert_eq!(
            (events[0].id.as_str(), &events[0].fields["type"]),
            ("1-0", &"head_moved".into())
        );
    }
}
