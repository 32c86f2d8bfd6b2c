//! The files of a task in the working copy.

use std::collections::BTreeSet;

use clap::Args;
use coord_agent::changes::changed;
use coord_agent::workplace::Workplace;
use coord_protocol::tasks::{TaskResponse, TaskWork};
use coord_protocol::{Action, ClientError};

/// Options about the files of a task.
#[derive(Clone, Debug, Args)]
pub(super) struct FilesArgs {
    /// Leave its files alone: neither claim nor release them
    #[arg(long)]
    no_files: bool,
}

impl FilesArgs {
    /// The branch and commit of the work on the files. Sets `new_head` to the pushed commit.
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

/// The files to push before the task can be completed, if the server refused the completion because of them.
pub(super) fn unpushed_files(result: &Result<TaskResponse, ClientError>) -> Option<Vec<String>> {
    let Err(ClientError::Refused {
        orchestration: Some(orchestration),
        ..
    }) = result
    else {
        return None;
    };
    let metadata = orchestration.metadata.as_ref()?;
    (orchestration.action == Action::Push).then(|| metadata.unpushed.clone())
}

/// Releases the locks of `files` that have no changes, and returns the other files. With `is_all_or_none`, releases
/// nothing unless all files are without changes.
pub(super) async fn release_unchanged(
    workplace: &Workplace,
    files: &[String],
    is_all_or_none: bool,
) -> anyhow::Result<Vec<String>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let work = &workplace.work;
    let changed_files: BTreeSet<String> = changed(&work.working_copy, &work.branch, files)
        .await?
        .into_iter()
        .collect();
    let (changed_files, unchanged): (Vec<String>, Vec<String>) =
        files.iter().cloned().partition(|file| changed_files.contains(file));
    if unchanged.is_empty() || (is_all_or_none && !changed_files.is_empty()) {
        return Ok(files.to_vec());
    }
    let request = work.abandon(unchanged, "Released without a change".to_owned());
    match workplace.connection.client.post_status(&request).await {
        Ok(response) if response.success => Ok(changed_files),
        _ => Ok(files.to_vec()),
    }
}
