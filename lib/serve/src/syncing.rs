//! `coord serve --sync`: keeps the files of `.orchestration/` current, by what `coord sync` does, as the person who runs the server.
//! There is no terminal, so that nothing is taken that takes a person.

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
use coord_intent_commands::sync::{Callers, Report, once};
use coord_protocol::{Client, ClientSettings};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::args::ServeArgs;
use super::sync_changes::SyncChanges;

/// Time after a change, in which others come.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Pause after a synchronization: its requests count as those of the person.
const PAUSE: Duration = Duration::from_secs(2);
/// Time after which a failure is tried again.
const RETRY: Duration = Duration::from_secs(10);
/// Time after which the files are brought up to date without a change: owners stop counting when they are idle.
const REFRESH: Duration = Duration::from_secs(600);
/// Time limit of a request.
const LIMIT: Duration = Duration::from_secs(30);

/// A working copy whose files are kept current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedClone {
    /// The repository, as it is served.
    pub repo: RepoId,
    /// The root of the working copy.
    pub path: PathBuf,
}

/// The working copies of `--sync`; none without it.
///
/// # Errors
/// When a repository has no files here, or callers at `address` need a credential.
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
/// When there can be none.
pub fn client(address: SocketAddr) -> anyhow::Result<Client> {
    let settings = ClientSettings {
        base: &format!("http://{address}"),
        token: None,
        agent_id: None,
        server: None,
        limit: LIMIT,
    };
    Client::with_settings(settings).context("--sync")
}

/// Brings the files of `clone` up to date at once, after `events` and when lines were `appended`, until `stop`. One synchronization runs at a time.
pub async fn keep_current(
    clone: SyncedClone,
    client: Client,
    events: Arc<EventHub>,
    appended: watch::Receiver<u64>,
    stop: impl Future<Output = ()>,
) {
    let mut changes = SyncChanges::new(clone.repo.clone(), &clone.path, events, appended);
    let mut stop = std::pin::pin!(stop);
    let mut logged = LoggedCauses::default();
    changes.watch().await;
    loop {
        changes.note_files();
        let (here, client) = (clone.clone(), client.clone());
        let mut running = tokio::task::spawn_blocking(move || synchronize(&here, &client));
        let outcome = tokio::select! {
            outcome = &mut running => outcome.unwrap_or_else(|error| Err(error.into())),
            () = &mut stop => {
                // Nothing is left half written. The server answers no more, so that it ends soon.
                let _ = running.await;
                return;
            }
        };
        let until = Instant::now() + if outcome.is_ok() { REFRESH } else { RETRY };
        if let Ok(report) = &outcome {
            changes.note_written(report);
        }
        for sentence in logged.news(&outcome) {
            tracing::warn!(repo = %clone.repo, "coord serve --sync: {sentence}");
        }
        tokio::select! {
            () = async {
                sleep(PAUSE).await;
                changes.next(until).await;
                sleep(DEBOUNCE).await;
            } => {}
            () = &mut stop => return,
        }
    }
}

/// One synchronization. Blocks: call it off the runtime's threads.
fn synchronize(clone: &SyncedClone, client: &Client) -> anyhow::Result<Report> {
    let working_copy = WorkingCopy::containing(&clone.path)?;
    let callers = Callers {
        client,
        as_person: &|| Err(anyhow!("this takes a person: run coord sync in a terminal")),
    };
    match Handle::current().block_on(once(&working_copy, &clone.repo, &callers, false)) {
        Ok(report) => Ok(report),
        Err(Failure::NoAnswer(error)) => Err(error.into()),
        Err(Failure::Error(error)) => Err(error),
    }
}

/// Causes in the log, so that each is logged once.
#[derive(Debug, Default)]
struct LoggedCauses(BTreeSet<String>);

impl LoggedCauses {
    /// Causes that were not logged with the last outcome.
    fn news(&mut self, outcome: &anyhow::Result<Report>) -> Vec<String> {
        let causes: BTreeSet<String> = match outcome {
            Ok(report) => report.problems.iter().chain(&report.notes).cloned().collect(),
            Err(error) => BTreeSet::from([format!("{error:#}")]),
        };
        let mut news: Vec<String> = causes.difference(&self.0).cloned().collect();
        if causes.is_empty() && !self.0.is_empty() {
            news.push("the files are up to date again".to_owned());
        }
        self.0 = causes;
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_logged_once_and_so_is_its_end() {
        let mut logged = LoggedCauses::default();
        let with = |problems: &[&str]| {
            Ok(Report {
                problems: problems.iter().map(|&problem| problem.to_owned()).collect(),
                ..Report::default()
            })
        };
        assert!(logged.news(&with(&[])).is_empty());
        assert_eq!(logged.news(&with(&["a", "b"])), ["a", "b"]);
        assert_eq!(logged.news(&with(&["b", "c"])), ["c"]);
        assert_eq!(logged.news(&Err(anyhow!("d"))), ["d"]);
        assert!(logged.news(&Err(anyhow!("d"))).is_empty());
        assert_eq!(logged.news(&with(&[])), ["the files are up to date again"]);
        assert!(logged.news(&with(&[])).is_empty());
    }
}
