//! `coord release`: releases files whose changes are pushed or discarded.

use std::process::ExitCode;

use clap::{ArgGroup, Args};
use coord_agent::changes::changed;
use coord_agent::exit_status::ExitStatus;
use coord_agent::files::{named_files, sent};
use coord_agent::options::AgentArgs;
use coord_agent::outcome::{action, show};
use coord_agent::person::ensure_no_agent;
use coord_agent::pushed::query_remotes_for_pushes;
use coord_agent::terminal::output::{print, print_json};
use coord_agent::workplace::Workplace;
use coord_mcp::Outcome;
use coord_protocol::bounds::split_files;
use coord_protocol::{Action, ClientError, LocksFilter};

const EXAMPLES: &str = "\
Examples:
  coord release src/db.ts         after git push: others may claim the file
  coord release --all             all of your files on the branch
  coord release --all --abandon   the same, discarding the changes
  coord release --force src/db.ts --reason 'The release needs it'
                                  someone else's lock, if you own the repository

A changed file is released once its change is on the remote branch. Until then
the answer is PUSH, and you keep the file. Unchanged files are released at once.

Exit status: 0 released, 1 an error, 2 wrong usage, 3 refused, 4 no answer.";

/// The most unpushed files in the list.
const MAX_FILES: usize = 5;

/// Options of `coord release`.
#[derive(Clone, Debug, Args)]
#[command(
    group = ArgGroup::new("files").required(true),
    after_help = EXAMPLES,
)]
pub struct ReleaseArgs {
    /// Files, from the current folder; a pattern such as 'src/**' stands for the tracked files that it matches
    #[arg(value_name = "PATH", group = "files")]
    pub paths: Vec<String>,
    /// All files that you hold on the branch
    #[arg(long, group = "files")]
    pub all: bool,
    /// Release without a push: you discarded the changes, or made none
    #[arg(long)]
    pub abandon: bool,
    /// Release others' locks on these files: for a person who owns the repository (admin or maintain at GitHub, or
    /// COORD_APPROVERS)
    #[arg(long, requires = "reason", requires = "paths", conflicts_with_all = ["abandon", "all"])]
    pub force: bool,
    /// With --force: the reason, which the holder and everyone else sees
    #[arg(long, requires = "force", value_name = "SENTENCE")]
    pub reason: Option<String>,
    /// One sentence: what your change means for others
    #[arg(short, long)]
    pub message: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl ReleaseArgs {
    /// Releases the files, and prints the next step.
    ///
    /// # Errors
    /// When the request cannot be made, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let workplace = match self.force {
            true => {
                ensure_no_agent(&self.agent)?;
                Workplace::for_person(&self.agent)?
            }
            false => Workplace::open(&self.agent)?,
        };
        let files = match self.all {
            true => match fetch_held_files(&workplace).await {
                Ok(files) => files,
                Err(error) => return show(&workplace.refused_post(error)?, self.json, ""),
            },
            false => named_files(&workplace.work, &self.paths).await?,
        };
        if files.is_empty() {
            match self.json {
                true => print_json(&serde_json::json!({ "success": true, "held": [] }))?,
                false => print(&format!("You hold nothing on {}.\n", workplace.work.branch))?,
            }
            return Ok(ExitStatus::Done.into());
        }
        let mut status = ExitCode::SUCCESS;
        for files in split_files(files) {
            let outcome = self.release(&workplace, files).await?;
            let outcome_status = show(&outcome, self.json, &advice(&outcome))?;
            if ExitStatus::of(&outcome) != ExitStatus::Done {
                status = outcome_status;
            }
        }
        Ok(status)
    }

    /// Releases pushed files, and files that were claimed and never changed: no work is lost.
    async fn release(&self, workplace: &Workplace, files: Vec<String>) -> anyhow::Result<Outcome> {
        let work = &workplace.work;
        let message = |default: &str| self.message.clone().unwrap_or_else(|| default.to_owned());
        if let Some(reason) = self.reason.as_ref().filter(|_| self.force) {
            return workplace.post(&work.force(files, reason.clone())).await;
        }
        let abandon = || work.abandon(files.clone(), message("Released without a change"));
        if self.abandon {
            return workplace.post(&abandon()).await;
        }
        let post = async || {
            let release = work.release(files.clone(), message("The change is pushed"));
            workplace.post(&release).await
        };
        let mut outcome = post().await?;
        if action(&outcome) == Some(Action::Push) && query_remotes_for_pushes(&work.working_copy).await {
            outcome = post().await?;
        }
        if action(&outcome) == Some(Action::Push) && changed(&work.working_copy, &work.branch, &files).await?.is_empty()
        {
            return workplace.post(&abandon()).await;
        }
        Ok(outcome)
    }
}

/// Fetches the files that the caller holds on the branch: one agent, or the person if the command names no agent.
async fn fetch_held_files(workplace: &Workplace) -> Result<Vec<String>, ClientError> {
    let (client, repo_url) = (&workplace.connection.client, workplace.work.repo_url());
    let filter = LocksFilter {
        branch: Some(workplace.work.branch.to_string()),
        is_own: true,
        agent_id: workplace.agent_id().map(str::to_owned),
    };
    let _spinner = workplace.start_spinner();
    let locks = client.locks(&repo_url, &filter).await?.locks.into_iter();
    // Without an agent in the request, the response has the locks of all agents of the person.
    let own = locks.filter(|lock| lock.agent_id.as_deref() == workplace.agent_id());
    Ok(own.map(|lock| sent(&lock.file_path)).collect())
}

/// For a PUSH, how to discard the changes, after the unpushed files if the reason does not name them all.
fn advice(outcome: &Outcome) -> String {
    let orchestration = match outcome {
        Outcome::Post(response) if response.orchestration.action == Action::Push => &response.orchestration,
        _ => return String::new(),
    };
    let metadata = orchestration.metadata.as_ref();
    let unpushed = metadata.map(|metadata| &metadata.unpushed[..]).unwrap_or_default();
    let reason = &orchestration.reason;
    let are_named = unpushed.iter().all(|file| reason.contains(&format!("'{file}'")));
    let mut text = String::new();
    if !are_named {
        let lines = unpushed.iter().take(MAX_FILES).map(|file| format!("  {file}\n"));
        text.extend(lines);
        if unpushed.len() > MAX_FILES {
            text.push_str(&format!("  and {} more\n", unpushed.len() - MAX_FILES));
        }
    }
    text.push_str("To discard the changes instead: git restore, then coord release --abandon.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_protocol::{ErrorCode, Metadata, Orchestration, PostResponse};

    #[test]
    fn push_is_explained_with_the_files_that_it_is_about() {
        let metadata = Metadata {
            unpushed: (0..7).map(|number| format!("src/{number}.ts")).collect(),
            ..Metadata::default()
        };
        let push = Orchestration::new(Action::Push, "7 files are not on the branch").with(metadata);
        let outcome = Outcome::Post(PostResponse::refusal(ErrorCode::NotPushed, push));
        insta::assert_snapshot!(advice(&outcome));
        let done = Outcome::Post(PostResponse::new(true, Orchestration::new(Action::Proceed, "Released")));
        assert_eq!(advice(&done), "");
    }
}
