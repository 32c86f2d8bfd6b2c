//! `coord verify`: whether files have the content that the ledger has recorded.
//!
//! - `origin`: the commit that changed a file

mod origin;

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use coord_agent::contents;
use coord_agent::exit_status::ExitStatus;
use coord_agent::files::{expand_names, sent};
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{BAD, CAUTION, FAINT, GOOD, print_as, width};
use coord_agent::terminal::table::{Column, Cut, render};
use coord_agent::workplace::{Failure, Workplace};
use coord_protocol::{FileContent, FileReport, FileVerdict, VerifyRequest, bounds};
use serde::Serialize;

use self::origin::find_origin;
pub(super) use self::origin::{Origin, read_origin};

const EXAMPLES: &str = "\
Examples:
  coord verify                    every file that the ledger knows
  coord verify 'src/**'           these files, as git would commit them now
  coord verify --rev v1.2         as that commit has them

INTACT: the content that was recorded last. CHANGED: a content that was never
recorded. REVERTED: one that was recorded earlier. MISSING: no file, and no
deletion was recorded. UNRECORDED: nothing is known.

Exit status: 0 nothing is wrong, 1 an error, 2 wrong usage, 3 a file is
CHANGED, REVERTED or MISSING, 4 no answer.";

/// Options of `coord verify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// Files, from the current folder; a pattern such as 'src/**' stands for the tracked files that it matches [default: all that the ledger knows]
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// The files of this commit, and not those of the working copy
    #[arg(long, value_name = "REV")]
    pub rev: Option<String>,
    /// Print the verdicts as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent. Records for any branch count, unless one is named.
    #[command(flatten)]
    pub agent: AgentArgs,
}

/// The verdict on a file, and the origin of its content.
#[derive(Debug, Serialize)]
struct VerifiedFile {
    #[serde(flatten)]
    report: FileReport,
    /// The current content.
    hash: String,
    /// The commit of a content that is not the one recorded last.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<Origin>,
}

impl VerifyArgs {
    /// Compares the files, and prints a verdict on each.
    ///
    /// # Errors
    /// When the files cannot be compared, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let (client, repo_url) = (&workplace.connection.client, workplace.work.repo_url());
        let files = match self.paths.is_empty() {
            false => expand_names(&workplace.work, &self.paths).await?,
            true => {
                let map = workplace.ask(client.intent_map(&repo_url, None)).await?;
                let files = map.files.into_iter().filter(|file| file.hash.is_some());
                files.map(|file| file.file_path).collect()
            }
        };
        let files = workplace.ask(self.verify(&workplace, files)).await?;
        print_as(self.json, &files, |files| table(files, width()))?;
        let is_wrong = files.iter().any(|file| is_wrong(file.report.verdict));
        Ok(ExitStatus::refused_if(is_wrong).into())
    }

    async fn verify(&self, workplace: &Workplace, files: Vec<String>) -> Result<Vec<VerifiedFile>, Failure> {
        let working_copy = &workplace.work.working_copy;
        let mut verified = Vec::new();
        for files in files.chunks(bounds::FILES) {
            let hashes = match &self.rev {
                Some(rev) => contents::of_revision(working_copy.root(), rev, files)?,
                None => contents::of_working_copy(working_copy, files)?,
            };
            let contents = hashes.iter().map(|(path, hash)| FileContent {
                file_path: sent(path),
                hash: hash.to_string(),
            });
            let request = VerifyRequest {
                repo_url: Some(workplace.work.repo_url()),
                branch: self.agent.branch.clone().filter(|branch| !branch.trim().is_empty()),
                files: Some(contents.collect()),
                agent_id: None,
            };
            let response = workplace.connection.client.verify_files(&request).await?;
            for report in response.files {
                let hash = hashes.get(report.file_path.trim_start_matches("./"));
                let hash = *hash.context("the server has answered about another file")?;
                let commit = match is_wrong(report.verdict) {
                    true => find_origin(working_copy.root(), self.rev.as_deref(), &report.file_path, hash).await?,
                    false => None,
                };
                let hash = hash.to_string();
                verified.push(VerifiedFile { report, hash, commit });
            }
        }
        Ok(verified)
    }
}

fn is_wrong(verdict: FileVerdict) -> bool {
    matches!(
        verdict,
        FileVerdict::Changed | FileVerdict::Reverted | FileVerdict::Missing
    )
}

const COLUMNS: [Column; 4] = [
    Column::new("VERDICT", Cut::Never, 0),
    Column::new("FILE", Cut::Start, 16),
    Column::new("INTENT", Cut::End, 12),
    Column::new("BY", Cut::End, 12),
];

fn table(files: &[VerifiedFile], width: Option<usize>) -> String {
    if files.is_empty() {
        return "The ledger has no content of any file.\n".to_owned();
    }
    let row = |file: &VerifiedFile| {
        let verdict = file.report.verdict;
        let by = match (&file.commit, is_wrong(verdict)) {
            (Some(origin), _) => origin.to_string(),
            (None, true) => "unknown".to_owned(),
            (None, false) => String::new(),
        };
        let (name, style) = match verdict {
            FileVerdict::Intact => ("INTACT", GOOD),
            FileVerdict::Changed => ("CHANGED", BAD),
            FileVerdict::Reverted => ("REVERTED", CAUTION),
            FileVerdict::Missing => ("MISSING", BAD),
            FileVerdict::Unrecorded => ("UNRECORDED", FAINT),
        };
        let intent = file.report.intent_id.clone().unwrap_or_default();
        let cells = [name.to_owned(), file.report.file_path.clone(), intent, by];
        (style, cells.to_vec())
    };
    render(&COLUMNS, &files.iter().map(row).collect::<Vec<_>>(), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_the_commit_that_changed_the_file_or_none() {
        let file = |verdict, path: &str, commit| VerifiedFile {
            report: FileReport {
                file_path: path.to_owned(),
                verdict,
                intent_id: Some("INT-001".to_owned()),
                recorded: None,
            },
            hash: "DELETED".to_owned(),
            commit,
        };
        let commit = Origin {
            commit: "99cc7da9399f806a758cf80dab931201cf07c67e".to_owned(),
            author: "Ada".to_owned(),
            intents: vec!["INT-002".to_owned()],
        };
        let files = [
            file(FileVerdict::Intact, "src/a.ts", None),
            file(FileVerdict::Changed, "src/b.ts", Some(commit)),
            file(FileVerdict::Missing, "src/c.ts", None),
        ];
        let shown = anstream::adapter::strip_str(&table(&files, None)).to_string();
        assert_eq!(
            shown,
            "VERDICT  FILE      INTENT   BY\n\
             INTACT   src/a.ts  INT-001\n\
             CHANGED  src/b.ts  INT-001  99cc7da by \u{201c}Ada\u{201d}, INT-002\n\
             MISSING  src/c.ts  INT-001  unknown\n"
        );
        assert!(table(&[], None).starts_with("The ledger has no content"));
        let wrong = files.map(|file| is_wrong(file.report.verdict));
        assert_eq!(wrong, [false, true, true]);
    }
}
