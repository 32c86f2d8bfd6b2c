//! `coord task graph`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use coord_agent::exit_status::ExitStatus;
use coord_agent::terminal::output::print_as;
use coord_protocol::TaskFilter;
use coord_protocol::tasks::{TaskStatus, TaskView};

use super::common::Common;
use super::list::read_tasks;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Graphviz
    Dot,
    /// Mermaid
    Mermaid,
}

/// Options of `coord task graph`.
#[derive(Clone, Debug, Args)]
pub(super) struct GraphArgs {
    /// The language of the graph
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    #[command(flatten)]
    common: Common,
}

impl GraphArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let request = read_tasks(&self.common, &workplace, TaskFilter::default());
        let tasks = workplace.ask(request).await?;
        print_as(self.common.json, &tasks, |tasks| match self.format {
            Format::Dot => dot(tasks),
            Format::Mermaid => mermaid(tasks),
        })?;
        Ok(ExitStatus::Done.into())
    }
}

/// The dependencies of a task, completed or not.
fn dependencies(task: &TaskView) -> impl Iterator<Item = &String> {
    task.dependencies.iter().chain(&task.met_dependencies)
}

fn dot(tasks: &[TaskView]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = "digraph tasks {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for task in tasks {
        let style = match task.status {
            TaskStatus::Completed => ", style=dotted",
            TaskStatus::InProgress => ", style=bold",
            TaskStatus::Pending => "",
        };
        let label = quoted(&format!("{}: {}", task.id, task.title));
        let _ = writeln!(text, "  {} [label={label}{style}];", quoted(&task.id));
    }
    for task in tasks {
        for dependency in dependencies(task) {
            let _ = writeln!(text, "  {} -> {};", quoted(dependency), quoted(&task.id));
        }
    }
    text.push_str("}\n");
    text
}

fn mermaid(tasks: &[TaskView]) -> String {
    // Nodes are named by index, because an id may be a word of the language.
    let indexes: BTreeMap<&str, usize> = tasks
        .iter()
        .enumerate()
        .map(|(index, task)| (task.id.as_str(), index))
        .collect();
    let escaped = |text: &str| {
        let mut line = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '"' | '#' | '<' | '>' | '&' | ';' | '`' | '\\' | '[' | ']' => {
                    let _ = write!(line, "#{};", u32::from(character));
                }
                character => line.push(character),
            }
        }
        line
    };
    let mut text = "graph LR\n".to_owned();
    for (index, task) in tasks.iter().enumerate() {
        let _ = writeln!(text, "  n{index}[\"{}: {}\"]", escaped(&task.id), escaped(&task.title));
    }
    for (index, task) in tasks.iter().enumerate() {
        for dependency in dependencies(task).filter_map(|id| indexes.get(id.as_str())) {
            let _ = writeln!(text, "  n{dependency} --> n{index}");
        }
    }
    text
}
