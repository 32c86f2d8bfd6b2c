//! The events in the log of a repository: the newest, or those after one. No head is needed.

use coord_protocol::{ActivityResponse, Event, PublishedEvent};

use crate::admission::admit_to_repository;
use crate::app::App;
use crate::error::ApiError;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, EventId, FilePath, RepoId};
use coord_state::events::{LaterEvents, LoggedEvent, events_after, events_before, newest_events};

/// Most events that are looked at for one branch.
const MOST_READ: usize = 500;

/// Which events are listed.
#[derive(Debug)]
pub struct ActivityRequest {
    pub repo: RepoId,
    /// Of this branch alone.
    pub branch: Option<Branch>,
    /// That name this file alone.
    pub file: Option<FilePath>,
    /// Which part of the log.
    pub range: EventRange,
    /// How many at most.
    pub limit: usize,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// Which agent of the caller's asks.
    pub caller_agent: Option<AgentId>,
}

/// A part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventRange {
    Newest,
    /// Those after this one, the oldest first.
    After(EventId),
    /// Those before this one, the newest first.
    Before(EventId),
}

/// Lists the events that `request` asks for.
///
/// # Errors
/// When the caller is denied, or the store gives no answer.
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
    let most = if is_selective { MOST_READ } else { limit };
    let selection = Selection {
        branch: branch.as_ref(),
        file: file.as_ref(),
        limit,
    };
    let branch = branch.as_ref();
    let after = match range {
        EventRange::Newest => {
            let read = newest_events(&repo, most);
            let (_, newest) = admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
            let cursor = newest.first().map_or(EventId::START, |event| event.id);
            return Ok(selection.newest_of(newest, most, cursor));
        }
        EventRange::Before(before) => {
            let read = events_before(&repo, before, most);
            let (_, earlier) = admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
            return Ok(selection.newest_of(earlier, most, before));
        }
        EventRange::After(after) => after,
    };
    let read = events_after(&repo, after, most);
    let (_, LaterEvents { events, oldest }) =
        admit_to_repository(app, &repo, branch, caller, caller_agent, read).await?;
    // From the start, all that there is was asked for.
    let is_cut = after != EventId::START && oldest.is_some_and(|oldest| oldest > after);
    let (events, last) = selection.of(events);
    Ok(ActivityResponse {
        events,
        cursor: last.unwrap_or(after).to_string(),
        earlier: None,
        is_cut,
    })
}

/// The events that are wanted.
#[derive(Clone, Copy)]
struct Selection<'a> {
    branch: Option<&'a Branch>,
    file: Option<&'a FilePath>,
    limit: usize,
}

impl Selection<'_> {
    /// The response with the wanted ones of `logged`, the newest first, of which `most` were asked for.
    fn newest_of(self, logged: Vec<LoggedEvent>, most: usize, cursor: EventId) -> ActivityResponse {
        let count = logged.len();
        let oldest_read = logged.last().map(|event| event.id);
        let (events, last) = self.of(logged);
        // Fewer than were asked for are all that there are.
        let is_rest = count < most && last == oldest_read;
        ActivityResponse {
            events,
            cursor: cursor.to_string(),
            earlier: last.filter(|_| !is_rest).map(|last| last.to_string()),
            is_cut: false,
        }
    }

    /// The first wanted events, and the last event that was looked at for them.
    fn of(self, logged: Vec<LoggedEvent>) -> (Vec<PublishedEvent>, Option<EventId>) {
        let (mut events, mut last) = (Vec::new(), None);
        for LoggedEvent { id, event } in logged {
            if events.len() == self.limit {
                break;
            }
            last = Some(id);
            let wanted = event.filter(|event| self.wants(event));
            events.extend(wanted.map(|event| PublishedEvent::new(Some(id.to_string()), event)));
        }
        (events, last)
    }

    fn wants(self, event: &Event) -> bool {
        let is_of_branch = |branch: &Branch| event.branch() == Some(branch.as_str());
        let names = |file: &FilePath| event.files().iter().any(|named| named == file.as_str());
        self.branch.is_none_or(is_of_branch) && self.file.is_none_or(names)
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
        let logged: Vec<LoggedEvent> = (0..MOST_READ).map(|number| event(number, branch_of(number))).collect();
        let selected = |branch: &str| {
            let branch = Branch::parse(branch).unwrap();
            let selection = Selection {
                branch: Some(&branch),
                file: None,
                limit: 50,
            };
            selection.of(logged.clone())
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
            selection.newest_of(logged, MOST_READ, EventId::START).earlier
        };
        assert_eq!(earlier(MOST_READ).as_deref(), Some("1-0"));
        assert_eq!(earlier(MOST_READ - 1), None, "that was all of the log");
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
        let (events, last) = selection.of(vec![unknown]);
        assert_eq!((events, last), (vec![], EventId::parse("1-0").ok()));
    }
}
