//! `coord task list`.

use std::process::ExitCode;

use anstyle::Style;
use clap::{Args, ValueEnum};
use coord_agent::exit_status::ExitStatus;
use coord_agent::terminal::output::{CAUTION, FAINT, GOOD, print, print_json, width};
use coord_agent::terminal::table::{Column, Cut, render};
use coord_agent::workplace::Workplace;
use coord_mcp::author;
use coord_protocol::plain_text::quote_line;
use coord_protocol::tasks::{LeaseState, TaskStatus, TaskView, TasksResponse};
use coord_protocol::{ClientError, TaskFilter, Waiting};

use super::common::Common;

/// The number of tasks to read in one request.
const PAGE_SIZE: u32 = 500;

/// The number of tasks after which no further page is read.
const MAX_TASKS: usize = 30_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Status {
    /// Nobody has claimed it yet
    Pending,
    /// It was claimed
    InProgress,
    /// It is done
    Completed,
}

/// Options of `coord task list`.
#[derive(Clone, Debug, Args)]
pub(super) struct ListArgs {
    /// Only tasks of this status [default: those that are not completed]
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Include completed tasks
    #[arg(long, conflicts_with = "status")]
    all: bool,
    /// Only tasks of this owner
    #[arg(long, value_name = "HANDLE")]
    owner: Option<String>,
    /// Only tasks that may be claimed
    #[arg(long, conflicts_with = "blocked")]
    ready: bool,
    /// Only tasks that wait for others
    #[arg(long)]
    blocked: bool,
    /// Only tasks about this file
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Only tasks with this text in the title
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl ListArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let file = self.file.as_ref().map(|file| workplace.work.path(file)).transpose();
        let status = self.status.map(|status| match status {
            Status::Pending => TaskStatus::Pending,
            Status::InProgress => TaskStatus::InProgress,
            Status::Completed => TaskStatus::Completed,
        });
        let readiness = match (self.ready, self.blocked) {
            (true, _) => Some("ready".to_owned()),
            (_, true) => Some("blocked".to_owned()),
            _ => None,
        };
        let filter = TaskFilter {
            status: status.map(|status| status.as_str().to_owned()),
            owner: self.owner,
            readiness,
            file: file.map_err(anyhow::Error::msg)?.map(|path| path.as_str().to_owned()),
            text: self.text,
            ..TaskFilter::default()
        };
        let mut tasks = workplace.ask(read_tasks(&self.common, &workplace, filter)).await?;
        if self.common.json {
            print_json(&TasksResponse {
                tasks,
                next: None,
                waiting: Waiting::default(),
            })?;
            return Ok(ExitStatus::Done.into());
        }
        if status.is_none() && !self.all {
            tasks.retain(|task| task.status != TaskStatus::Completed);
        }
        print(&match tasks.is_empty() {
            true => "There is no such task; coord task add creates one.\n".to_owned(),
            false => render(&COLUMNS, &tasks.iter().map(row).collect::<Vec<_>>(), width()),
        })?;
        Ok(ExitStatus::Done.into())
    }
}

/// Reads the tasks of all pages, of the team that `common` selects.
pub(super) async fn read_tasks(
    common: &Common,
    workplace: &Workplace,
    mut filter: TaskFilter,
) -> Result<Vec<TaskView>, ClientError> {
    let caller = common.reading_caller(workplace).await?;
    let mut tasks = Vec::new();
    filter.limit = Some(PAGE_SIZE);
    loop {
        let page = workplace.connection.client.tasks(&caller, &filter).await?;
        tasks.extend(page.tasks);
        filter.after = page.next;
        if filter.after.is_none() || tasks.len() >= MAX_TASKS {
            return Ok(tasks);
        }
    }
}

const COLUMNS: [Column; 6] = [
    Column::new("TASK", Cut::Never, 0),
    Column::new("STATE", Cut::Never, 0),
    Column::new("OWNER", Cut::End, 8),
    Column::new("WAITS FOR", Cut::End, 9),
    Column::new("BY", Cut::End, 8),
    Column::new("TITLE", Cut::End, 12),
];

fn row(task: &TaskView) -> (Style, Vec<String>) {
    let (style, state) = match (task.status, task.lease.state) {
        (TaskStatus::Completed, _) => (FAINT, "completed"),
        (_, LeaseState::Held) => (Style::new(), "in progress"),
        _ if task.is_ready => (GOOD, "ready"),
        (_, LeaseState::Lapsed) => (CAUTION, "expired"),
        _ => (Style::new(), "waits"),
    };
    let owner = task
        .owner
        .clone()
        .or_else(|| task.assignee.as_ref().map(|handle| format!("for {handle}")));
    let cells = vec![
        task.id.clone(),
        state.to_owned(),
        owner.unwrap_or_default(),
        task.dependencies.join(", "),
        author(&task.created_by, task.created_by_login.as_deref()),
        quote_line(&task.title),
    ];
    (style, cells)
}
