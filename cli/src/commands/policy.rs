//! `coord policy`: checks `.coord.toml` before it is committed, and suggests one from the history.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use coord_agent::file_content::{inside_working_copy, open_named};
use coord_agent::hot_files::{HotFiles, describe_hot_files};
use coord_agent::stdout::print;
use coord_agent::terminal::output::note;
use coord_files::{FILE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_settings::policy::PATH;
use coord_settings::policy::file::{MAX_BYTES, PolicyFile};
use toml_edit::DocumentMut;

const EXAMPLES: &str = "\
Examples:
  coord policy check              is the .coord.toml of this repository valid?
  coord policy check draft.toml   is this file?

Exit status: 0 it is valid, or there is none; 1 it is invalid, or cannot be read; 2 wrong usage.";

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
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Check the file, and print errors with line and column
    #[command(after_help = EXAMPLES)]
    Check {
        /// The file; without one, that of the repository
        file: Option<PathBuf>,
    },
    /// Print a policy that shares the files that many commits change
    #[command(after_help = EXAMPLES_OF_SUGGEST)]
    Suggest {
        /// Write it to .coord.toml, whose other keys stay
        #[arg(long)]
        write: bool,
    },
}

impl PolicyArgs {
    /// # Errors
    /// When a file cannot be read or written.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.command {
            PolicyCommand::Suggest { write } => suggest(write),
            PolicyCommand::Check { file: Some(file) } => check(&file, true),
            PolicyCommand::Check { file: None } => check(&current_working_copy()?.root().join(PATH), false),
        }
    }
}

fn current_working_copy() -> anyhow::Result<WorkingCopy> {
    Ok(WorkingCopy::containing(&std::env::current_dir()?)?)
}

/// Suggests a list of shared files: prints it, or writes it if `is_write`.
fn suggest(is_write: bool) -> anyhow::Result<ExitCode> {
    let working_copy = current_working_copy()?;
    let hot = HotFiles::of(&working_copy)?;
    let Some(sentence) = describe_hot_files(&hot) else {
        let commits = hot.commits;
        note(&format!(
            "nothing to suggest: of the last {commits} commits, too few change the same manifest, changelog or translation"
        ));
        return Ok(ExitCode::FAILURE);
    };
    let suggestion = hot.policy();
    if is_write {
        write(&RootedPath::new(working_copy.root(), PATH), &suggestion)?;
        print(format!("{PATH}: `shared` is written; commit it\n").as_bytes())?;
    } else {
        print(suggestion.as_bytes())?;
    }
    note(&sentence);
    Ok(ExitCode::SUCCESS)
}

/// Adds the list in `suggestion` to `file`, and keeps everything else.
fn write(file: &RootedPath, suggestion: &str) -> anyhow::Result<()> {
    let policy = file.read(MAX_BYTES as u64)?.unwrap_or_default();
    let policy = String::from_utf8(policy).with_context(|| format!("{PATH} is not UTF-8"))?;
    let policy: DocumentMut = policy
        .parse()
        .with_context(|| format!("{PATH} is not TOML: fix it first"))?;
    ensure!(
        !policy.contains_key("shared"),
        "{PATH} has a list `shared`: add to it what `coord policy suggest` prints"
    );
    // The list comes before all other keys: behind the heading of a table, it would belong to the table.
    let text = format!("{suggestion}{policy}");
    if let Err(problem) = PolicyFile::parse(text.as_bytes()) {
        bail!("{PATH}:{problem}");
    }
    file.write(text.as_bytes(), FILE_MODE)?;
    Ok(())
}

/// Checks `file`, which the caller has named, or else the one of the repository, which may be missing.
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
    open_named(file)?
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut content)
        .with_context(|| format!("{name} cannot be read"))?;
    match PolicyFile::parse(&content) {
        Ok(_) => {
            print(format!("{name}: valid\n").as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problem) => {
            // Editors recognize this form.
            let _ = writeln!(std::io::stderr(), "{name}:{problem}");
            Ok(ExitCode::FAILURE)
        }
    }
}
