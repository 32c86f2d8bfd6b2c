//! What has happened in a repository of late: the newest events of its log. No head is needed.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::admission::admit_to_repository;
use crate::app::App;
use crate::auth::CallerIdentity;
use crate::domain::{AgentId, Branch, RepoId};
use crate::error::ApiError;
use crate::state::events::{LoggedEvent, newest_events};

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
    let read = newest_events(&repo, most);
    let (_, logged) = admit_to_repository(app, &repo, branch.as_ref(), caller, caller_agent, read).await?;
    Ok(activity_of(logged, branch.as_ref()))
}

fn activity_of(logged: Vec<LoggedEvent>, branch: Option<&Branch>) -> Activity {
    let is_wanted = |event: &LoggedEvent| {
        branch.is_none_or(|branch| event.fields.get("branch").and_then(Json::as_str) == Some(branch.as_str()))
    };
    let events = logged.into_iter().filter(is_wanted).take(MOST_EVENTS);
    let events = events.map(|LoggedEvent { id, mut fields }| {
        fields.insert("id".to_owned(), id.into());
        fields
    });
    Activity {
        events: events.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: usize, branch: &str) -> LoggedEvent {
        let json = format!("{{\"type\":\"head_moved\",\"branch\":\"{branch}\"}}");
        LoggedEvent {
            id: format!("{number}-0"),
            fields: serde_json::from_str(&json).unwrap(),
        }
    }

    #[test]
    fn a_branch_has_its_own_events_alone_and_no_more_than_a_screen_of_them() {
        let branch_of = |number: usize| if number.is_multiple_of(2) { "main" } else { "other" };
        let events = (0..MOST_READ).map(|number| event(number, branch_of(number)));
        let main = Branch::parse("main").unwrap();
        let activity = activity_of(events.collect(), Some(&main));
        assert_eq!(activity.events.len(), MOST_EVENTS);
        assert!(activity.events.iter().all(|event| event["branch"] == "main"));
        assert_eq!(activity.events[1]["id"], "2-0");
    }
}
