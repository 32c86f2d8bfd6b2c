//! `coord claim`: claims files, and waits for them if asked to.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::files::named_files;
use coord_agent::options::AgentArgs;
use coord_agent::outcome::{action, show};
use coord_agent::terminal::spinner::Spinner;
use coord_agent::terminal::times::countdown;
use coord_agent::workplace::Workplace;
use coord_mcp::Outcome;
use coord_protocol::bounds::WAIT_SECONDS;
use coord_protocol::{Action, InterfacePromise, LockMode, Metadata, PostRequest};
use tokio::time::Instant;

const EXAMPLES: &str = "\
Examples:
  coord claim src/db.ts -m 'Adding a pool: query() becomes async'
  coord claim 'src/auth/**' README.md -m 'Moving the login' --wait 120

A lock expires after five minutes: claim again to renew it.
Exit status: 0 claimed, 1 error, 2 usage, 3 refused, 4 no answer.";

/// Time between two claims of a locked file, if the server does not hold them: the interval of WAIT.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// How long a waiting claim survives without an answer: long enough for a restart or a deployment of the server.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Options of `coord claim`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ClaimArgs {
    /// Files, new ones too; a pattern such as 'src/**' stands for tracked files
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// In one sentence: what changes for others
    #[arg(short, long)]
    pub message: String,
    /// Lock for reading: others may read, nobody may write
    #[arg(long)]
    pub reading: bool,
    /// Importers will see no change: neighbors stay writable
    #[arg(long, conflicts_with = "reading")]
    pub keeps_interface: bool,
    /// Wait up to this long in the queue for the files
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub wait: Option<u64>,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl ClaimArgs {
    /// Claims the files, and prints the next step.
    ///
    /// # Errors
    /// When the request cannot be made, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let mut workplace = Workplace::open(&self.agent)?;
        let files = named_files(&workplace.work, &self.paths).await?;
        let outcome = self.claim(&mut workplace, files).await?;
        show(&outcome, self.json, "")
    }

    /// The outcome of the first claim that need not wait, or of the last one before the deadline. A claim that waits
    /// survives a short outage of the server.
    async fn claim(&self, workplace: &mut Workplace, files: Vec<String>) -> anyhow::Result<Outcome> {
        let mode = if self.reading {
            LockMode::Reading
        } else {
            LockMode::Writing
        };
        let deadline = Instant::now() + Duration::from_secs(self.wait.unwrap_or_default());
        let spinner = Spinner::start(&format!("waiting for {}", workplace.connection.address));
        // The first claim does not wait, so that its response shows at once which locks block it.
        let mut wait_seconds = None;
        let mut last_answer = Instant::now();
        loop {
            let started = Instant::now();
            // Each claim has the commit that is checked out now.
            let claim = workplace.work.claim(files.clone(), mode, self.message.clone());
            let promise = self.keeps_interface.then_some(InterfacePromise::Keeps);
            let request = PostRequest {
                interface_changes: claim.interface_changes.filter(|_| promise.is_none()),
                interface: promise.or(claim.interface),
                wait_seconds: wait_seconds.filter(|seconds| *seconds > 0),
                ..claim
            };
            let outcome = workplace.post(&request).await?;
            let remaining = deadline.saturating_duration_since(Instant::now());
            if wait_seconds.is_some() && ExitStatus::of(&outcome) == ExitStatus::Offline {
                if remaining.is_zero() || last_answer.elapsed() > MAX_SILENCE {
                    return Ok(outcome);
                }
                let time_left = countdown_of(remaining.min(MAX_SILENCE));
                spinner.show(format!("no answer; giving up in {time_left}"));
                tokio::time::sleep(RETRY_INTERVAL.min(remaining)).await;
                // If no server runs yet, the next claim reports it.
                let _ = workplace.follow_server();
                wait_seconds = Some(server_wait(remaining.saturating_sub(RETRY_INTERVAL)));
                continue;
            }
            last_answer = Instant::now();
            if action(&outcome) != Some(Action::Wait) || remaining.is_zero() {
                return Ok(outcome);
            }
            spinner.show(waiting_line(metadata_of(&outcome), remaining));
            // Usually the server has held the claim this long already.
            if wait_seconds.is_some() {
                let pause = retry_pause(metadata_of(&outcome)).saturating_sub(started.elapsed());
                tokio::time::sleep(pause.min(remaining)).await;
            }
            wait_seconds = Some(server_wait(remaining));
        }
    }
}

/// How many seconds the server may hold a claim that waits for `remaining` at most.
fn server_wait(remaining: Duration) -> u32 {
    u32::try_from(remaining.as_secs()).map_or(WAIT_SECONDS, |seconds| seconds.min(WAIT_SECONDS))
}

/// Time until the next claim: a holder may release a lock before it expires.
fn retry_pause(metadata: Option<&Metadata>) -> Duration {
    let expires = metadata.and_then(|metadata| metadata.retry_after);
    let expires = expires.and_then(|seconds| u64::try_from(seconds).ok());
    expires.map_or(RETRY_INTERVAL, |seconds| {
        Duration::from_secs(seconds.max(1)).min(RETRY_INTERVAL)
    })
}

fn countdown_of(remaining: Duration) -> String {
    countdown(i64::try_from(remaining.as_secs()).unwrap_or(i64::MAX))
}

fn waiting_line(metadata: Option<&Metadata>, remaining: Duration) -> String {
    let time_left = countdown_of(remaining);
    let owner = metadata.and_then(|metadata| metadata.lock_owner.as_deref());
    match (owner, metadata.and_then(|metadata| metadata.conflicts.first())) {
        (Some(owner), Some(file)) => format!("waiting for {owner}, who holds {file}; giving up in {time_left}"),
        _ => format!("waiting; giving up in {time_left}"),
    }
}

fn metadata_of(outcome: &Outcome) -> Option<&Metadata> {
    match outcome {
        Outcome::Post(response) => response.orchestration.metadata.as_ref(),
        Outcome::Refused(error) => error.orchestration.metadata.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_repeated_when_the_lock_expires_and_at_least_every_five_seconds() {
        let after = |retry_after| {
            let metadata = Metadata {
                retry_after,
                ..Metadata::default()
            };
            retry_pause(Some(&metadata)).as_secs()
        };
        assert_eq!(
            [None, Some(300), Some(2), Some(0), Some(-1)].map(after),
            [5, 5, 2, 1, 5]
        );
        assert_eq!(retry_pause(None), RETRY_INTERVAL);
    }

    #[test]
    fn the_waiting_line_names_the_holder_the_file_and_the_time_left() {
        let metadata = Metadata {
            lock_owner: Some("bob".to_owned()),
            conflicts: vec!["src/db.ts".to_owned()],
            ..Metadata::default()
        };
        let line = waiting_line(Some(&metadata), Duration::from_secs(65));
        assert_eq!(line, "waiting for bob, who holds src/db.ts; giving up in 1:05");
        assert_eq!(waiting_line(None, Duration::from_secs(5)), "waiting; giving up in 0:05");
    }
}
