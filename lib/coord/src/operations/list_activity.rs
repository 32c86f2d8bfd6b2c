//! What has happened in a repository of late: the newest events of its log. No head is needed.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::admission::admit_to_repository;
use crate::app::App;
use crate::auth::CallerIdentity;
use crate::domain::{AgentId, Branch, RepoId};
use crate::error::ApiError;
use crate::state;
use crate::store::{Request, StoreError, Value};

/// Most events of an answer, and most that are looked at for one branch.
const MOST_EVENTS: usize = 50;
const MOST_READ: usize = 500;

/// Which events are listed.
#[derive(Debug)]
pub struct ActivityRequest {
    /// The repository.
    pub repo: RepoId,
    /// Of this branch alone.
    pub branch: Option<Branch>,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// Which agent of the caller's asks.
    pub caller_agent: Option<AgentId>,
}

/// The newest events, the latest first.
#[derive(Debug, Serialize)]
pub struct Activity {
    /// Each as its script has written it, with its id in the log.
    pub events: Vec<Map<String, Json>>,
}

/// Lists the events that `request` asks for.
///
/// # Errors
/// When the caller is denied, or the store gives no answer.
pub async fn list_activity(app: &App, request: ActivityRequest) -> Result<Activity, ApiError> {
    let ActivityRequest {
        repo,
        branch,
        caller,
        caller_agent,
    } = request;
    let most = if branch.is_some() { MOST_READ } else { MOST_EVENTS };
    let read = Request::command([
        "XREVRANGE",
        &state::events::keys::status_log(&repo),
        "+",
        "-",
        "COUNT",
        &most.to_string(),
    ]);
    let (_, replies) = admit_to_repository(app, &repo, branch.as_ref(), caller, caller_agent, vec![read]).await?;
    Ok(read_events(&replies, branch.as_ref())?)
}

fn read_events(replies: &[Value], branch: Option<&Branch>) -> Result<Activity, StoreError> {
    let malformed = || StoreError::Malformed("the log of a repository".to_owned());
    let entries = match replies {
        [Value::Error(error)] => return Err(StoreError::Failed(error.clone())),
        [entries] => entries.as_array().ok_or_else(malformed)?,
        _ => return Err(malformed()),
    };
    let mut events = Vec::new();
    for entry in entries {
        let (id, fields) = match entry.as_array() {
            Some([id, fields]) => (id.as_str(), fields.as_array()),
            _ => (None, None),
        };
        let (Some(id), Some([_, event])) = (id, fields) else {
            return Err(malformed());
        };
        let mut event: Map<String, Json> = event
            .as_str()
            .and_then(|event| serde_json::from_str(event).ok())
            .ok_or_else(malformed)?;
        if branch.is_none_or(|branch| event.get("branch").and_then(Json::as_str) == Some(branch.as_str())) {
            event.insert("id".to_owned(), id.into());
            events.push(event);
        }
        if events.len() == MOST_EVENTS {
            break;
        }
    }
    Ok(Activity { events })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: usize, event: &str) -> Value {
        let fields = Value::Array(vec![Value::bulk("event"), Value::bulk(event)]);
        Value::Array(vec![Value::bulk(format!("{number}-0")), fields])
    }

    #[test]
    fn a_branch_has_its_own_events_alone_and_no_more_than_a_screen_of_them() {
        let events = (0..MOST_READ).map(|number| {
            let branch = if number % 2 == 0 { "main" } else { "other" };
            entry(number, &format!("{{\"type\":\"head_moved\",\"branch\":\"{branch}\"}}"))
        });
        let replies = [Value::Array(events.collect())];
        let main = Branch::parse("main").unwrap();
        let activity = read_events(&replies, Some(&main)).unwrap();
        assert_eq!(activity.events.len(), MOST_EVENTS);
        assert!(activity.events.iter().all(|event| event["branch"] == "main"));
        assert_eq!(activity.events[1]["id"], "2-0");
    }

    #[test]
    fn a_log_that_cannot_be_read_is_no_empty_log() {
        let errors = [
            vec![],
            vec![Value::Nil],
            vec![Value::Error("WRONGTYPE".to_owned())],
            vec![Value::Array(vec![Value::bulk("1-0")])],
            vec![Value::Array(vec![entry(1, "no JSON")])],
        ];
        for replies in errors {
            assert!(read_events(&replies, None).is_err(), "{replies:?}");
        }
        let empty = read_events(&[Value::Array(vec![])], None).unwrap();
        assert_eq!(empty.events.len(), 0);
    }
}
