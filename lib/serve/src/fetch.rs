//! `coord serve --fetch SECONDS`: keeps clones current with `git fetch`, with the user's git, configuration and
//! credentials, but without prompts. Skips a clone whose own configuration would decide what runs or where a credential
//! goes. One fetch runs at a time.

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

const FETCH_TIMEOUT: Duration = Duration::from_secs(120);
/// Time that git has to end after SIGTERM, so that it can remove its lock files.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// Time between two checks whether git has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The longest pause after failures, unless the interval is longer.
const MAX_PAUSE: Duration = Duration::from_secs(900);
/// Number of bytes of git's output that this module keeps.
const MAX_OUTPUT_BYTES: u64 = 16 * 1024;

struct FetchedClone {
    repo: RepoId,
    path: PathBuf,
    next_fetch: Instant,
    /// Failed fetches in a row.
    failures: u32,
}

/// Fetches each clone of `source` at once and then after every `interval`. `stop` also ends a running fetch. Calls
/// `on_fetched` after each fetch that succeeded.
pub async fn keep_current(
    source: Arc<GitSource>,
    interval: Duration,
    stop: impl Future<Output = ()>,
    on_fetched: impl Fn(),
) {
    let mut clones: Vec<FetchedClone> = Vec::new();
    for opened in source.opened() {
        if clones.iter().all(|clone| clone.repo != opened.repo) {
            clones.push(FetchedClone {
                repo: opened.repo,
                path: opened.path,
                next_fetch: Instant::now(),
                failures: 0,
            });
        }
    }
    let mut stop = std::pin::pin!(stop);
    while let Some(clone) = clones.iter_mut().min_by_key(|clone| clone.next_fetch) {
        tokio::select! {
            () = sleep_until(clone.next_fetch.into()) => {}
            () = &mut stop => return,
        }
        let outcome = match source.fetch_settings(&clone.repo) {
            Ok(settings) => {
                let (path, is_stopped) = (clone.path.clone(), Arc::new(AtomicBool::new(false)));
                let stop_flag = Arc::clone(&is_stopped);
                let mut task = tokio::task::spawn_blocking(move || fetch(&path, &settings, FETCH_TIMEOUT, &is_stopped));
                let result = tokio::select! {
                    result = &mut task => result,
                    () = &mut stop => {
                        stop_flag.store(true, Ordering::Relaxed);
                        // Waits for git, so that no git process is left behind. Its outcome no longer matters.
                        let _ = task.await;
                        return;
                    }
                };
                result.unwrap_or_else(|error| Outcome::Failed(error.to_string()))
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
                on_fetched();
            }
            Outcome::Failed(why) => {
                clone.failures += 1;
                if clone.failures == 1 {
                    tracing::warn!(repo = %clone.repo, why, "the clone cannot be fetched: its heads are those of the last fetch");
                }
            }
        }
        clone.next_fetch = Instant::now() + pause(interval, clone.failures);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Fetched,
    /// The reason, without credentials.
    Failed(String),
    Stopped,
}

/// The pause after `failures` failures in a row.
fn pause(interval: Duration, failures: u32) -> Duration {
    let max = interval.max(MAX_PAUSE);
    interval.saturating_mul(2_u32.saturating_pow(failures)).min(max)
}

/// Fetches each remote in turn. Blocks, so call it off the runtime's threads.
fn fetch(path: &Path, settings: &FetchSettings, timeout: Duration, is_stopped: &AtomicBool) -> Outcome {
    match git::settings::read(path) {
        Err(error) => return Outcome::Failed(error.to_string()),
        Ok(own_settings) => {
            if let Some(name) = own_settings.redirecting() {
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
        match run(command, timeout, is_stopped) {
            Ok(Outcome::Fetched) => {}
            Ok(Outcome::Failed(reason)) => return Outcome::Failed(format!("{remote}: {reason}")),
            Ok(Outcome::Stopped) => return Outcome::Stopped,
            Err(error) => return Outcome::Failed(format!("git cannot be run: {error}")),
        }
    }
    Outcome::Fetched
}

fn run(mut command: Command, timeout: Duration, is_stopped: &AtomicBool) -> io::Result<Outcome> {
    let mut process = command.spawn()?;
    let stderr = process.stderr.take();
    // Reads on and drops the bytes beyond the limit, so that git never waits for its reader.
    let reader = thread::spawn(move || {
        let mut output = Vec::new();
        if let Some(mut stderr) = stderr {
            let result = stderr.by_ref().take(MAX_OUTPUT_BYTES).read_to_end(&mut output);
            let _ = result.and_then(|_| io::copy(&mut stderr, &mut io::sink()));
        }
        output
    });
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(status) = process.try_wait()? {
            if status.success() {
                return Ok(Outcome::Fetched);
            }
            // A process that git has left behind could keep the pipe open.
            drop(Group::of(process.id()));
            let output = reader.join().unwrap_or_default();
            return Ok(Outcome::Failed(error_line(&String::from_utf8_lossy(&output))));
        }
        let is_stopped = is_stopped.load(Ordering::Relaxed);
        if is_stopped || Instant::now() >= deadline {
            terminate(&mut process)?;
            return Ok(if is_stopped {
                Outcome::Stopped
            } else {
                Outcome::Failed(format!("it did not end within {} s", timeout.as_secs()))
            });
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// The last line about an error, without credentials.
fn error_line(output: &str) -> String {
    let line = output
        .lines()
        .rev()
        .find(|line| line.starts_with("fatal: ") || line.starts_with("error: "));
    let line = line.or_else(|| output.lines().rev().find(|line| !line.trim().is_empty()));
    without_credentials(line.unwrap_or("git failed without a message").trim())
}

/// `text` without what precedes an `@` in the authority of a URL.
fn without_credentials(text: &str) -> String {
    let mut parts = text.split("://");
    let mut safe = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        safe.push_str("://");
        let end = part.find(|character: char| character == '/' || character.is_whitespace());
        let (authority, rest) = part.split_at(end.unwrap_or(part.len()));
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
fn terminate(process: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    git::signal(process.id(), rustix::process::Signal::TERM);
    let deadline = Instant::now() + GRACE_PERIOD;
    while process.try_wait()?.is_none() && Instant::now() < deadline {
        thread::sleep(POLL_INTERVAL);
    }
    drop(Group::of(process.id()));
    process.kill()?;
    process.wait().map(drop)
}

#[cfg(test)]
mod tests;
