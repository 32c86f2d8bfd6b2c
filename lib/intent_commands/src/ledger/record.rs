//! `coord ledger record`.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use coord_agent::contents;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::print_as;
use coord_agent::workplace::Workplace;
use coord_protocol::{AgentSession, RecordEntry, RecordKind, RecordRequest, Recorded};
use serde_json::{Value as Json, json};

const EXAMPLES: &str = "\
Examples:
  coord ledger record --file src/db.ts --tool Write --summary 'Wrote src/db.ts'
  coord ledger record < entries.jsonl     entries of POST /api/ledger, one a line

A mutation has the hash of its file as git would commit it. An entry without
a trace_id gets one; one that is sent twice is recorded once.

Exit status: 0 recorded, 1 an error, 2 wrong usage, 3 recorded as a failure,
because there is no lock on the file, 4 no answer.";

/// The maximum size of standard input.
const MAX_BYTES: u64 = 8 << 20;

/// The maximum number of entries in a request.
const BATCH_SIZE: usize = 32;

/// Options of `coord ledger record`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RecordArgs {
    /// Kind of event; without this and --file, entries are read from standard input
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// The file that was changed, or could not be, from the current folder
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// The tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// One line about the outcome
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Why it was done
    #[arg(long, value_name = "TEXT")]
    reasoning: Option<String>,
    /// The intent [default: the one that is selected]
    #[arg(long, value_name = "ID")]
    intent: Option<String>,
    /// The session of the agent
    #[arg(long, value_name = "ID", default_value = "")]
    session: String,
    /// The model of the agent
    #[arg(long, value_name = "MODEL", default_value = "")]
    contributor: String,
    /// Print the response as JSON
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A file was changed
    Mutation,
    /// A write was refused, because the file had other content
    Stale,
    /// The agent was given its context
    Context,
    /// The agent was given a prompt
    Prompt,
    /// The session of the agent has ended
    End,
    /// A tool was used, and changed no file
    Call,
}

impl RecordArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let entries = match self.kind.or(self.file.is_some().then_some(Kind::Mutation)) {
            Some(kind) => vec![self.entry(&workplace, kind)?],
            None => {
                let mut text = String::new();
                std::io::stdin()
                    .take(MAX_BYTES + 1)
                    .read_to_string(&mut text)
                    .context("standard input")?;
                ensure!(text.len() as u64 <= MAX_BYTES, "standard input is larger than 8 MiB");
                parse_entries(&text)?
            }
        };
        let mut is_failure = false;
        for entries in entries.chunks(BATCH_SIZE) {
            let request = RecordRequest {
                repo_url: Some(workplace.work.repo_url()),
                branch: Some(workplace.work.branch.to_string()),
                intent_id: self.intent.clone(),
                session: AgentSession {
                    session_id: self.session.clone(),
                    contributor: self.contributor.clone(),
                },
                entries: Some(entries.to_vec()),
                agent_id: None,
            };
            let response = workplace.ask(workplace.connection.client.record(&request)).await?;
            is_failure |= response.recorded.contains(&Recorded::Failure);
            print_as(self.json, &response, |response| {
                render(entries, &response.recorded, &response.warnings)
            })?;
        }
        Ok(ExitStatus::refused_if(is_failure).into())
    }

    fn entry(&self, workplace: &Workplace, kind: Kind) -> anyhow::Result<RecordEntry> {
        let path = self
            .file
            .as_deref()
            .map(|file| workplace.work.path(file).map_err(anyhow::Error::msg))
            .transpose()?;
        let path = path.map(|path| path.as_str().to_owned());
        let hash = match (kind, &path) {
            (Kind::Mutation, None) => bail!("name the file that was changed, with --file"),
            (Kind::Mutation, Some(path)) => {
                let hashes = contents::of_working_copy(&workplace.work.working_copy, std::slice::from_ref(path))?;
                hashes.get(path).map(ToString::to_string)
            }
            _ => None,
        };
        let kind = match kind {
            Kind::Mutation => RecordKind::Mutation,
            Kind::Stale => RecordKind::Stale,
            Kind::Context => RecordKind::Context,
            Kind::Prompt => RecordKind::Prompt,
            Kind::End => RecordKind::End,
            Kind::Call => RecordKind::Call,
        };
        Ok(RecordEntry {
            tool_name: self.tool.clone(),
            reasoning: self.reasoning.clone(),
            file_path: path,
            hash,
            output_summary: self.summary.clone().unwrap_or_default(),
            error_message: self.error.clone(),
            ..RecordEntry::new(new_trace_id(), kind)
        })
    }
}

fn new_trace_id() -> String {
    format!("{:032x}", fastrand::u128(..))
}

/// Parses the entries of `text`, one on each line. Adds an id to those that have none.
fn parse_entries(text: &str) -> anyhow::Result<Vec<RecordEntry>> {
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let context = || format!("line {} of standard input is not an entry", index + 1);
        let mut json: Json = serde_json::from_str(line).with_context(context)?;
        if let Some(members) = json.as_object_mut() {
            members.entry("trace_id").or_insert_with(|| json!(new_trace_id()));
        }
        entries.push(serde_json::from_value(json).with_context(context)?);
    }
    ensure!(
        !entries.is_empty(),
        "standard input has no entries; write some to it, or name a file with --file"
    );
    Ok(entries)
}

fn render(entries: &[RecordEntry], recorded: &[Recorded], warnings: &[String]) -> String {
    let line = |(entry, recorded): (&RecordEntry, &Recorded)| {
        let outcome = match recorded {
            Recorded::Success => "SUCCESS",
            Recorded::Failure => "FAILURE",
            Recorded::Denied => "DENIED",
            Recorded::Repeated => "REPEATED",
        };
        let name = entry
            .file_path
            .as_ref()
            .or(entry.tool_name.as_ref())
            .unwrap_or(&entry.trace_id);
        format!("{outcome} {name}\n")
    };
    let lines = entries.iter().zip(recorded).map(line);
    lines
        .chain(warnings.iter().map(|warning| format!("{warning}\n")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_without_a_trace_id_get_a_new_one() {
        let text = "{\"kind\":\"call\"}\n\n{\"kind\":\"end\",\"trace_id\":\"mine\"}\n{\"kind\":\"call\"}\n";
        let entries = parse_entries(text).unwrap();
        assert_eq!(entries.len(), 3);
        assert_eq!(
            (entries[1].kind, entries[1].trace_id.as_str()),
            (RecordKind::End, "mine")
        );
        assert_eq!(entries[0].trace_id.len(), 32);
        assert_ne!(entries[0].trace_id, entries[2].trace_id);
    }

    #[test]
    fn the_error_names_a_line_that_is_not_an_entry() {
        for wrong in [
            "{\"kind\":\"call\"}\nno JSON",
            "{\"kind\":\"call\"}\n[]",
            "{\"kind\":\"call\"}\n{\"kind\":\"x\"}",
        ] {
            let error = format!("{:#}", parse_entries(wrong).unwrap_err());
            assert!(
                error.starts_with("line 2 of standard input is not an entry: "),
                "{error}"
            );
        }
        assert!(parse_entries("\n").is_err());
    }
}
