//! `coord serve --fetch SECONDS`: keeps clones current with `git fetch`, with the user's git, configuration and credentials,
//! but without prompts. A clone whose own configuration would decide what runs or where a credential goes is not fetched. One
//! fetch runs at a time.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use coord_agent::git::{self, Group};
use coord_domain::RepoId;
use tokio::time::sleep_until;

use coord_git::{FetchSettings, GitSource};

/// Time limit of one fetch.
const LIMIT: Duration = Duration::from_secs(120);
/// Time that git has to end after SIGTERM: it removes its lock files.
const GRACE: Duration = Duration::from_secs(2);
/// Interval of checks whether it has ended.
const POLL: Duration = Duration::from_millis(20);
/// The longest pause after failures, unless the interval is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(900);
/// Most bytes of git's output that are kept.
const MOST_SAID: u64 = 16 * 1024;
/// A clone that is kept current.
struct Clone {
    repo: RepoId,
    path: PathBuf,
    next: Instant,
    failures: u32,
}

/// Fetches every clone of `source` at once and then every `every`, until `stop`; a running fetch is ended then. Calls
/// `fetched` after each fetch that succeeded.
pub async fn keep_current(source: Arc<GitSource>, every: Duration, stop: impl Future<Output = ()>, fetched: impl Fn()) {
    let mut clones: Vec<Clone> = Vec::new();
    for opened in source.opened() {
        if clones.iter().all(|clone| clone.repo != opened.repo) {
            clones.push(Clone {
                repo: opened.repo,
                path: opened.path,
                next: Instant::now(),
                failures: 0,
            });
        }
    }
    let mut stop = std::pin::pin!(stop);
    while let Some(clone) = clones.iter_mut().min_by_key(|clone| clone.next) {
        tokio::select! {
            () = sleep_until(clone.next.into()) => {}
            () = &mut stop => return,
        }
        let outcome = match source.fetch_settings(&clone.repo) {
            Ok(settings) => {
                let (path, is_stopped) = (clone.path.clone(), Arc::new(AtomicBool::new(false)));
                let stopping = Arc::clone(&is_stopped);
                let mut fetching = tokio::task::spawn_blocking(move || fetch(&path, &settings, LIMIT, &is_stopped));
                let fetched = tokio::select! {
                    fetched = &mut fetching => fetched,
                    () = &mut stop => {
                        stopping.store(true, Ordering::Relaxed);
                        // Waits for git, so that no git process is left behind. Its outcome no longer matters.
                        let _ = fetching.await;
                        return;
                    }
                };
                fetched.unwrap_or_else(|error| Outcome::Failed(error.to_string()))
            }
            Err(error) => Outcome::Failed(error.to_string()),
        };
        match outcome {
            Outcome::Stopped => return,
            Outcome::Fetched => {
                if clone.failures > 0 {
                    tracing::warn!(repo = %clone.repo, "the clone is fetched again");
                }
                clone.failures = 0;
                fetched();
            }
            Outcome::Failed(why) => {
                clone.failures += 1;
                if clone.failures == 1 {
                    tracing::warn!(repo = %clone.repo, why, "the clone cannot be fetched: its heads are those of the last fetch");
                }
            }
        }
        clone.next = Instant::now() + pause(every, clone.failures);
    }
}

/// The outcome of a fetch.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Fetched,
    /// The reason, fit for the log.
    Failed(String),
    Stopped,
}

/// The pause after `failures` failures in a row.
fn pause(every: Duration, failures: u32) -> Duration {
    let longest = every.max(LONGEST_PAUSE);
    every.saturating_mul(2_u32.saturating_pow(failures)).min(longest)
}

/// Fetches each remote in turn. Blocks: call it off the runtime's threads.
fn fetch(path: &Path, settings: &FetchSettings, limit: Duration, is_stopped: &AtomicBool) -> Outcome {
    match git::settings::read(path) {
        Err(error) => return Outcome::Failed(error.to_string()),
        Ok(own) => {
            if let Some(name) = own.redirecting() {
                return Outcome::Failed(format!(
                    "its own configuration sets {name}, which decides what runs or where a credential goes: \
                     set it in your own, with `git config --global`"
                ));
            }
        }
    }
    for remote in &settings.remotes {
        let command = match command(path, remote, settings.ssh_command.as_deref()) {
            Ok(command) => command,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
        match run(command, limit, is_stopped) {
            Ok(Outcome::Fetched) => {}
            Ok(Outcome::Failed(why)) => return Outcome::Failed(format!("{remote}: {why}")),
            Ok(Outcome::Stopped) => return Outcome::Stopped,
            Err(error) => return Outcome::Failed(format!("git cannot be run: {error}")),
        }
    }
    Outcome::Fetched
}

fn run(mut command: Command, limit: Duration, is_stopped: &AtomicBool) -> io::Result<Outcome> {
    let mut running = command.spawn()?;
    let stderr = running.stderr.take();
    // Keeps reading beyond the limit, so that git never waits for its reader.
    let reader = thread::spawn(move || {
        let mut output = Vec::new();
        if let Some(mut stderr) = stderr {
            let read = stderr.by_ref().take(MOST_SAID).read_to_end(&mut output);
            let _ = read.and_then(|_| io::copy(&mut stderr, &mut io::sink()));
        }
        output
    });
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = running.try_wait()? {
            if status.success() {
                return Ok(Outcome::Fetched);
            }
            // A process that git has left behind could keep the pipe open.
            drop(Group::of(running.id()));
            let output = reader.join().unwrap_or_default();
            return Ok(Outcome::Failed(sentence(&String::from_utf8_lossy(&output))));
        }
        let is_stopped = is_stopped.load(Ordering::Relaxed);
        if is_stopped || Instant::now() >= until {
            end(&mut running)?;
            return Ok(if is_stopped {
                Outcome::Stopped
            } else {
                Outcome::Failed(format!("it did not end within {} s", limit.as_secs()))
            });
        }
        thread::sleep(POLL);
    }
}

/// The last line about an error, without credentials.
fn sentence(output: &str) -> String {
    let line = output
        .lines()
        .rev()
        .find(|line| line.starts_with("fatal: ") || line.starts_with("error: "));
    let line = line.or_else(|| output.lines().rev().find(|line| !line.trim().is_empty()));
    without_credentials(line.unwrap_or("git failed without a message").trim())
}

/// `text` without the part between `://` and `@`.
fn without_credentials(text: &str) -> String {
    let mut parts = text.split("://");
    let mut safe = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        safe.push_str("://");
        let authority = part.find(|character: char| character == '/' || character.is_whitespace());
        let (authority, rest) = part.split_at(authority.unwrap_or(part.len()));
        safe.push_str(authority.rsplit('@').next().unwrap_or_default());
        safe.push_str(rest);
    }
    safe
}

fn command(path: &Path, remote: &str, ssh_command: Option<&str>) -> anyhow::Result<Command> {
    let args = ["fetch", "--quiet", "--no-write-fetch-head", "--", remote];
    let mut command = git::network::command(path, &args, ssh_command)?;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    Ok(command)
}

/// Ends git and its child processes: by SIGTERM first, so that no lock file is left behind.
fn end(running: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    git::signal(running.id(), rustix::process::Signal::TERM);
    let until = Instant::now() + GRACE;
    while running.try_wait()?.is_none() && Instant::now() < until {
        thread::sleep(POLL);
    }
    drop(Group::of(running.id()));
    running.kill()?;
    running.wait().map(drop)
}

#[cfg(test)]
mod tests;
