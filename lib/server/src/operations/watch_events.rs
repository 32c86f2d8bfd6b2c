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
use coord_events::{EventWatch, Permit, Published, Timing, WatchItem, Watcher};
use coord_state::Read;

/// Which events are watched.
#[derive(Clone, Debug)]
pub struct WatchRequest {
    pub repo: RepoId,
    /// Of this branch alone.
    pub branch: Option<Branch>,
    /// Those after this one; without it, those from now on.
    pub after: Option<EventId>,
    /// The caller in the repository.
    pub caller: CallerIdentity,
    /// Which agent of the caller's watches.
    pub caller_agent: Option<AgentId>,
}

/// Verifies the right of the caller again, from its credential.
pub type Verify = Box<dyn Fn() -> BoxFuture<'static, Result<(), ApiError>> + Send + Sync>;

/// Admits the caller of `request`, and counts the request.
///
/// # Errors
/// When the caller may not read the repository, or sends too many requests.
pub async fn admit_watcher(app: &App, request: &WatchRequest) -> Result<UserId, ApiError> {
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

/// [`admit_watcher`] for a caller who watches already. A verdict that is due is renewed first, so that a revoked right counts
/// no longer than for other requests.
///
/// # Errors
/// As [`admit_watcher`].
pub async fn admit_again(app: &App, request: &WatchRequest) -> Result<(), ApiError> {
    renew_verdict(app, &request.caller, &request.repo).await?;
    admit_watcher(app, request).await.map(|_| ())
}

/// Starts to watch. The stream ends at `ends_by`, if there is such a time.
///
/// # Errors
/// As [`admit_watcher`]; also when there are too many streams, or the store does not respond.
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
    let watching = app.events.watch(&request.repo, request.after).await?;
    let timing = app.events.timing();
    let mut heartbeat = tokio::time::interval(timing.heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat.reset();
    Ok(Stream {
        phase: Phase::Opening,
        branch: request.branch,
        timing,
        watching,
        heartbeat,
        verify,
        verifying: None,
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
    Event(Arc<Published>),
    /// About the stream itself. The last message is its end.
    Stream(StreamMessage),
}

/// A stream of messages to one client.
pub struct Stream {
    phase: Phase,
    branch: Option<Branch>,
    timing: Timing,
    watching: EventWatch,
    heartbeat: Interval,
    verify: Verify,
    verifying: Option<BoxFuture<'static, Result<(), ApiError>>>,
    /// Whether a newer credential was presented while the right was being verified.
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
                return Some(self.opened());
            }
            Phase::Open => {}
        }
        loop {
            let ending: OptionFuture<_> = self.ends_by.map(sleep_until).into();
            let is_verifying = self.verifying.is_some();
            let verifying: OptionFuture<_> = self.verifying.as_mut().into();
            tokio::select! {
                next = self.watching.next() => match next {
                    Ok(WatchItem::Event(event)) => {
                        if self.branch.as_ref().is_none_or(|branch| event.is_of(branch)) {
                            self.heartbeat.reset();
                            return Some(Message::Event(event));
                        }
                    }
                    Ok(WatchItem::Live(_)) => return Some(self.heartbeat()),
                    Ok(WatchItem::Gap) => {
                        let cursor = self.watching.position().to_string();
                        return Some(Message::Stream(StreamMessage::Resync(Resync { cursor })));
                    }
                    Ok(WatchItem::Slow) => return Some(self.end(StreamEnd::Slow)),
                    Ok(WatchItem::Stopped) => return Some(self.end(StreamEnd::Shutdown)),
                    Err(error) => {
                        tracing::warn!(%error, "a stream of events ends: the log cannot be read");
                        return Some(self.end(StreamEnd::Unavailable));
                    }
                },
                _ = self.heartbeat.tick() => return Some(self.heartbeat()),
                Some(()) = ending => return Some(self.end(StreamEnd::TimeLimit)),
                // Independent of the client.
                () = sleep_until(self.verified_at + self.timing.unverified) => {
                    return Some(self.end(StreamEnd::Unavailable));
                }
                () = sleep_until(self.verify_at), if !is_verifying => {
                    self.verifying = Some((self.verify)());
                }
                Some(verdict) = verifying => {
                    self.verifying = None;
                    if let Some(end) = self.judge(verdict) {
                        return Some(self.end(end));
                    }
                }
            }
        }
    }

    /// Replaces the credential by which the caller's right is verified. A verification that is under way goes on, so that there is
    /// one at a time, however often credentials are presented.
    pub fn verify_by(&mut self, verify: Verify) {
        self.verify = verify;
        self.is_superseded = self.verifying.is_some();
        self.verify_at = Instant::now();
    }

    fn judge(&mut self, verdict: Result<(), ApiError>) -> Option<StreamEnd> {
        match verdict {
            // It is about an older credential.
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

    fn opened(&self) -> Message {
        Message::Stream(StreamMessage::StreamOpened(StreamOpened {
            cursor: self.watching.position().to_string(),
            heartbeat_seconds: self.timing.heartbeat.as_secs(),
            is_live: self.watching.is_live(),
            time_ms: now_ms(),
        }))
    }

    fn heartbeat(&mut self) -> Message {
        self.heartbeat.reset();
        Message::Stream(StreamMessage::Heartbeat(Heartbeat {
            cursor: self.watching.position().to_string(),
            is_live: self.watching.is_live(),
            time_ms: now_ms(),
        }))
    }

    fn end(&mut self, reason: StreamEnd) -> Message {
        self.phase = Phase::Ended;
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

/// The clock of this process, which runs with the store's or near it.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
