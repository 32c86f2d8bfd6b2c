//! Reads of the log.

use coord_protocol::Event;
use serde_json::Value as Json;

use super::keys;
use crate::read::Read;
use coord_domain::{EventId, RepoId};
use coord_store::{Request, StoreError, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct LoggedEvent {
    /// Its id in the log: the cursor from which a reader resumes.
    pub id: EventId,
    /// The event; `None` if this version does not know it, such as after a downgrade.
    pub event: Option<Event>,
}

/// Events after a cursor in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LaterEvents {
    pub events: Vec<LoggedEvent>,
    /// The oldest event of the log, or the newest dropped one: a reader whose cursor is before it has missed events.
    pub oldest: Option<EventId>,
}

/// Reads the newest `max_events` events of `repo`, the latest first.
pub fn newest_events(repo: &RepoId, max_events: usize) -> Read<Vec<LoggedEvent>> {
    let max_events = max_events.to_string();
    let request = Request::command(["XREVRANGE", &keys::status_log(repo), "+", "-", "COUNT", &max_events]);
    Read::new([request], |[entries]| decode(&entries))
}

/// Reads at most `max_events` events of `repo` that come after `after`.
pub fn events_after(repo: &RepoId, after: EventId, max_events: usize) -> Read<LaterEvents> {
    let (log, first, max_events) = (keys::status_log(repo), after.next().to_string(), max_events.to_string());
    let later = Request::command(["XRANGE", &log, &first, "+", "COUNT", &max_events]);
    let oldest = Request::command(["XRANGE", &log, "-", "+", "COUNT", "1"]);
    let dropped = Request::command(["HGET", &keys::shares(repo), "\nevents"]);
    Read::new([later, oldest, dropped], |[later, oldest, dropped]| {
        let dropped = dropped.as_str().and_then(|id| EventId::parse(id).ok());
        Ok(LaterEvents {
            events: decode(&later)?,
            oldest: decode(&oldest)?
                .first()
                .map(|event| dropped.map_or(event.id, |id| id.max(event.id))),
        })
    })
}

/// Reads the newest `max_events` events of `repo` that come before `before`, the latest first.
pub fn events_before(repo: &RepoId, before: EventId, max_events: usize) -> Read<Vec<LoggedEvent>> {
    let (log, max_events) = (keys::status_log(repo), max_events.to_string());
    let last = before.previous().to_string();
    let request = Request::command(["XREVRANGE", &log, &last, "-", "COUNT", &max_events]);
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
        let event: Json = serde_json::from_str(event.as_str()?).ok()?;
        Some(LoggedEvent {
            id: EventId::parse(id.as_str()?).ok()?,
            event: serde_json::from_value(event).ok(),
        })
    });
    events.map(|event| event.ok_or_else(malformed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, event: &str) -> Value {
        let fields = Value::Array(vec![Value::bulk("event"), Value::bulk(event)]);
        Value::Array(vec![Value::bulk(id), fields])
    }

    #[test]
    fn a_log_that_cannot_be_read_is_no_empty_log() {
        for reply in [
            Value::Nil,
            Value::Array(vec![Value::bulk("1-0")]),
            Value::Array(vec![entry("1-0", "no JSON")]),
            Value::Array(vec![entry("one", "{}")]),
        ] {
            assert!(decode(&reply).is_err(), "{reply:?}");
        }
        assert_eq!(decode(&Value::Array(vec![])).unwrap(), []);
    }

    #[test]
    fn an_event_of_a_newer_version_keeps_its_place() {
        let update = r#"{"type":"graph_update","branch":"main","version":"9bee4e1","time":1}"#;
        let events = Value::Array(vec![entry("1-0", update), entry("1-1", r#"{"type":"task_opened"}"#)]);
        let events = decode(&events).unwrap();
        assert!(matches!(events[0].event, Some(Event::GraphUpdate(_))), "{events:?}");
        assert_eq!((events[1].id.to_string().as_str(), &events[1].event), ("1-1", &None));
    }
}
