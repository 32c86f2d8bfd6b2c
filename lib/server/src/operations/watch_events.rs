//! Watches the events of a repository for as long as the caller may read it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use coord_protocol::stream::{Heartbeat, Resync, StreamEnd, StreamEnded, StreamMessage, StreamOpened};
use futures::future::{BoxFuture, OptionFuture};
use tokio::time::{Instant, Interval, MissedTickBehavior, sleep_until};

use crate::admission::caller_address::caller_address;
use crate::admission::{admit_to_repository, renew_verdict};
use crate::app::App;
use crate::error::ApiError;
use coord_auth::CallerIdentity;
use coord_domain::{AgentId, Branch, EventId, RepoId, UserId};
use coord_events::{EncodedEvent, EventWatch, Permit, Timing, WatchItem, Watcher};
use coord_state::Read;

/// A request to watch events of a repository.
#[derive(Clone, Debug)]
pub struct WatchRequest {
    pub repo: RepoId,
    /// Only events of this branch.
    pub branch: Option<Branch>,
    /// Events after this one; without it, events from now on.
    pub after: Option<EventId>,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// The caller's agent.
    pub caller_agent: Option<AgentId>,
}

/// Verifies again, by the credential, that the caller may read the repository.
pub type Verify = Box<dyn Fn() -> BoxFuture<'static, Result<(), ApiError>> + Send + Sync>;

/// Admits the caller of `request`, and counts the request.
///
/// # Errors
/// When the caller may not read the repository, or sends too many requests.
async fn admit_watcher(app: &App, request: &WatchRequest) -> Result<UserId, ApiError> {
    let WatchRequest {
        repo,
        branch,
        caller,
        caller_agent,
        ..
    } = request.clone();
    let read = Read::nothing();
    let (holder, ()) = admit_to_repository(app, &repo, branch.as_ref(), caller, caller_agent, read).await?;
    Ok(holder.user_id)
}

/// Admits a caller that is already watching. A verdict that is due is renewed first, so that a revoked right lasts no
/// longer than for other requests.
///
/// # Errors
/// When the caller may no longer read the repository, or sends too many requests.
pub async fn admit_again(app: &App, request: &WatchRequest) -> Result<(), ApiError> {
    renew_verdict(app, &request.caller, &request.repo).await?;
    admit_watcher(app, request).await.map(|_| ())
}

/// Starts to watch. The stream ends at `ends_by`, if that is set.
///
/// # Errors
/// When the caller may not read the repository or sends too many requests, there are too many streams, or the store
/// does not respond.
pub async fn watch_events(
    app: &App,
    request: WatchRequest,
    verify: Verify,
    ends_by: Option<Instant>,
) -> Result<Stream, ApiError> {
    let person = admit_watcher(app, &request).await?;
    let watcher = match request.caller.is_anonymous() {
        true => Watcher::Anonymous(caller_address()),
        false => Watcher::Person(person),
    };
    let permit = app.events.permit(watcher)?;
    let watch = app.events.watch(&request.repo, request.after).await?;
    let timing = app.events.timing();
    let mut heartbeat = tokio::time::interval(timing.heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    Ok(Stream {
        phase: Phase::Opening,
        branch: request.branch,
        timing,
        watch,
        heartbeat,
        verify,
        verification: None,
        is_superseded: false,
        verify_at: Instant::now() + timing.verify_every,
        verified_at: Instant::now(),
        ends_by,
        _permit: permit,
    })
}

/// A message for the client.
#[derive(Debug)]
pub enum Message {
    Event(Arc<EncodedEvent>),
    /// A message about the stream itself. The last message reports the end of the stream.
    Stream(StreamMessage),
}

impl Message {
    /// The message that reports the end of a stream.
    pub fn ended(reason: StreamEnd) -> Message {
        let message = match reason {
            StreamEnd::Slow => "the client reads more slowly than events happen; resume after a pause",
            StreamEnd::TimeLimit => "a stream is limited in time; resume with the last id",
            StreamEnd::Forbidden => "this caller may no longer read the repository",
            StreamEnd::Shutdown => "the server stops; resume with the last id",
            StreamEnd::Unavailable => "the right to read the repository could not be verified; resume after a pause",
        };
        let message = message.to_owned();
        Message::Stream(StreamMessage::StreamEnded(StreamEnded { reason, message }))
    }
}

/// A stream of messages to one client.
pub struct Stream {
    phase: Phase,
    branch: Option<Branch>,
    timing: Timing,
    watch: EventWatch,
    heartbeat: Interval,
    verify: Verify,
    verification: Option<BoxFuture<'static, Result<(), ApiError>>>,
    /// Whether the client presented a newer credential during the verification.
    is_superseded: bool,
    verify_at: Instant,
    verified_at: Instant,
    ends_by: Option<Instant>,
    _permit: Permit,
}

#[derive(PartialEq, Eq)]
enum Phase {
    Opening,
    Open,
    Ended,
}

impl Stream {
    /// The next message; `None` after the end.
    pub async fn next(&mut self) -> Option<Message> {
        match self.phase {
            Phase::Ended => return None,
            Phase::Opening => {
                self.phase = Phase::Open;
                return Some(self.opened_message());
            }
            Phase::Open => {}
        }
        loop {
            let time_limit: OptionFuture<_> = self.ends_by.map(sleep_until).into();
            let is_verifying = self.verification.is_some();
            let verification: OptionFuture<_> = self.verification.as_mut().into();
            tokio::select! {
                item = self.watch.next() => match item {
                    Ok(WatchItem::Event(event)) => {
                        if self.branch.as_ref().is_none_or(|branch| event.concerns(branch)) {
                            self.heartbeat.reset();
                            return Some(Message::Event(event));
                        }
                    }
                    Ok(WatchItem::Live(_)) => return Some(self.heartbeat_message()),
                    Ok(WatchItem::Gap) => {
                        let cursor = self.watch.position().to_string();
                        return Some(Message::Stream(StreamMessage::Resync(Resync { cursor })));
                    }
                    Ok(WatchItem::Slow) => return Some(self.end(StreamEnd::Slow)),
                    Ok(WatchItem::Stopped) => return Some(self.end(StreamEnd::Shutdown)),
                    Err(error) => {
                        tracing::warn!(%error, "a stream of events ends: the log cannot be read");
                        return Some(self.end(StreamEnd::Unavailable));
                    }
                },
                _ = self.heartbeat.tick() => return Some(self.heartbeat_message()),
                Some(()) = time_limit => return Some(self.end(StreamEnd::TimeLimit)),
                // The stream must not outlive the last verdict for long, whatever the client does.
                () = sleep_until(self.verified_at + self.timing.unverified) => {
                    return Some(self.end(StreamEnd::Unavailable));
                }
                () = sleep_until(self.verify_at), if !is_verifying => {
                    self.verification = Some((self.verify)());
                }
                Some(verdict) = verification => {
                    self.verification = None;
                    if let Some(end) = self.judge(verdict) {
                        return Some(self.end(end));
                    }
                }
            }
        }
    }

    /// Replaces the credential by which the caller's right is verified. A verification in progress continues, so that
    /// there is only one at a time, however often the client presents credentials.
    pub fn verify_by(&mut self, verify: Verify) {
        self.verify = verify;
        self.is_superseded = self.verification.is_some();
        self.verify_at = Instant::now();
    }

    /// Why the stream ends after `verdict`, if it does.
    fn judge(&mut self, verdict: Result<(), ApiError>) -> Option<StreamEnd> {
        match verdict {
            // The verdict is about an older credential.
            _ if std::mem::take(&mut self.is_superseded) => None,
            Ok(()) => {
                self.verified_at = Instant::now();
                self.verify_at = self.verified_at + self.timing.verify_every;
                None
            }
            Err(error) if error.is_offline() || matches!(error, ApiError::RateLimited { .. } | ApiError::Internal) => {
                self.verify_at = Instant::now() + self.timing.verify_again;
                None
            }
            Err(_) => Some(StreamEnd::Forbidden),
        }
    }

    fn opened_message(&self) -> Message {
        Message::Stream(StreamMessage::StreamOpened(StreamOpened {
            cursor: self.watch.position().to_string(),
            heartbeat_seconds: self.timing.heartbeat.as_secs(),
            is_live: self.watch.is_live(),
            time_ms: now_ms(),
        }))
    }

    fn heartbeat_message(&mut self) -> Message {
        self.heartbeat.reset();
        Message::Stream(StreamMessage::Heartbeat(Heartbeat {
            cursor: self.watch.position().to_string(),
            is_live: self.watch.is_live(),
            time_ms: now_ms(),
        }))
    }

    fn end(&mut self, reason: StreamEnd) -> Message {
        self.phase = Phase::Ended;
        Message::ended(reason)
    }
}

/// The clock of this process, which is close to the store's.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
