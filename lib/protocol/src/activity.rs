//! `GET /api/activity`.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::event::PublishedEvent;
use crate::schema::EventId;

/// Recent events.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = Activity)]
pub struct ActivityResponse {
    /// The newest first; with `after`, the oldest first.
    #[serde(deserialize_with = "deserialize_known_events")]
    #[schema(max_items = 100)]
    pub events: Vec<PublishedEvent>,
    /// The value of `after` for the next events.
    #[schema(value_type = EventId)]
    pub cursor: String,
    /// The value of `before` for the events before these; absent if the log has none, and with `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = EventId, required = false)]
    pub earlier: Option<String>,
    /// `true` where the log no longer reaches back to `after`, so that events before these may be missing. It keeps the newest
    /// 10,000, for seven days.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// Skips events of types that this version does not know: later versions may have more types.
fn deserialize_known_events<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PublishedEvent>, D::Error> {
    let events = Vec::<Json>::deserialize(deserializer)?;
    let known_events = events
        .into_iter()
        .filter_map(|event| serde_json::from_value(event).ok());
    Ok(known_events.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_later_versions_are_left_out() {
        let events: Vec<Json> = serde_json::from_str(crate::event::EXAMPLES).unwrap();
        let mut with_later_event = events.clone();
        with_later_event.insert(1, serde_json::json!({ "type": "task_opened", "id": "9-0" }));
        let body = serde_json::json!({ "events": with_later_event, "cursor": "9-0" });
        let response: ActivityResponse = serde_json::from_value(body).unwrap();
        assert!(!response.is_cut);
        assert_eq!(serde_json::to_value(&response.events).unwrap(), Json::from(events));
    }
}
