//! `coord policy`: checks `.coord.toml` before it is committed, and suggests one from the history.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use coord_agent::file_content::{inside_working_copy, open_named};
use coord_agent::hot_files::{HotFiles, hot_in_words};
use coord_agent::stdout::print;
use coord_agent::terminal::output::note;
use coord_files::{FILE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_settings::policy::PATH;
use coord_settings::policy::file::{MAX_BYTES, PolicyFile};
use toml_edit::DocumentMut;

const EXAMPLES: &str = "\
Examples:
  coord policy check              is the .coord.toml of this repository right?
  coord policy check draft.toml   is this file?

Exit status: 0 it is right, or there is none; 1 it is wrong, or cannot be read; 2 wrong usage.";

const EXAMPLES_OF_SUGGEST: &str = "\
Examples:
  coord policy suggest           what would it share?
  coord policy suggest --write   add that to .coord.toml

It looks at the last 500 commits: manifests, changelogs and translations that one of twenty changes, and the
lockfiles that are tracked.

Exit status: 0 printed or written, 1 nothing to suggest, or an error, 2 wrong usage.";

/// Options of `coord policy`.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Subcommand
    #[command(subcommand)]
    act: Act,
}

/// Subcommand.
#[derive(Debug, Subcommand)]
enum Act {
    /// Show problems of the file, with line and column
    #[command(after_help = EXAMPLES)]
    Check {
        /// The file; without one, that of the repository
        file: Option<PathBuf>,
    },
    /// Print one that shares the files which the history shows to be hot
    #[command(after_help = EXAMPLES_OF_SUGGEST)]
    Suggest {
        /// Write it to .coord.toml, whose other keys stay
        #[arg(long)]
        write: bool,
    },
}

impl PolicyArgs {
    /// # Errors
    /// When the file cannot be read.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.act {
            Act::Suggest { write } => suggest(write),
            Act::Check { file: Some(file) } => check(&file, true),
            Act::Check { file: None } => check(&here()?.root().join(PATH), false),
        }
    }
}

fn here() -> anyhow::Result<WorkingCopy> {
    Ok(WorkingCopy::containing(&std::env::current_dir()?)?)
}

fn suggest(is_written: bool) -> anyhow::Result<ExitCode> {
    let working_copy = here()?;
    let hot = HotFiles::of(&working_copy)?;
    let Some(sentence) = hot_in_words(&hot) else {
        let commits = hot.commits;
        note(&format!(
            "nothing to suggest: of the last {commits} commits, too few change the same manifest, changelog or translation"
        ));
        return Ok(ExitCode::FAILURE);
    };
    let suggested = hot.policy();
    if is_written {
        write(&RootedPath::new(working_copy.root(), PATH), &suggested)?;
        print(format!("{PATH}: `shared` is written; commit it\n").as_bytes())?;
    } else {
        print(suggested.as_bytes())?;
    }
    note(&sentence);
    Ok(ExitCode::SUCCESS)
}

/// Adds the list of `suggested` to `file`; what else is there stays.
fn write(file: &RootedPath, suggested: &str) -> anyhow::Result<()> {
    let present = file.read(MAX_BYTES as u64)?.unwrap_or_default();
    let present = String::from_utf8(present).with_context(|| format!("{PATH} is not UTF-8"))?;
    let present: DocumentMut = present
        .parse()
        .with_context(|| format!("{PATH} is no TOML: fix it first"))?;
    ensure!(
        !present.contains_key("shared"),
        "{PATH} has a list `shared`: add to it what `coord policy suggest` prints"
    );
    // Before all other keys: behind the heading of a table, it would be one of that table's.
    let text = format!("{suggested}{present}");
    if let Err(problem) = PolicyFile::parse(text.as_bytes()) {
        bail!("{PATH}:{problem}");
    }
    file.write(text.as_bytes(), FILE_MODE)?;
    Ok(())
}

fn check(file: &Path, is_named: bool) -> anyhow::Result<ExitCode> {
    let name = match is_named {
        true => file.display().to_string(),
        false => PATH.to_owned(),
    };
    if !is_named && inside_working_copy(file).is_some_and(|file| matches!(file.about(), Ok(None))) {
        print(format!("{name}: there is none; the rules are those of the server\n").as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut content = Vec::new();
    let source = open_named(file)?.take(MAX_BYTES as u64 + 1);
    { source }
        .read_to_end(&mut content)
        .with_context(|| format!("{name} cannot be read"))?;
    match PolicyFile::parse(&content) {
        Ok(_) => {
            print(format!("{name}: right\n").as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problem) => {
            // The form that editors know.
            let _ = writeln!(std::io::stderr(), "{name}:{problem}");
            Ok(ExitCode::FAILURE)
        }
    }
}
