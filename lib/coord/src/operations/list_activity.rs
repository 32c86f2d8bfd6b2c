//! The events in the log of a repository: the newest, or those after one. No head is needed.

use coord_protocol::{ActivityResponse, PublishedEvent};

use crate::admission::admit_to_repository;
use crate::app::App;
use crate::auth::CallerIdentity;
use crate::domain::{AgentId, Branch, EventId, RepoId};
use crate::error::ApiError;
use crate::state::events::{LaterEvents, LoggedEvent, events_after, newest_events};

/// Most events that are looked at for one branch.
const MOST_READ: usize = 500;

/// Which events are listed.
#[derive(Debug)]
pub struct ActivityRequest {
    /// The repository.
    pub repo: RepoId,
    /// Of this branch alone.
    pub branch: Option<Branch>,
    /// Those after this one; without it, the newest.
    pub after: Option<EventId>,
    /// How many at most.
    pub limit: usize,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// Which agent of the caller's asks.
    pub caller_agent: Option<AgentId>,
}

/// Lists the events that `request` asks for.
///
/// # Errors
/// When the caller is denied, or the store gives no answer.
pub async fn list_activity(app: &App, request: ActivityRequest) -> Result<ActivityResponse, ApiError> {
    let ActivityRequest {
        repo,
        branch,
        after,
        limit,
        caller,
        caller_agent,
    } = request;
    let most = if branch.is_some() { MOST_READ } else { limit };
    let branch = branch.as_ref();
    let Some(after) = after else {
        let read = newest_events(&repo, most);
        let (_, newest) = admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
        let cursor = newest.first().map_or(EventId::START, |event| event.id);
        let (events, _) = selected(newest, branch, limit);
        return Ok(response(events, cursor, false));
    };
    let read = events_after(&repo, after, most);
    let (_, LaterEvents { events, oldest }) =
        admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
    // From the start, all that there is was asked for.
    let is_cut = after != EventId::START && oldest.is_some_and(|oldest| oldest > after);
    let (events, last) = selected(events, branch, limit);
    Ok(response(events, last.unwrap_or(after), is_cut))
}

fn response(events: Vec<PublishedEvent>, cursor: EventId, is_cut: bool) -> ActivityResponse {
    ActivityResponse {
        events,
        cursor: cursor.to_string(),
        is_cut,
    }
}

/// The first `limit` events of `branch`, and the last event that was looked at for them.
fn selected(logged: Vec<LoggedEvent>, branch: Option<&Branch>, limit: usize) -> (Vec<PublishedEvent>, Option<EventId>) {
    let (mut events, mut last) = (Vec::new(), None);
    for LoggedEvent { id, event } in logged {
        if events.len() == limit {
            break;
        }
        last = Some(id);
        let is_wanted = |branch: &Branch| {
            event
                .as_ref()
                .is_some_and(|event| event.branch() == Some(branch.as_str()))
        };
        if branch.is_none_or(is_wanted) {
            let id = Some(id.to_string());
            events.extend(event.map(|event| PublishedEvent { id, event }));
        }
    }
    (events, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: usize, branch: &str) -> LoggedEvent {
        let json = format!(r#"{{"type":"graph_update","branch":"{branch}","version":"9bee4e1","time":1}}"#);
        LoggedEvent {
            id: EventId::parse(&format!("{number}-0")).unwrap(),
            event: serde_json::from_str(&json).unwrap(),
        }
    }

    #[test]
    fn a_branch_has_its_own_events_alone_and_no_more_than_were_asked_for() {
        let branch_of = |number: usize| if number.is_multiple_of(2) { "main" } else { "other" };
        let logged: Vec<LoggedEvent> = (0..MOST_READ).map(|number| event(number, branch_of(number))).collect();
        let main = Branch::parse("main").unwrap();
        let (events, last) = selected(logged.clone(), Some(&main), 50);
        assert_eq!(events.len(), 50);
        assert!(events.iter().all(|event| event.event.branch() == Some("main")));
        assert_eq!(events[1].id.as_deref(), Some("2-0"));
        assert_eq!(last, EventId::parse("98-0").ok(), "from there the next are read");
        let none = Branch::parse("none").unwrap();
        let (events, last) = selected(logged, Some(&none), 50);
        assert_eq!((events, last), (vec![], EventId::parse("499-0").ok()));
    }

    #[test]
    fn an_event_that_this_version_does_not_know_is_passed_over() {
        let unknown = LoggedEvent {
            event: None,
            ..event(1, "main")
        };
        let (events, last) = selected(vec![unknown], None, 50);
        assert_eq!((events, last), (vec![], EventId::parse("1-0").ok()));
    }
}
