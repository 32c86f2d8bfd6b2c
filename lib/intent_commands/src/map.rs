//! `coord map`: which intent owns which file.

use std::process::ExitCode;

use anstyle::Style;
use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{FAINT, print_as, short, width};
use coord_agent::terminal::table::{Column, Cut, render};
use coord_agent::workplace::Workplace;
use coord_intents::intent_map::{rows, write};
use coord_protocol::MappedFile;

/// Options of `coord map`.
#[derive(Clone, Debug, Args)]
pub struct MapArgs {
    /// Print the response as JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print the map in the form of intent_map.md
    #[arg(long)]
    pub markdown: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl MapArgs {
    /// Prints the map.
    ///
    /// # Errors
    /// When the map cannot be read or printed, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let repo_url = workplace.work.repo_url();
        let request = workplace.connection.client.intent_map(&repo_url, None);
        let map = workplace.ask(request).await?;
        print_as(self.json, &map, |map| match self.markdown {
            true => write("", &rows(&map.files)),
            false => table(&map.files, width()),
        })?;
        Ok(ExitStatus::Done.into())
    }
}

const COLUMNS: [Column; 4] = [
    Column::new("FILE", Cut::Start, 16),
    Column::new("INTENT", Cut::End, 12),
    Column::new("LAST HASH", Cut::Never, 0),
    Column::new("LOCKED", Cut::Never, 0),
];

fn table(files: &[MappedFile], width: Option<usize>) -> String {
    if files.is_empty() {
        return "No intents have been mapped yet.\n".to_owned();
    }
    let row = |file: &MappedFile| {
        let hash = file.hash.as_deref().unwrap_or("-");
        let hash = hash.strip_prefix("sha256:").map_or(hash, short);
        let (style, locked) = if file.is_locked {
            (Style::new(), "yes")
        } else {
            (FAINT, "no")
        };
        let cells = [&*file.file_path, &*file.intent_id, hash, locked].map(str::to_owned);
        (style, cells.to_vec())
    };
    render(&COLUMNS, &files.iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use coord_intents::intent_map::read;

    use super::*;

    #[test]
    fn the_table_of_the_map_is_read_as_it_is_written() {
        let hash = format!("sha256:{}", "5c".repeat(32));
        let file = |path: &str, hash: Option<&str>, is_locked| MappedFile {
            file_path: path.to_owned(),
            intent_id: "INT-001".to_owned(),
            hash: hash.map(str::to_owned),
            is_locked,
            branch: None,
        };
        let files = [
            file("src/a.ts", Some(&hash), true),
            file("src/b.ts", Some("DELETED"), false),
            file("src/c.ts", None, true),
        ];
        assert_eq!(read(&write("", &rows(&files))), rows(&files));
        let shown = anstream::adapter::strip_str(&table(&files, None)).to_string();
        assert!(shown.contains("src/a.ts  INT-001  5c5c5c5    yes\n"), "{shown}");
    }
}
