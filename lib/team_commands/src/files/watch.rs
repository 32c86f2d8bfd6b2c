//! A synchronization after each change: of the files, as the system reports, and of the team, by the stream of events.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coord_agent::signals::Signals;
use coord_agent::terminal::output::{is_read, note};
use coord_agent::workplace::{Failure, Workplace};
use coord_protocol::{Client, StreamItem, stream::StreamMessage};
use coord_teams::layout::{Entry, PathKind as Found, path_kind};
use coord_teams::names::TeamName;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::TeamFolder;
use super::disk::Disk;
use super::once::{Sync, SyncDirection};
use super::report::{RejectedChange, Report};

/// Time after a change, in which others come.
const DEBOUNCE: Duration = Duration::from_millis(30);
/// Time after which everything is compared without a change: expired claims and reads of inboxes cause no event.
const REFRESH: Duration = Duration::from_secs(30);
/// The same while there is no folder that the system can watch.
const LOOK: Duration = Duration::from_secs(1);
/// Pauses while there is no answer.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// Time without any message after which a stream is opened anew: a server sends one every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);

/// Keeps the files and the team of `place` alike until a signal ends it.
pub(super) async fn watch(place: &TeamFolder) -> anyhow::Result<ExitCode> {
    let mut workplace = place.common.person()?;
    let mut signals = Signals::caught();
    let mut sync = match place.open(&workplace, SyncDirection::Both).await {
        Ok(sync) => sync,
        Err(Failure::NoAnswer(error)) => return workplace.failed(error),
        Err(Failure::Error(error)) => return Err(error),
    };
    let (tell, mut changes) = mpsc::channel(1);
    let mut files = WatchedFiles::new(&sync.disk, &sync.team_reference.team, tell.clone());
    let mut events = Events::open(&sync, &tell);
    let mut reported = ReportedTexts::default();
    let mut retry = RETRY;
    loop {
        files.look();
        while changes.try_recv().is_ok() {}
        let mut report = sync.report();
        let outcome = follow(&mut workplace, &mut sync, &mut events, &tell, &mut report).await;
        files.look();
        if outcome.is_ok() {
            reported.recovered();
        }
        // Steps before the failure were done.
        if (outcome.is_ok() || !report.is_quiet()) && !reported.print(place, report)? {
            return Ok(ExitCode::SUCCESS);
        }
        let pause = match outcome {
            Ok(()) => {
                retry = RETRY;
                files.pause()
            }
            Err(Failure::NoAnswer(error)) if !error.may_pass() => return workplace.failed(error),
            Err(failure) => {
                reported.failed(match failure {
                    Failure::NoAnswer(error) => workplace.no_answer(&error),
                    Failure::Error(error) => format!("{error:#}"),
                });
                retry = (retry * 2).min(LONGEST_RETRY);
                retry
            }
        };
        let until = Instant::now() + pause;
        tokio::select! {
            _ = changes.recv() => sleep(DEBOUNCE).await,
            () = sleep_until(until) => {}
            () = signals.next() => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// One synchronization, with the server that runs by now.
async fn follow(
    workplace: &mut Workplace,
    sync: &mut Sync,
    events: &mut Events,
    tell: &mpsc::Sender<()>,
    report: &mut Report,
) -> Result<(), Failure> {
    let before = workplace.connection.server.clone();
    workplace.follow_server().map_err(anyhow::Error::msg)?;
    if workplace.connection.server != before {
        sync.team_reference.client = workplace.connection.client.clone();
        *events = Events::open(sync, tell);
    }
    sync.once(report).await
}

/// Texts that the reader has seen, so that each cause is reported once.
#[derive(Default)]
struct ReportedTexts {
    refused: Vec<RejectedChange>,
    failure: Option<String>,
}

impl ReportedTexts {
    fn recovered(&mut self) {
        if self.failure.take().is_some() {
            note("it goes on");
        }
    }

    /// Prints news; false if no one reads any longer.
    fn print(&mut self, place: &TeamFolder, mut report: Report) -> anyhow::Result<bool> {
        let before = std::mem::replace(&mut self.refused, report.refused.clone());
        report.refused.retain(|refused| !before.contains(refused));
        if report.is_quiet() {
            return Ok(true);
        }
        let text = match place.common.json {
            true => format!("{}\n", serde_json::to_string(&report)?),
            false => report.text(),
        };
        is_read(&text)
    }

    fn failed(&mut self, sentence: String) {
        if self.failure.as_ref() != Some(&sentence) {
            note(&format!("{sentence}; trying again"));
        }
        self.failure = Some(sentence);
    }
}

/// The files of a team, as the system watches them.
struct WatchedFiles {
    root: PathBuf,
    team: TeamName,
    tell: mpsc::Sender<()>,
    watcher: Option<RecommendedWatcher>,
    /// Whether the folder that is watched was removed, or has another name: there may be another one in its place.
    is_gone: Arc<AtomicBool>,
}

impl WatchedFiles {
    fn new(disk: &Disk, team: &TeamName, tell: mpsc::Sender<()>) -> Self {
        WatchedFiles {
            root: disk.root.clone(),
            team: team.clone(),
            tell,
            watcher: None,
            is_gone: Arc::default(),
        }
    }

    /// Watches the root, once it is there.
    fn look(&mut self) {
        if self.is_gone.load(Ordering::Acquire) || !self.root.is_dir() {
            self.watcher = None;
        }
        if self.root.is_dir() && self.watcher.is_none() {
            self.watcher = self.watched().ok();
        }
    }

    fn watched(&mut self) -> notify::Result<RecommendedWatcher> {
        // The system names files by the path without links.
        let root = std::fs::canonicalize(&self.root)?;
        let (team, tell, below) = (self.team.clone(), self.tell.clone(), root.clone());
        let is_gone = Arc::new(AtomicBool::new(false));
        self.is_gone = is_gone.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let matters = match event {
                Ok(event) => {
                    if is_removal(event.kind) && event.paths.contains(&below) {
                        is_gone.store(true, Ordering::Release);
                    }
                    is_change(event.kind) && event.paths.iter().any(|path| is_of(path, &below, &team))
                }
                // Some may be lost.
                Err(_) => true,
            };
            if matters {
                // One that waits stands for all.
                let _ = tell.try_send(());
            }
        })?;
        watcher.watch(&root, RecursiveMode::Recursive)?;
        Ok(watcher)
    }

    fn pause(&self) -> Duration {
        if self.watcher.is_some() { REFRESH } else { LOOK }
    }
}

/// Whether it changes a file's content; reads and locks are reported too.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// Whether the path is no longer there.
fn is_removal(kind: EventKind) -> bool {
    matches!(kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))
}

/// Whether a path is a file of the team, or a folder of one.
fn is_of(path: &Path, root: &Path, team: &TeamName) -> bool {
    let Ok(below) = path.strip_prefix(root) else {
        return true;
    };
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    match path_kind(&parts.join("/")) {
        Found::Ours(Entry::TeamLock(_) | Entry::TaskLock(_)) => false,
        Found::Ours(Entry::Config(of) | Entry::Inbox(of, _) | Entry::Task(of, _)) => of == *team,
        Found::Refused(_) => true,
        Found::Other => match parts.as_slice() {
            [] => true,
            [first] => first == "teams" || first == "tasks",
            [first, of] => (first == "teams" || first == "tasks") && *of == team.as_str(),
            [first, of, last] => first == "teams" && *of == team.as_str() && last == "inboxes",
            _ => false,
        },
    }
}

/// The task that follows the events; dropping it ends that.
struct Events(tokio::task::JoinHandle<()>);

impl Events {
    fn open(sync: &Sync, tell: &mpsc::Sender<()>) -> Self {
        let (client, repo_url) = (sync.team_reference.client.clone(), sync.team_reference.repo_url.clone());
        let (team, tell) = (sync.team_reference.team.clone(), tell.clone());
        Events(tokio::spawn(async move {
            let mut pause = RETRY;
            loop {
                if listen(&client, &repo_url, &team, &tell).await {
                    pause = RETRY;
                }
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_RETRY);
            }
        }))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells of each event of the team until the stream ends; whether it was open.
async fn listen(client: &Client, repo_url: &str, team: &TeamName, tell: &mpsc::Sender<()>) -> bool {
    let Ok(mut stream) = client.events(repo_url).await else {
        return false;
    };
    while let Ok(Ok(Some(message))) = timeout(SILENCE, stream.next()).await {
        let matters = match &message {
            StreamItem::Event(event) => event
                .event
                .team()
                .is_some_and(|of| of.eq_ignore_ascii_case(team.as_str())),
            // Events before it was opened are not sent.
            StreamItem::Message(StreamMessage::StreamOpened(_) | StreamMessage::Resync(_)) => true,
            StreamItem::Message(_) | StreamItem::Unknown => false,
        };
        if matters {
            // One that waits stands for all.
            let _ = tell.try_send(());
        }
    }
    true
}
