//! A sync after each change. The operating system reports changes of the files, and the event stream those of the team.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coord_agent::signals::Signals;
use coord_agent::terminal::output::{note, print_while_read};
use coord_agent::workplace::{Failure, Workplace};
use coord_protocol::{Client, StreamItem, stream::StreamMessage};
use coord_teams::layout::{Entry, PathKind, path_kind};
use coord_teams::names::TeamName;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::TeamFolder;
use super::disk::Disk;
use super::once::{Sync, SyncDirection};
use super::report::{RejectedChange, Report};

/// Time after a change in which further changes are awaited.
const DEBOUNCE: Duration = Duration::from_millis(30);
/// Time after which a sync runs without a change: expired claims and reads of inboxes cause no event.
const REFRESH_INTERVAL: Duration = Duration::from_secs(30);
/// The same while there is no folder that the operating system can watch.
const UNWATCHED_INTERVAL: Duration = Duration::from_secs(1);
/// The pause after a failure starts from this, and each failure doubles it.
const MIN_RETRY_PAUSE: Duration = Duration::from_secs(1);
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(30);
/// Time without a message after which the stream is opened again: a server sends one every 15 seconds.
const STREAM_TIMEOUT: Duration = Duration::from_secs(45);

/// Syncs after each change, until a signal stops it.
pub async fn watch(team_folder: &TeamFolder) -> anyhow::Result<ExitCode> {
    let mut workplace = team_folder.common.open_as_person()?;
    let mut signals = Signals::caught();
    let sync = team_folder.open(&workplace, SyncDirection::Both).await;
    let mut sync = sync.map_err(|failure| workplace.command_error(failure))?;
    let (notify_change, mut changes) = mpsc::channel(1);
    let mut files = WatchedFiles::new(&sync.disk, &sync.team_reference.team, notify_change.clone());
    let mut events = EventTask::start(&sync, &notify_change);
    let mut printer = Printer::default();
    let mut retry_pause = MIN_RETRY_PAUSE;
    loop {
        files.update_watcher();
        while changes.try_recv().is_ok() {}
        let mut report = sync.new_report();
        let result = sync_once(&mut workplace, &mut sync, &mut events, &notify_change, &mut report).await;
        files.update_watcher();
        if result.is_ok() {
            printer.note_success();
        }
        // A failed sync still reports the steps before the failure.
        if (result.is_ok() || !report.is_quiet()) && !printer.print(team_folder, report)? {
            return Ok(ExitCode::SUCCESS);
        }
        let pause = match result {
            Ok(()) => {
                retry_pause = MIN_RETRY_PAUSE;
                files.sync_interval()
            }
            Err(Failure::NoAnswer(error)) if !error.may_pass() => return Err(workplace.command_error(error)),
            Err(failure) => {
                printer.note_failure(match failure {
                    Failure::NoAnswer(error) => workplace.describe_error(&error),
                    Failure::Error(error) => format!("{error:#}"),
                });
                retry_pause = (retry_pause * 2).min(MAX_RETRY_PAUSE);
                retry_pause
            }
        };
        let deadline = Instant::now() + pause;
        tokio::select! {
            _ = changes.recv() => sleep(DEBOUNCE).await,
            () = sleep_until(deadline) => {}
            () = signals.next() => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// Syncs once, with the server that currently runs.
async fn sync_once(
    workplace: &mut Workplace,
    sync: &mut Sync,
    events: &mut EventTask,
    notify_change: &mpsc::Sender<()>,
    report: &mut Report,
) -> Result<(), Failure> {
    let before = workplace.connection.server.clone();
    workplace.follow_server().map_err(anyhow::Error::msg)?;
    if workplace.connection.server != before {
        sync.team_reference.client = workplace.connection.client.clone();
        *events = EventTask::start(sync, notify_change);
    }
    sync.once(report).await
}

/// Prints each refusal and each failure once.
#[derive(Default)]
struct Printer {
    refused: Vec<RejectedChange>,
    failure: Option<String>,
}

impl Printer {
    fn note_success(&mut self) {
        if self.failure.take().is_some() {
            note("syncing again");
        }
    }

    /// Prints the new parts of `report`. Returns false once the output is closed.
    fn print(&mut self, team_folder: &TeamFolder, mut report: Report) -> anyhow::Result<bool> {
        let before = std::mem::replace(&mut self.refused, report.refused.clone());
        report.refused.retain(|refused| !before.contains(refused));
        if report.is_quiet() {
            return Ok(true);
        }
        let text = match team_folder.common.json {
            true => format!("{}\n", serde_json::to_string(&report)?),
            false => report.render(),
        };
        print_while_read(&text)
    }

    fn note_failure(&mut self, sentence: String) {
        if self.failure.as_ref() != Some(&sentence) {
            note(&format!("{sentence}; trying again"));
        }
        self.failure = Some(sentence);
    }
}

/// The files of a team, with the watcher of the operating system.
struct WatchedFiles {
    root: PathBuf,
    team: TeamName,
    notify_change: mpsc::Sender<()>,
    watcher: Option<RecommendedWatcher>,
    /// Whether the watched folder was removed or renamed. Another folder may have its path.
    is_gone: Arc<AtomicBool>,
}

impl WatchedFiles {
    fn new(disk: &Disk, team: &TeamName, notify_change: mpsc::Sender<()>) -> Self {
        WatchedFiles {
            root: disk.root.clone(),
            team: team.clone(),
            notify_change,
            watcher: None,
            is_gone: Arc::default(),
        }
    }

    /// Watches the root if it exists.
    fn update_watcher(&mut self) {
        if self.is_gone.load(Ordering::Acquire) || !self.root.is_dir() {
            self.watcher = None;
        }
        if self.root.is_dir() && self.watcher.is_none() {
            self.watcher = self.start_watcher().ok();
        }
    }

    fn start_watcher(&mut self) -> notify::Result<RecommendedWatcher> {
        // Events have paths without links.
        let root = std::fs::canonicalize(&self.root)?;
        let (team, notify_change, watched_root) = (self.team.clone(), self.notify_change.clone(), root.clone());
        let is_gone = Arc::new(AtomicBool::new(false));
        self.is_gone = is_gone.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let is_relevant = match event {
                Ok(event) => {
                    if is_removal(event.kind) && event.paths.contains(&watched_root) {
                        is_gone.store(true, Ordering::Release);
                    }
                    is_change(event.kind) && event.paths.iter().any(|path| is_team_path(path, &watched_root, &team))
                }
                // Events may be lost.
                Err(_) => true,
            };
            if is_relevant {
                // If the channel is full, a sync is due anyway.
                let _ = notify_change.try_send(());
            }
        })?;
        watcher.watch(&root, RecursiveMode::Recursive)?;
        Ok(watcher)
    }

    /// Time until the next sync if nothing changes.
    fn sync_interval(&self) -> Duration {
        if self.watcher.is_some() {
            REFRESH_INTERVAL
        } else {
            UNWATCHED_INTERVAL
        }
    }
}

/// Whether the event can change the content of a file. Reads and locks cause events, too.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// Whether the path no longer exists.
fn is_removal(kind: EventKind) -> bool {
    matches!(kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))
}

/// Whether `path` is a file of the team, or a folder of such a file.
fn is_team_path(path: &Path, root: &Path, team: &TeamName) -> bool {
    let Ok(below) = path.strip_prefix(root) else {
        return true;
    };
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    match path_kind(&parts.join("/")) {
        PathKind::Ours(Entry::TeamLock(_) | Entry::TaskLock(_)) => false,
        PathKind::Ours(Entry::Config(other) | Entry::Inbox(other, _) | Entry::Task(other, _)) => other == *team,
        PathKind::Refused(_) => true,
        PathKind::Other => match parts.as_slice() {
            [] => true,
            [first] => first == "teams" || first == "tasks",
            [first, name] => (first == "teams" || first == "tasks") && *name == team.as_str(),
            [first, name, last] => first == "teams" && *name == team.as_str() && last == "inboxes",
            _ => false,
        },
    }
}

/// The task that reads the event stream. It ends when this is dropped.
struct EventTask(tokio::task::JoinHandle<()>);

impl EventTask {
    fn start(sync: &Sync, notify_change: &mpsc::Sender<()>) -> Self {
        let (client, repo_url) = (sync.team_reference.client.clone(), sync.team_reference.repo_url.clone());
        let (team, notify_change) = (sync.team_reference.team.clone(), notify_change.clone());
        EventTask(tokio::spawn(async move {
            let mut pause = MIN_RETRY_PAUSE;
            loop {
                if read_stream(&client, &repo_url, &team, &notify_change).await {
                    pause = MIN_RETRY_PAUSE;
                }
                sleep(pause).await;
                pause = (pause * 2).min(MAX_RETRY_PAUSE);
            }
        }))
    }
}

impl Drop for EventTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reports the events of the team until the stream ends. Returns whether the stream was open.
async fn read_stream(client: &Client, repo_url: &str, team: &TeamName, notify_change: &mpsc::Sender<()>) -> bool {
    let Ok(mut stream) = client.events(repo_url).await else {
        return false;
    };
    while let Ok(Ok(Some(message))) = timeout(STREAM_TIMEOUT, stream.next()).await {
        let is_relevant = match &message {
            StreamItem::Event(event) => event
                .event
                .team()
                .is_some_and(|name| name.eq_ignore_ascii_case(team.as_str())),
            // The stream does not have the events before it was opened.
            StreamItem::Message(StreamMessage::StreamOpened(_) | StreamMessage::Resync(_)) => true,
            StreamItem::Message(_) | StreamItem::Unknown => false,
        };
        if is_relevant {
            // If the channel is full, a sync is due anyway.
            let _ = notify_change.try_send(());
        }
    }
    true
}
