//! A plan: JSON Lines with a task on each line.

use anyhow::{Context, ensure};
use coord_protocol::bounds::NEW_TASKS;
use coord_protocol::tasks::NewTask;

/// Parses the tasks of `text`, and skips empty lines.
pub(super) fn read(text: &str) -> anyhow::Result<Vec<NewTask>> {
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
        let tasks = read("{\"ref\": \"a\"}\n\n{\"title\": \"B\", \"dependencies\": [\"a\"]}\n").unwrap();
        assert_eq!((tasks.len(), tasks[1].title.as_deref()), (2, Some("B")));
        let wrong = format!("{:#}", read("{}\n{\"title\": 7}").unwrap_err());
        assert!(wrong.starts_with("line 2 is not a task: "), "{wrong}");
        assert!(read("\n").is_err());
        assert!(read(&"{}\n".repeat(201)).is_err());
    }
}
