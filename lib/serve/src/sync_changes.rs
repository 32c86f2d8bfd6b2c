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

/// Interval of looks at the files.
const LOOK: Duration = Duration::from_secs(2);

/// A file as one look sees it: when it was changed, and its length. `None` where there is none.
type SeenFile = Option<(Option<SystemTime>, u64)>;

/// The changes of one working copy and of its repository.
pub struct SyncChanges {
    repo: RepoId,
    folder: RootedPath,
    events: Arc<EventHub>,
    watching: Option<EventWatch>,
    /// Changes whenever this process has appended to a ledger.
    appended: watch::Receiver<u64>,
    files: [SeenFile; FILES.len()],
}

impl SyncChanges {
    /// Those of the working copy with this `root`.
    pub fn new(repo: RepoId, root: &Path, events: Arc<EventHub>, appended: watch::Receiver<u64>) -> SyncChanges {
        SyncChanges {
            repo,
            folder: RootedPath::new(root, FOLDER),
            events,
            watching: None,
            appended,
            files: [None; FILES.len()],
        }
    }

    /// Watches the events from now on, if the store responds; if not, [`SyncChanges::next`] does.
    pub async fn watch(&mut self) {
        self.watching = self.events.watch(&self.repo, None).await.ok();
    }

    /// Notes the files as they are. Comes before they are read, so that no later edit is missed.
    pub fn note_files(&mut self) {
        self.files = self.look();
    }

    /// Notes the files that were written, but for the one that people edit: an edit just after is seen so.
    pub fn note_written(&mut self, report: &Report) {
        let now = self.look();
        for ((name, file), now) in FILES.iter().zip(&mut self.files).zip(now) {
            if *name != REGISTRY && report.written.contains(name) {
                *file = now;
            }
        }
    }

    /// Completes after the next change, and at the latest at `until`.
    pub async fn next(&mut self, until: Instant) {
        loop {
            let has_changed = tokio::select! {
                Ok(()) = self.appended.changed() => true,
                matters = event(&self.events, &self.repo, &mut self.watching) => matters,
                () = sleep(LOOK) => self.look() != self.files,
                () = sleep_until(until) => true,
            };
            if has_changed {
                return;
            }
        }
    }

    fn look(&self) -> [SeenFile; FILES.len()] {
        FILES.map(|name| {
            let about = self.folder.join(name).about().ok()??;
            Some((about.modified, about.len))
        })
    }
}

/// Whether the next event changes what the files say. Watching anew, some may have been missed.
async fn event(events: &EventHub, repo: &RepoId, watching: &mut Option<EventWatch>) -> bool {
    let Some(watched) = watching else {
        match events.watch(repo, None).await {
            Ok(watched) => *watching = Some(watched),
            // Until the next look.
            Err(_) => std::future::pending().await,
        }
        return true;
    };
    match watched.next().await {
        Ok(WatchItem::Event(published)) => matters(&published.event),
        Ok(WatchItem::Gap) => true,
        Ok(WatchItem::Live(_)) => false,
        Ok(WatchItem::Slow) | Err(_) => {
            *watching = None;
            false
        }
        Ok(WatchItem::Stopped) => std::future::pending().await,
    }
}

/// Whether `event` is about intents, what they own, or the ledger.
fn matters(event: &Event) -> bool {
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
