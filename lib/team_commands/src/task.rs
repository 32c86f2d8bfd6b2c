//! `coord task`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use coord_protocol::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, EditTaskRequest, NextTaskRequest, ReleaseTaskRequest,
};

use super::add::{AddArgs, Priority};
use super::common::Common;
use super::graph::GraphArgs;
use super::list::ListArgs;
use super::task_files::{FilesArgs, release_unchanged, unpushed_files};

const EXAMPLES: &str = "\
Examples:
  coord task add 'Pool the connections' --file src/db.ts
  coord task add --from plan.jsonl
  coord task next --wait 20
  coord task done t1 --result 'query() is async now'
  coord task graph --format mermaid

Exit status: 0 done, 1 an error, 2 wrong usage, 3 refused by the rules, 4 no answer.";

/// Options of `coord task`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TaskArgs {
    /// Subcommand
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum TaskCommand {
    /// Add a task, or a plan
    Add(AddArgs),
    /// List the tasks
    List(ListArgs),
    /// Show a task with its notes
    Show {
        /// The task
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        common: Common,
    },
    /// Take the next task that is ready
    Next(NextArgs),
    /// Take a task, or renew your claim
    Claim(ClaimArgs),
    /// Complete your task
    Done(DoneArgs),
    /// Release your task
    Release(ReleaseArgs),
    /// Change a task
    Edit(EditArgs),
    /// Reserve a task for a member and notify them
    Assign {
        /// The task
        #[arg(value_name = "ID")]
        id: String,
        /// The member; an empty text removes the reservation
        #[arg(value_name = "HANDLE")]
        handle: String,
        #[command(flatten)]
        common: Common,
    },
    /// Remove a task
    Rm {
        /// The task
        #[arg(value_name = "ID")]
        id: String,
        /// Remove it even if other tasks depend on it
        #[arg(long)]
        unlink: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Print tasks and their dependencies as a graph
    Graph(GraphArgs),
}

impl TaskArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// When the subcommand fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.command {
            TaskCommand::Add(args) => args.run().await,
            TaskCommand::List(args) => args.run().await,
            TaskCommand::Show { id, common } => {
                let workplace = common.open()?;
                let caller = workplace.ask(common.reading_caller(&workplace)).await?;
                let result = workplace.connection.client.task(&caller, &id).await;
                common.print(&workplace, result)
            }
            TaskCommand::Next(args) => args.run().await,
            TaskCommand::Claim(args) => args.run().await,
            TaskCommand::Done(args) => args.run().await,
            TaskCommand::Release(args) => args.run().await,
            TaskCommand::Edit(args) => args.run().await,
            TaskCommand::Assign { id, handle, common } => {
                let workplace = common.open()?;
                let request = EditTaskRequest {
                    caller: common.caller(&workplace),
                    assignee: Some(handle),
                    ..EditTaskRequest::default()
                };
                let result = workplace.connection.client.edit_task(&id, &request).await;
                common.print(&workplace, result)
            }
            TaskCommand::Rm { id, unlink, common } => {
                let workplace = common.open()?;
                let (client, caller) = (&workplace.connection.client, common.caller(&workplace));
                let result = client.delete_task(&id, &caller, unlink).await;
                common.print(&workplace, result)
            }
            TaskCommand::Graph(args) => args.run().await,
        }
    }
}

/// Options of `coord task next`.
#[derive(Clone, Debug, Args)]
struct NextArgs {
    /// Seconds to wait for one, 0 to 20
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u32,
    /// Seconds until the claim expires unless it is renewed [default: the server's]
    #[arg(long, value_name = "SECONDS")]
    lease: Option<u32>,
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    common: Common,
}

impl NextArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let request = NextTaskRequest {
            caller: self.common.caller(&workplace),
            request_key: None,
            lease_seconds: self.lease,
            wait: Some(self.wait),
            work: self.files.work(&workplace, None),
        };
        let spinner = workplace.start_spinner();
        let result = workplace.connection.client.next_task(&request).await;
        drop(spinner);
        self.common.print(&workplace, result)
    }
}

/// Options of `coord task claim`.
#[derive(Clone, Debug, Args)]
struct ClaimArgs {
    /// The task
    #[arg(value_name = "ID")]
    id: String,
    /// Seconds until the claim expires unless it is renewed [default: the server's]
    #[arg(long, value_name = "SECONDS")]
    lease: Option<u32>,
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    common: Common,
}

impl ClaimArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let request = ClaimTaskRequest {
            caller: self.common.caller(&workplace),
            lease_seconds: self.lease,
            work: self.files.work(&workplace, None),
        };
        let result = workplace.connection.client.claim_task(&self.id, &request).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord task done`.
#[derive(Clone, Debug, Args)]
struct DoneArgs {
    /// The task
    #[arg(value_name = "ID")]
    id: String,
    /// The result, for the agents that continue
    #[arg(long, short, value_name = "TEXT")]
    result: Option<String>,
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    common: Common,
}

impl DoneArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let mut new_repo_head = None;
        let request = CompleteTaskRequest {
            caller: self.common.caller(&workplace),
            result: self.result,
            token: None,
            work: self.files.work(&workplace, Some(&mut new_repo_head)),
            new_repo_head,
        };
        let mut result = workplace.connection.client.complete_task(&self.id, &request).await;
        if let Some(files) = unpushed_files(&result)
            && release_unchanged(&workplace, &files, true).await?.is_empty()
        {
            result = workplace.connection.client.complete_task(&self.id, &request).await;
        }
        self.common.print(&workplace, result)
    }
}

/// Options of `coord task release`.
#[derive(Clone, Debug, Args)]
struct ReleaseArgs {
    /// The task
    #[arg(value_name = "ID")]
    id: String,
    /// The progress so far
    #[arg(long, short, value_name = "TEXT")]
    note: Option<String>,
    /// Unlock its files without a push, for discarded work
    #[arg(long, conflicts_with = "no_files")]
    abandon: bool,
    #[command(flatten)]
    files: FilesArgs,
    #[command(flatten)]
    common: Common,
}

impl ReleaseArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let mut new_repo_head = None;
        let request = ReleaseTaskRequest {
            caller: self.common.caller(&workplace),
            note: self.note,
            token: None,
            work: self.files.work(&workplace, Some(&mut new_repo_head)),
            new_repo_head,
            abandon: self.abandon.then_some(true),
        };
        let mut result = workplace.connection.client.release_task(&self.id, &request).await;
        if let Ok(response) = &mut result {
            response.kept_files = release_unchanged(&workplace, &response.kept_files, false).await?;
            if response.kept_files.is_empty() {
                response.warnings.retain(|warning| !warning.starts_with("LOCKS_KEPT"));
            }
        }
        self.common.print(&workplace, result)
    }
}

/// Options of `coord task edit`.
#[derive(Clone, Debug, Args)]
struct EditArgs {
    /// The task
    #[arg(value_name = "ID")]
    id: String,
    /// Its title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Work to do; an empty text removes it
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,
    /// Urgent tasks are taken first
    #[arg(long, value_enum)]
    priority: Option<Priority>,
    /// A task that it depends on; may be repeated, and replaces all current dependencies
    #[arg(long, value_name = "ID")]
    depends_on: Vec<String>,
    /// Remove all of its dependencies
    #[arg(long, conflicts_with = "depends_on")]
    no_dependencies: bool,
    /// A note to add
    #[arg(long, short, value_name = "TEXT")]
    note: Option<String>,
    /// Reset the count of expired claims
    #[arg(long)]
    clear_lapses: bool,
    #[command(flatten)]
    common: Common,
}

impl EditArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let sets_dependencies = self.no_dependencies || !self.depends_on.is_empty();
        let request = EditTaskRequest {
            caller: self.common.caller(&workplace),
            title: self.title,
            description: self.description,
            priority: self.priority.map(Into::into),
            drop_completed: self.no_dependencies.then_some(true),
            dependencies: sets_dependencies.then_some(self.depends_on),
            note: self.note,
            clear_lapses: self.clear_lapses.then_some(true),
            ..EditTaskRequest::default()
        };
        let result = workplace.connection.client.edit_task(&self.id, &request).await;
        self.common.print(&workplace, result)
    }
}
