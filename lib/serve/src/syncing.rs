//! `coord serve --sync`: keeps the files of `.orchestration/` current as `coord sync` does, for the person who runs the
//! server. There is no terminal to ask in, so this skips changes that only a person may make.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use coord_agent::workplace::Failure;
use coord_domain::RepoId;
use coord_events::EventHub;
use coord_git::{OpenedRepository, WorkingCopy};
use coord_intent_commands::sync::{Callers, Report, sync_once};
use coord_protocol::{Client, ClientSettings};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::args::ServeArgs;
use super::sync_changes::SyncChanges;

/// Time after a change in which further changes are awaited.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Pause after a synchronization, because its requests count toward the rate limit of the person.
const PAUSE: Duration = Duration::from_secs(2);
/// Time between a failure and the next attempt.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);
/// Time after which the files are updated without a change, because an intent becomes idle without an event.
const REFRESH_INTERVAL: Duration = Duration::from_secs(600);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A working copy whose files are kept current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedClone {
    pub repo: RepoId,
    /// The root of the working copy.
    pub path: PathBuf,
}

/// The working copies of `--sync`; none without this option.
///
/// # Errors
/// When a repository has no files on this machine, or callers at `address` need a credential.
pub fn clones(args: &ServeArgs, address: SocketAddr, opened: &[OpenedRepository]) -> anyhow::Result<Vec<SyncedClone>> {
    let mut clones: Vec<SyncedClone> = Vec::new();
    if !args.sync {
        return Ok(clones);
    }
    ensure!(
        args.github.is_empty(),
        "--sync writes files of working copies on this machine, and --github has none: leave one of them out"
    );
    ensure!(
        address.ip().is_loopback(),
        "--sync acts as you, and callers at {address} have to present a credential: listen on 127.0.0.1, or run coord sync"
    );
    for repository in opened {
        let path = &repository.path;
        if WorkingCopy::find(path)?.is_none() {
            bail!("--sync writes files of a working copy, and {} is bare", path.display());
        }
        if clones.iter().all(|clone| clone.path != *path) {
            clones.push(SyncedClone {
                repo: repository.repo.clone(),
                path: path.clone(),
            });
        }
    }
    Ok(clones)
}

/// A client of the server at `address`, as the person who runs it.
///
/// # Errors
/// When the client cannot be built.
pub fn client(address: SocketAddr) -> anyhow::Result<Client> {
    let settings = ClientSettings {
        base: &format!("http://{address}"),
        token: None,
        agent_id: None,
        server: None,
        limit: REQUEST_TIMEOUT,
    };
    Client::with_settings(settings).context("--sync")
}

/// Updates the files of `clone` at once, after each of the `events`, and after `ledger_changes`, until `stop`. One
/// synchronization runs at a time.
pub async fn keep_current(
    clone: SyncedClone,
    client: Client,
    events: Arc<EventHub>,
    ledger_changes: watch::Receiver<u64>,
    stop: impl Future<Output = ()>,
) {
    let mut changes = SyncChanges::new(clone.repo.clone(), &clone.path, events, ledger_changes);
    let mut stop = std::pin::pin!(stop);
    let mut log = ProblemLog::default();
    changes.watch().await;
    loop {
        changes.note_files();
        let (task_clone, client) = (clone.clone(), client.clone());
        let mut task = tokio::task::spawn_blocking(move || synchronize(&task_clone, &client));
        let result = tokio::select! {
            result = &mut task => result.unwrap_or_else(|error| Err(error.into())),
            () = &mut stop => {
                // So that no file is left half written. The task ends soon, because the server no longer answers.
                let _ = task.await;
                return;
            }
        };
        let interval = if result.is_ok() {
            REFRESH_INTERVAL
        } else {
            RETRY_INTERVAL
        };
        let deadline = Instant::now() + interval;
        if let Ok(report) = &result {
            changes.note_written(report);
        }
        for sentence in log.new_sentences(&result) {
            tracing::warn!(repo = %clone.repo, "coord serve --sync: {sentence}");
        }
        tokio::select! {
            () = async {
                sleep(PAUSE).await;
                changes.wait_for_change(deadline).await;
                sleep(DEBOUNCE).await;
            } => {}
            () = &mut stop => return,
        }
    }
}

/// Synchronizes once. Blocks, so call it off the runtime's threads.
fn synchronize(clone: &SyncedClone, client: &Client) -> anyhow::Result<Report> {
    let working_copy = WorkingCopy::containing(&clone.path)?;
    let callers = Callers {
        client,
        as_person: &|| Err(anyhow!("this takes a person: run coord sync in a terminal")),
    };
    match Handle::current().block_on(sync_once(&working_copy, &clone.repo, &callers, false)) {
        Ok(report) => Ok(report),
        Err(Failure::NoAnswer(error)) => Err(error.into()),
        Err(Failure::Error(error)) => Err(error),
    }
}

/// The problems of the last synchronization, so that each is logged once.
#[derive(Debug, Default)]
struct ProblemLog {
    problems: BTreeSet<String>,
}

impl ProblemLog {
    /// The problems of `result` that the last one did not have, or that there are none any more.
    fn new_sentences(&mut self, result: &anyhow::Result<Report>) -> Vec<String> {
        let problems: BTreeSet<String> = match result {
            Ok(report) => report.problems.iter().chain(&report.notes).cloned().collect(),
            Err(error) => BTreeSet::from([format!("{error:#}")]),
        };
        let mut sentences: Vec<String> = problems.difference(&self.problems).cloned().collect();
        if problems.is_empty() && !self.problems.is_empty() {
            sentences.push("the files are up to date again".to_owned());
        }
        self.problems = problems;
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_logged_once_and_so_is_its_end() {
        let mut log = ProblemLog::default();
        let with = |problems: &[&str]| {
            Ok(Report {
                problems: problems.iter().map(|&problem| problem.to_owned()).collect(),
                ..Report::default()
            })
        };
        assert!(log.new_sentences(&with(&[])).is_empty());
        assert_eq!(log.new_sentences(&with(&["a", "b"])), ["a", "b"]);
        assert_eq!(log.new_sentences(&with(&["b", "c"])), ["c"]);
        assert_eq!(log.new_sentences(&Err(anyhow!("d"))), ["d"]);
        assert!(log.new_sentences(&Err(anyhow!("d"))).is_empty());
        assert_eq!(log.new_sentences(&with(&[])), ["the files are up to date again"]);
        assert!(log.new_sentences(&with(&[])).is_empty());
    }
}
