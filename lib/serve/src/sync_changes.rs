//! The changes after which the files of `.orchestration/` are written or read again.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use coord_domain::RepoId;
use coord_events::{EventHub, EventWatch, WatchItem};
use coord_files::RootedPath;
use coord_intent_commands::sync::{FILES, FOLDER, REGISTRY, Report};
use coord_protocol::Event;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// Time between two checks of the files.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The time of the last change of a file, and its length; `None` for a file that does not exist.
type FileState = Option<(Option<SystemTime>, u64)>;

/// The changes of one working copy and of its repository.
pub struct SyncChanges {
    repo: RepoId,
    folder: RootedPath,
    events: Arc<EventHub>,
    event_watch: Option<EventWatch>,
    /// Changes whenever this process has appended to a ledger.
    ledger_changes: watch::Receiver<u64>,
    files: [FileState; FILES.len()],
}

impl SyncChanges {
    pub fn new(repo: RepoId, root: &Path, events: Arc<EventHub>, ledger_changes: watch::Receiver<u64>) -> SyncChanges {
        SyncChanges {
            repo,
            folder: RootedPath::new(root, FOLDER),
            events,
            event_watch: None,
            ledger_changes,
            files: [None; FILES.len()],
        }
    }

    /// Watches the events from now on. If the store does not respond, [`SyncChanges::wait_for_change`] tries again.
    pub async fn watch(&mut self) {
        self.event_watch = self.events.watch(&self.repo, None).await.ok();
    }

    /// Notes the state of the files. Call this before the files are read, so that no later edit is missed.
    pub fn note_files(&mut self) {
        self.files = self.file_states();
    }

    /// Notes the state of the files that were written. Leaves out the file that people edit, so that an edit just after
    /// the write still counts as a change.
    pub fn note_written(&mut self, report: &Report) {
        let states = self.file_states();
        for ((name, file), state) in FILES.iter().zip(&mut self.files).zip(states) {
            if *name != REGISTRY && report.written.contains(name) {
                *file = state;
            }
        }
    }

    /// Completes after the next change, and at `deadline` at the latest.
    pub async fn wait_for_change(&mut self, deadline: Instant) {
        loop {
            let has_changed = tokio::select! {
                Ok(()) = self.ledger_changes.changed() => true,
                has_changed = next_event(&self.events, &self.repo, &mut self.event_watch) => has_changed,
                () = sleep(CHECK_INTERVAL) => self.file_states() != self.files,
                () = sleep_until(deadline) => true,
            };
            if has_changed {
                return;
            }
        }
    }

    fn file_states(&self) -> [FileState; FILES.len()] {
        FILES.map(|name| {
            let info = self.folder.join(name).about().ok()??;
            Some((info.modified, info.len))
        })
    }
}

/// Waits for the next event. Returns whether it changes the files. True after a new watch, because events may have been
/// missed before it.
async fn next_event(events: &EventHub, repo: &RepoId, event_watch: &mut Option<EventWatch>) -> bool {
    let Some(watch) = event_watch else {
        match events.watch(repo, None).await {
            Ok(watch) => *event_watch = Some(watch),
            // Until the next check of the files, after which this tries again.
            Err(_) => std::future::pending().await,
        }
        return true;
    };
    match watch.next().await {
        Ok(WatchItem::Event(published)) => changes_files(&published.event),
        Ok(WatchItem::Gap) => true,
        Ok(WatchItem::Live(_)) => false,
        Ok(WatchItem::Slow) | Err(_) => {
            *event_watch = None;
            false
        }
        Ok(WatchItem::Stopped) => std::future::pending().await,
    }
}

/// Whether `event` is about intents, the files that they own, or the ledger.
fn changes_files(event: &Event) -> bool {
    matches!(
        event,
        Event::IntentChanged(_)
            | Event::IntentOverlapAllowed(_)
            | Event::FileTakenOver(_)
            | Event::LedgerTrimmed(_)
            | Event::LockGranted(_)
            | Event::LockReleased(_)
            | Event::LockExpired(_)
            | Event::LockRefused(_)
    )
}
