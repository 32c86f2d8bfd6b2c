//! `coord policy`: checks `.coord.toml` before it is committed, and suggests one from the history.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use coord_git::WorkingCopy;
use coord_settings::policy::PATH;
use coord_settings::policy::file::{MAX_BYTES, PolicyFile};

use crate::agent::file_content::{inside_working_copy, named};
use crate::agent::hot_files::{HotFiles, hot_in_words};
use crate::stdout::print;

const EXAMPLES: &str = "\
Examples:
  coord policy check              is the .coord.toml of this repository right?
  coord policy check draft.toml   is this file?

Exit status: 0 it is right, or there is none; 1 it is wrong, or cannot be read; 2 wrong usage.";

const EXAMPLES_OF_SUGGEST: &str = "\
Examples:
  coord policy suggest                 print the files that it would share
  coord policy suggest > .coord.toml   write them

It looks at the last 500 commits: manifests, changelogs and translations that one of twenty changes, and the
lockfiles that are tracked.

Exit status: 0 printed, 1 nothing to suggest, or an error, 2 wrong usage.";

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
    Suggest,
}

impl PolicyArgs {
    /// # Errors
    /// When the file cannot be read.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let Act::Check { file } = self.act else {
            return suggest();
        };
        let (file, is_named) = match file {
            Some(file) => (file, true),
            None => (
                WorkingCopy::containing(&std::env::current_dir()?)?.root().join(PATH),
                false,
            ),
        };
        check(&file, is_named)
    }
}

fn suggest() -> anyhow::Result<ExitCode> {
    let hot = HotFiles::of(&WorkingCopy::containing(&std::env::current_dir()?)?)?;
    let Some(sentence) = hot_in_words(&hot) else {
        let commits = hot.commits;
        let _ = writeln!(
            std::io::stderr(),
            "nothing to suggest: of the last {commits} commits, too few change the same manifest, changelog or translation"
        );
        return Ok(ExitCode::FAILURE);
    };
    print(hot.policy().as_bytes())?;
    let _ = writeln!(std::io::stderr(), "{sentence}");
    Ok(ExitCode::SUCCESS)
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
    let source = named(file)?.take(MAX_BYTES as u64 + 1);
    { source }
        .read_to_end(&mut content)
        .with_context(|| format!("{name} cannot be read"))?;
    match PolicyFile::parse(&content) {
        Ok(_) => {
            print(format!("{name}: right\n").as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{name}:{problem}");
            Ok(ExitCode::FAILURE)
        }
    }
}
