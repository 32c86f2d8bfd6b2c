//! `coord task add`.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;
use coord_agent::file_content::open_named;
use coord_agent::workplace::Workplace;
use coord_protocol::tasks::{NewTask, NewTasksRequest};

use super::common::Common;
use super::plan;
use super::priority::Priority;

/// The maximum size of a plan, which is that of a request.
const MAX_BYTES: u64 = 1024 * 1024;

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
            return plan::read(&text);
        }
        let path = |file: &String| workplace.work.path(file).map(|path| path.as_str().to_owned());
        let files: Result<Vec<String>, String> = self.files.iter().map(path).collect();
        let files = files.map_err(anyhow::Error::msg)?;
        let non_empty = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        Ok(vec![NewTask {
            title: self.title.clone(),
            description: self.description.clone(),
            priority: self.priority.map(Priority::wire_priority),
            dependencies: non_empty(&self.depends_on),
            blocks: non_empty(&self.blocks),
            branch: (!files.is_empty()).then(|| workplace.work.branch.to_string()),
            files: non_empty(&files),
            intent_id: self.intent.clone(),
            ..NewTask::default()
        }])
    }
}
