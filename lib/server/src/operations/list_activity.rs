//! Lists events in the log of a repository: the newest, or those before or after an event. No head is needed.

use coord_protocol::{ActivityResponse, Event, PublishedEvent};

use crate::admission::admit_to_repository;
use crate::app::App;
use crate::error::ApiError;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, EventId, FilePath, RepoId};
use coord_state::events::{LaterEvents, LoggedEvent, events_after, events_before, newest_events};

/// Maximum number of events that are read to find those of one branch or file.
const MAX_READ: usize = 500;

/// A request for some events of a repository.
#[derive(Debug)]
pub struct ActivityRequest {
    pub repo: RepoId,
    /// Only events of this branch.
    pub branch: Option<Branch>,
    /// Only events that name this file.
    pub file: Option<FilePath>,
    /// The part of the log.
    pub range: EventRange,
    /// Maximum number of events.
    pub limit: usize,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// The caller's agent.
    pub caller_agent: Option<AgentId>,
}

/// A part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventRange {
    Newest,
    /// The events after this one, oldest first.
    After(EventId),
    /// The events before this one, newest first.
    Before(EventId),
}

/// Lists the events that `request` selects.
///
/// # Errors
/// When the caller is denied, or the store does not respond.
pub async fn list_activity(app: &App, request: ActivityRequest) -> Result<ActivityResponse, ApiError> {
    let ActivityRequest {
        repo,
        branch,
        file,
        range,
        limit,
        caller,
        caller_agent,
    } = request;
    let is_selective = branch.is_some() || file.is_some();
    let max_events = if is_selective { MAX_READ } else { limit };
    let selection = Selection {
        branch: branch.as_ref(),
        file: file.as_ref(),
        limit,
    };
    let branch = branch.as_ref();
    let after = match range {
        EventRange::Newest => {
            let read = newest_events(&repo, max_events);
            let (_, newest) = admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
            let cursor = newest.first().map_or(EventId::START, |event| event.id);
            return Ok(selection.newest_first(newest, max_events, cursor));
        }
        EventRange::Before(before) => {
            let read = events_before(&repo, before, max_events);
            let (_, earlier) = admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
            return Ok(selection.newest_first(earlier, max_events, before));
        }
        EventRange::After(after) => after,
    };
    let read = events_after(&repo, after, max_events);
    let (_, LaterEvents { events, oldest }) =
        admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
    // A caller that reads from the start misses nothing: it asked for whatever the log still has.
    let is_cut = after != EventId::START && oldest.is_some_and(|oldest| oldest > after);
    let (events, last) = selection.select(events);
    Ok(ActivityResponse {
        events,
        cursor: last.unwrap_or(after).to_string(),
        earlier: None,
        is_cut,
    })
}

/// Selects events by branch and file, up to a limit.
#[derive(Clone, Copy)]
struct Selection<'a> {
    branch: Option<&'a Branch>,
    file: Option<&'a FilePath>,
    limit: usize,
}

impl Selection<'_> {
    /// The response with the selected ones of `logged`, which are newest first, after a read of at most `max_events`.
    fn newest_first(self, logged: Vec<LoggedEvent>, max_events: usize, cursor: EventId) -> ActivityResponse {
        let count = logged.len();
        let oldest_read = logged.last().map(|event| event.id);
        let (events, last) = self.select(logged);
        // A read that returned fewer events than it may has reached the end of the log.
        let is_at_end = count < max_events && last == oldest_read;
        ActivityResponse {
            events,
            cursor: cursor.to_string(),
            earlier: last.filter(|_| !is_at_end).map(|last| last.to_string()),
            is_cut: false,
        }
    }

    /// The first selected events, and the last event that was examined for them.
    fn select(self, logged: Vec<LoggedEvent>) -> (Vec<PublishedEvent>, Option<EventId>) {
        let (mut events, mut last) = (Vec::new(), None);
        for LoggedEvent { id, event } in logged {
            if events.len() == self.limit {
                break;
            }
            last = Some(id);
            let selected = event.filter(|event| self.includes(event));
            events.extend(selected.map(|event| PublishedEvent::new(Some(id.to_string()), event)));
        }
        (events, last)
    }

    fn includes(self, event: &Event) -> bool {
        let is_of_branch = |branch: &Branch| event.branch() == Some(branch.as_str());
        let names_file = |file: &FilePath| event.files().iter().any(|name| name == file.as_str());
        self.branch.is_none_or(is_of_branch) && self.file.is_none_or(names_file)
    }
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
    fn a_branch_lists_only_its_events_up_to_the_limit() {
        let branch_of = |number: usize| if number.is_multiple_of(2) { "main" } else { "other" };
        let logged: Vec<LoggedEvent> = (0..MAX_READ).map(|number| event(number, branch_of(number))).collect();
        let selected = |branch: &str| {
            let branch = Branch::parse(branch).unwrap();
            let selection = Selection {
                branch: Some(&branch),
                file: None,
                limit: 50,
            };
            selection.select(logged.clone())
        };
        let (events, last) = selected("main");
        assert_eq!(events.len(), 50);
        assert!(events.iter().all(|event| event.event.branch() == Some("main")));
        assert_eq!(events[1].id.as_deref(), Some("2-0"));
        assert_eq!(last, EventId::parse("98-0").ok(), "from there the next are read");
        let (events, last) = selected("none");
        assert_eq!((events, last), (vec![], EventId::parse("499-0").ok()));
    }

    #[test]
    fn an_empty_page_names_the_earlier_position_unless_the_log_is_exhausted() {
        let none = Branch::parse("none").unwrap();
        let earlier = |count: usize| {
            let selection = Selection {
                branch: Some(&none),
                file: None,
                limit: 50,
            };
            let logged = (1..=count).rev().map(|number| event(number, "main")).collect();
            selection.newest_first(logged, MAX_READ, EventId::START).earlier
        };
        assert_eq!(earlier(MAX_READ).as_deref(), Some("1-0"));
        assert_eq!(earlier(MAX_READ - 1), None, "that was all of the log");
        assert_eq!(earlier(0), None);
    }

    #[test]
    fn an_event_that_this_version_does_not_know_is_passed_over() {
        let unknown = LoggedEvent {
            event: None,
            ..event(1, "main")
        };
        let selection = Selection {
            branch: None,
            file: None,
            limit: 50,
        };
        let (events, last) = selection.select(vec![unknown]);
        assert_eq!((events, last), (vec![], EventId::parse("1-0").ok()));
    }
}
