//! Renews the locks of a session by its hooks. So a working agent need not renew its locks, and those of a hung agent
//! expire.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coord_agent::session_notes::SessionNotes;
use coord_protocol::{ClientError, HeldLock, LocksFilter, PostRequest};

use super::connected_session::ConnectedSession;
use super::warnings;

/// Minimum time between two checks of a session.
const INTERVAL: Duration = Duration::from_secs(60);

/// Locks that expire within this time, in seconds, are renewed.
const SOON: i64 = 200;

/// Renews the session's locks that expire soon, at most once a minute. A failure shows at the next claim.
pub(super) async fn renew_if_due(session: ConnectedSession<'_>) {
    if SessionNotes::is_due(&session.work.working_copy, session.holder, "renewed", INTERVAL)
        && let Err(error) = renew(session).await
    {
        tracing::debug!(%error, "the session's locks are not renewed");
    }
}

async fn renew(session: ConnectedSession<'_>) -> Result<(), ClientError> {
    let ConnectedSession { work, holder, .. } = session;
    let filter = LocksFilter::held_by(holder.as_str());
    let locks = session.connection.client.locks(&work.repo_url(), &filter).await?.locks;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let mut due: Vec<HeldLock> = locks.into_iter().filter(|lock| is_due(lock, now)).collect();
    // One request for all locks with the same branch, mode and message.
    while let Some(first) = due.first().cloned() {
        let is_in_group = |lock: &HeldLock| {
            lock.branch == first.branch && lock.status == first.status && lock.message == first.message
        };
        let (group, rest): (Vec<HeldLock>, Vec<HeldLock>) = due.into_iter().partition(is_in_group);
        due = rest;
        let paths = group.into_iter().map(|lock| lock.file_path).collect();
        let request = PostRequest {
            branch: Some(first.branch.clone()),
            ..work.claim(paths, first.status, first.message)
        };
        let response = session.connection.client.post_status(&request).await?;
        SessionNotes::change(&work.working_copy, holder, |notes| {
            warnings::note(notes, &response.warnings);
        });
    }
    Ok(())
}

/// Whether `lock` expires soon. The server's clock may differ from this one: a lock that seems to be from the future,
/// or that seems to have expired, is renewed too.
fn is_due(lock: &HeldLock, now: i64) -> bool {
    lock.expiry - now <= SOON || now < lock.timestamp
}
