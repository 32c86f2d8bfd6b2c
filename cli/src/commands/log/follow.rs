//! Later events: requested each second, also while the server is away.

use std::time::Duration;

use coord_agent::terminal::output::note;
use coord_agent::workplace::Workplace;
use coord_protocol::{ActivityFilter, ClientError, PublishedEvent};

/// Interval of questions.
const INTERVAL: Duration = Duration::from_secs(1);

/// Longest pause while there is no answer.
const LONGEST: Duration = Duration::from_secs(30);

/// Hands the events that follow `filter.after` to `print`, until the process is ended or `print` says that nobody reads.
pub(super) async fn follow(
    print: impl Fn(&[PublishedEvent]) -> anyhow::Result<bool>,
    workplace: &mut Workplace,
    mut filter: ActivityFilter,
) -> anyhow::Result<()> {
    let repo_url = workplace.work.repo_url();
    let mut pause = INTERVAL;
    let mut is_away = false;
    loop {
        let answer = match workplace.follow_server() {
            Ok(()) => workplace
                .connection
                .client
                .activity(&repo_url, &filter)
                .await
                .map_err(Problem::Error),
            Err(sentence) => Err(Problem::NoServer(sentence)),
        };
        match answer {
            Ok(response) => {
                if is_away {
                    note("the server answers again");
                }
                (is_away, pause) = (false, INTERVAL);
                if response.is_cut && !response.events.is_empty() {
                    note("events may be missing here: the log no longer reaches back so far");
                }
                if !print(&response.events)? {
                    return Ok(());
                }
                let is_more = !response.events.is_empty() && filter.after.as_deref() != Some(&response.cursor);
                filter.after = Some(response.cursor);
                if is_more {
                    continue;
                }
            }
            Err(problem) => {
                let (sentence, least) = match problem {
                    Problem::NoServer(sentence) => (sentence, INTERVAL),
                    Problem::Error(error) => match pause_of(&error) {
                        Some(least) => (workplace.no_answer(&error), least),
                        None => return Err(error.into()),
                    },
                };
                if !is_away {
                    note(&format!("{sentence}; trying again"));
                    is_away = true;
                }
                // A file tells that the server of a clone runs again, so that asking costs nothing.
                let longest = if workplace.connection.is_local {
                    INTERVAL
                } else {
                    LONGEST
                };
                pause = (pause * 2).clamp(least.min(longest), longest);
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// Why there is no answer.
enum Problem {
    /// No server runs.
    NoServer(String),
    /// The server was asked.
    Error(ClientError),
}

/// The least pause after an error that may pass; `None` for one that does not.
fn pause_of(error: &ClientError) -> Option<Duration> {
    let wanted = match error {
        ClientError::Refused { retry_after, .. } => *retry_after,
        _ => None,
    };
    error.may_pass().then(|| wanted.map_or(INTERVAL, Duration::from_secs))
}
