//! `coord ledger checkpoint`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::file_content::inside_working_copy;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::print;
use coord_agent::workplace::Workplace;
use coord_files::{FILE_MODE, RootedPath, StagedFile};
use coord_intents::ledger::SignedCheckpoint;

/// Options of `coord ledger checkpoint`.
#[derive(Clone, Debug, Args)]
pub(super) struct CheckpointArgs {
    /// Write it to this file, which must not exist yet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl CheckpointArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let repo_url = workplace.work.repo_url();
        let request = workplace.connection.client.ledger_checkpoint(&repo_url);
        let note = workplace.ask(request).await?;
        SignedCheckpoint::read(&note).context("the server's answer")?;
        match &self.out {
            None => print(&note)?,
            Some(path) => {
                let absolute = std::path::absolute(path)?;
                let context = || format!("{} cannot be written", path.display());
                let file = inside_working_copy(path).unwrap_or_else(|| RootedPath::beside(&absolute));
                let is_new = file
                    .stage(note.as_bytes(), FILE_MODE, None)
                    .and_then(StagedFile::create)
                    .with_context(context)?;
                ensure!(is_new, "{}: the file already exists", context());
            }
        }
        Ok(ExitStatus::Done.into())
    }
}
