//! `coord why`: the intents that made a file or a line, in order, with hashes.
//!
//! - `history`: the recorded changes of a file, also from before it was moved

mod history;

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::ledger::{lines, newest};
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{FAINT, STRONG, print_as, short, styled};
use coord_agent::workplace::Workplace;
use coord_agent::{contents, git};
use coord_intents::ledger::Record;
use coord_protocol::plain_text::quote_line;
use coord_protocol::{ClientError, IntentsView};
use serde::Serialize;

use self::history::{Step, history};
use super::verify::{Origin, read_origin};

const EXAMPLES: &str = "\
Examples:
  coord why src/db.ts        every recorded change, the oldest first
  coord why src/db.ts:12     the commit that made this line, and its intents

Exit status: 0, 1 an error, 2 wrong usage, 4 no answer.";

/// Options of `coord why`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WhyArgs {
    /// A file, from the current folder, and perhaps a line of it
    #[arg(value_name = "PATH[:LINE]")]
    pub location: String,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    pub agent: AgentArgs,
}

/// The origin of a file or a line.
#[derive(Debug, Serialize)]
struct Explanation {
    file_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// The current content.
    hash: String,
    /// The commit that made the line; `None` for a whole file, and for a line that is not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<Origin>,
    /// The intents, in the order of their first change.
    intents: Vec<NamedIntent>,
    /// Recorded changes, the oldest first.
    steps: Vec<Step>,
}

/// The id and the name of an intent, and, for people, its author.
#[derive(Debug, Serialize)]
struct NamedIntent(String, String, #[serde(skip)] String);

impl WhyArgs {
    /// Prints the intents.
    ///
    /// # Errors
    /// When git or the server cannot be read, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let work = &workplace.work;
        let (path, line) = path_and_line(&self.location, |path| work.folder.join(path).exists());
        let path = work.path(path).map_err(anyhow::Error::msg)?.as_str().to_owned();
        let root = work.working_copy.root();
        let hashes = contents::of_working_copy(&work.working_copy, std::slice::from_ref(&path))?;
        let hash = *hashes.get(&path).context("git did not hash the file")?;
        let commit = match line {
            None => None,
            Some(line) => match blame(root, &path, line).await? {
                None => None,
                Some(commit) => Some(read_origin(root, &commit).await?),
            },
        };
        let (client, repo_url) = (&workplace.connection.client, work.repo_url());
        let request = async {
            let base = newest(client, &repo_url).await?.base;
            let base = base.split_once(':').and_then(|(seq, _)| seq.parse().ok()).unwrap_or(0);
            let lines = lines(client, &repo_url, base).await?;
            let intents = client.intents(&repo_url, IntentsView::List).await?.intents;
            Ok::<_, ClientError>((lines, intents))
        };
        let (lines, views) = workplace.ask(request).await?;
        let records: Vec<Record> = lines
            .iter()
            .filter_map(|line| Record::read(line.as_bytes()).ok())
            .collect();
        let mut steps = history(&records, &path, hash);
        if let Some(commit) = &commit {
            // If the commit names intents, the line is from their changes.
            let is_of_commit = |step: &Step| commit.names(step.intent_id.as_ref());
            if steps.iter().any(is_of_commit) {
                steps.retain(is_of_commit);
            }
        }
        let commit_intents = commit.iter().flat_map(|commit| commit.intents.iter());
        let mut ids: Vec<&String> = steps
            .iter()
            .filter_map(|step| step.intent_id.as_ref())
            .chain(commit_intents)
            .collect();
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(*id));
        let name = |id: &&String| match views.iter().find(|view| view.id == **id) {
            Some(view) => NamedIntent(view.id.clone(), view.name.clone(), view.authorship()),
            None => NamedIntent((*id).clone(), String::new(), "no longer in the repository".to_owned()),
        };
        let explanation = Explanation {
            intents: ids.iter().map(name).collect(),
            hash: hash.to_string(),
            file_path: path,
            line,
            commit,
            steps,
        };
        print_as(self.json, &explanation, render)?;
        Ok(ExitStatus::Done.into())
    }
}

/// The path and the line of `PATH[:LINE]`. If the whole text is the path of a file, it has no line.
fn path_and_line(text: &str, exists: impl Fn(&str) -> bool) -> (&str, Option<u32>) {
    match text.rsplit_once(':') {
        Some((path, line)) if !path.is_empty() && !exists(text) => match line.parse() {
            Ok(line) if line > 0 => (path, Some(line)),
            _ => (text, None),
        },
        _ => (text, None),
    }
}

/// The commit that made `line` of `path`; `None` for a line that is not committed.
async fn blame(root: &Path, path: &str, line: u32) -> anyhow::Result<Option<String>> {
    let range = format!("{line},{line}");
    let arguments = ["blame", "--porcelain", "-L", &range, "--", path];
    let output = git::output(root, arguments).await?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let commit = output.split(' ').next().unwrap_or_default();
    Ok((!commit.bytes().all(|byte| byte == b'0')).then(|| commit.to_owned()))
}

fn render(explanation: &Explanation) -> String {
    let mut text = String::new();
    match (&explanation.commit, explanation.line) {
        (Some(commit), _) => text.push_str(&format!("The line is from {commit}\n")),
        (None, Some(_)) => text.push_str("The line is not committed\n"),
        (None, None) => {}
    }
    for NamedIntent(id, name, authorship) in &explanation.intents {
        text.push_str(&format!("{}, {authorship}: {}\n", styled(STRONG, id), quote_line(name)));
    }
    for step in &explanation.steps {
        let intent = step.intent_id.as_deref().unwrap_or("no intent");
        let hash = step.hash.strip_prefix("sha256:").map_or(&*step.hash, short);
        let now = if step.hash == explanation.hash {
            " (as it is now)"
        } else {
            ""
        };
        let line = format!(
            "  {} {} {hash}{now} {} {intent}\n",
            step.timestamp, step.file_path, step.agent_id
        );
        text.push_str(&styled(FAINT, &line));
    }
    if explanation.steps.is_empty() {
        text.push_str("No change is recorded\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_number_after_the_last_colon_of_no_file() {
        let of = |text| path_and_line(text, |path| path == "odd:7");
        assert_eq!(of("src/db.ts"), ("src/db.ts", None));
        assert_eq!(of("src/db.ts:12"), ("src/db.ts", Some(12)));
        assert_eq!(of("odd:7"), ("odd:7", None));
        assert_eq!(of("odd:7:3"), ("odd:7", Some(3)));
        assert_eq!(of("a:b"), ("a:b", None));
        assert_eq!(of("a:0"), ("a:0", None));
    }
}
