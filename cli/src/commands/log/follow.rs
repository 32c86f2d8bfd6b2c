//! New events: fetched every second, also across outages of the server.

use std::time::Duration;

use coord_agent::terminal::output::note;
use coord_agent::workplace::Workplace;
use coord_protocol::{ActivityFilter, ClientError, PublishedEvent};

/// Time between two requests.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The longest pause while the server does not answer.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Passes the events after `filter.after` to `print`, until the process ends or `print` returns false.
pub(super) async fn follow(
    print: impl Fn(&[PublishedEvent]) -> anyhow::Result<bool>,
    workplace: &mut Workplace,
    mut filter: ActivityFilter,
) -> anyhow::Result<()> {
    let repo_url = workplace.work.repo_url();
    let mut pause = POLL_INTERVAL;
    let mut is_unreachable = false;
    loop {
        let response = match workplace.follow_server() {
            Err(sentence) => Err((sentence, POLL_INTERVAL)),
            Ok(()) => match workplace.connection.client.activity(&repo_url, &filter).await {
                Ok(response) => Ok(response),
                Err(error) => match retry_pause(&error) {
                    Some(min_pause) => Err((workplace.describe_error(&error), min_pause)),
                    None => return Err(error.into()),
                },
            },
        };
        match response {
            Ok(response) => {
                if is_unreachable {
                    note("the server answers again");
                }
                (is_unreachable, pause) = (false, POLL_INTERVAL);
                if response.is_cut && !response.events.is_empty() {
                    note("events may be missing here: the log no longer reaches back so far");
                }
                if !print(&response.events)? {
                    return Ok(());
                }
                let has_more = !response.events.is_empty() && filter.after.as_deref() != Some(&response.cursor);
                filter.after = Some(response.cursor);
                if has_more {
                    continue;
                }
            }
            Err((sentence, min_pause)) => {
                if !is_unreachable {
                    note(&format!("{sentence}; trying again"));
                    is_unreachable = true;
                }
                // The server of a clone announces itself in a file, so looking for it costs nothing.
                let max_pause = if workplace.connection.is_local {
                    POLL_INTERVAL
                } else {
                    MAX_PAUSE
                };
                pause = (pause * 2).clamp(min_pause.min(max_pause), max_pause);
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// The shortest pause before a request is worth repeating after `error`; `None` if it is not.
fn retry_pause(error: &ClientError) -> Option<Duration> {
    let retry_after = match error {
        ClientError::Refused { retry_after, .. } => *retry_after,
        _ => None,
    };
    error
        .may_pass()
        .then(|| retry_after.map_or(POLL_INTERVAL, Duration::from_secs))
}
