//! `coord task add`: one task by options, or a plan as JSON Lines, with a task on each line.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use coord_agent::file_content::open_named;
use coord_agent::workplace::Workplace;
use coord_protocol::bounds::NEW_TASKS;
use coord_protocol::tasks::{NewTask, NewTasksRequest, TaskPriority};

use super::common::Common;

/// The maximum size of a plan, which is that of a request.
const MAX_BYTES: u64 = 1024 * 1024;

/// The urgency of a task, as an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Priority {
    /// Taken before the others
    High,
    /// The default
    Normal,
    /// Taken after the others
    Low,
}

impl From<Priority> for TaskPriority {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::High => TaskPriority::High,
            Priority::Normal => TaskPriority::Normal,
            Priority::Low => TaskPriority::Low,
        }
    }
}

/// Options of `coord task add`.
#[derive(Clone, Debug, Args)]
pub(super) struct AddArgs {
    /// Its title
    #[arg(value_name = "TITLE", required_unless_present = "from")]
    title: Option<String>,
    /// A file with a task in each line, as JSON; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "description", "priority", "depends_on", "blocks", "files", "intent"])]
    from: Option<PathBuf>,
    /// Work to do
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,
    /// Urgent tasks are taken first
    #[arg(long, value_enum)]
    priority: Option<Priority>,
    /// A task that has to be completed before; may be repeated
    #[arg(long, value_name = "ID")]
    depends_on: Vec<String>,
    /// A task that has to wait for this one; may be repeated
    #[arg(long, value_name = "ID")]
    blocks: Vec<String>,
    /// A file that it is about; may be repeated
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<String>,
    /// The intent that it serves
    #[arg(long, value_name = "ID")]
    intent: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl AddArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let request = NewTasksRequest {
            caller: self.common.caller(&workplace),
            request_key: Some(uuid::Uuid::now_v7().hyphenated().to_string()),
            tasks: Some(self.tasks(&workplace)?),
        };
        let result = workplace.connection.client.new_tasks(&request).await;
        self.common.print(&workplace, result)
    }

    fn tasks(&self, workplace: &Workplace) -> anyhow::Result<Vec<NewTask>> {
        if let Some(file) = &self.from {
            let name = file.display();
            let input = open_named(file)?;
            let mut text = String::new();
            input
                .take(MAX_BYTES + 1)
                .read_to_string(&mut text)
                .with_context(|| format!("{name} cannot be read"))?;
            ensure!(
                text.len() as u64 <= MAX_BYTES,
                "{name} is larger than {MAX_BYTES} bytes"
            );
            return parse_plan(&text);
        }
        let path = |file: &String| workplace.work.path(file).map(|path| path.as_str().to_owned());
        let files: Result<Vec<String>, String> = self.files.iter().map(path).collect();
        let files = files.map_err(anyhow::Error::msg)?;
        let non_empty = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        Ok(vec![NewTask {
            title: self.title.clone(),
            description: self.description.clone(),
            priority: self.priority.map(Into::into),
            dependencies: non_empty(&self.depends_on),
            blocks: non_empty(&self.blocks),
            branch: (!files.is_empty()).then(|| workplace.work.branch.to_string()),
            files: non_empty(&files),
            intent_id: self.intent.clone(),
            ..NewTask::default()
        }])
    }
}

/// Parses the tasks of the plan `text`, and skips empty lines.
fn parse_plan(text: &str) -> anyhow::Result<Vec<NewTask>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(index, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("line {} is not a task", index + 1))
    };
    let tasks: Vec<NewTask> = lines.map(parse).collect::<anyhow::Result<_>>()?;
    ensure!(!tasks.is_empty(), "there is no task in the plan");
    ensure!(
        tasks.len() <= NEW_TASKS,
        "the plan has {} tasks; {NEW_TASKS} may be added at once",
        tasks.len()
    );
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_a_line_that_is_not_a_task() {
        let tasks = parse_plan("{\"ref\": \"a\"}\n\n{\"title\": \"B\", \"dependencies\": [\"a\"]}\n").unwrap();
        assert_eq!((tasks.len(), tasks[1].title.as_deref()), (2, Some("B")));
        let wrong = format!("{:#}", parse_plan("{}\n{\"title\": 7}").unwrap_err());
        assert!(wrong.starts_with("line 2 is not a task: "), "{wrong}");
        assert!(parse_plan("\n").is_err());
        assert!(parse_plan(&"{}\n".repeat(201)).is_err());
    }
}
