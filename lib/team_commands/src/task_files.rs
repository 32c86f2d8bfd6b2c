//! The files of a task in the working copy.

use std::collections::BTreeSet;

use clap::Args;
use coord_agent::changes::changed;
use coord_agent::workplace::Workplace;
use coord_protocol::tasks::{TaskResponse, TaskWork};
use coord_protocol::{Action, ClientError};

/// How the files of a task are handled.
#[derive(Clone, Debug, Args)]
pub(super) struct FilesArgs {
    /// Leave its files alone: neither claim nor release them
    #[arg(long)]
    no_files: bool,
}

impl FilesArgs {
    /// Where the work on the files is done; and the pushed commit.
    pub fn work(&self, workplace: &Workplace, new_head: Option<&mut Option<String>>) -> TaskWork {
        let mut work = TaskWork {
            claim_files: self.no_files.then_some(false),
            ..TaskWork::default()
        };
        if !self.no_files {
            workplace.work.fill(&mut work, new_head);
        }
        work
    }
}

/// The files that have to be pushed before the task can be completed, where that is why it is not.
pub(super) fn unpushed(answered: &Result<TaskResponse, ClientError>) -> Option<Vec<String>> {
    let Err(ClientError::Refused {
        orchestration: Some(orchestration),
        ..
    }) = answered
    else {
        return None;
    };
    let metadata = orchestration.metadata.as_ref()?;
    (orchestration.action == Action::Push).then(|| metadata.unpushed.clone())
}

/// Unlocks those of `files` that were claimed and never changed: they are no work that could be lost. Returns the others; with
/// `is_all_or_none` nothing is unlocked where there are some.
pub(super) async fn unlock_unchanged(
    workplace: &Workplace,
    files: &[String],
    is_all_or_none: bool,
) -> anyhow::Result<Vec<String>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let work = &workplace.work;
    let changed: BTreeSet<String> = changed(&work.working_copy, &work.branch, files)
        .await?
        .into_iter()
        .collect();
    let (kept, unchanged): (Vec<String>, Vec<String>) = files.iter().cloned().partition(|file| changed.contains(file));
    if unchanged.is_empty() || (is_all_or_none && !kept.is_empty()) {
        return Ok(files.to_vec());
    }
    let request = work.abandon(unchanged, "Released without a change".to_owned());
    match workplace.connection.client.post_status(&request).await {
        Ok(response) if response.success => Ok(kept),
        _ => Ok(files.to_vec()),
    }
}
