//! `coord ledger verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::file_content::open_named;
use coord_agent::ledger::{BodyReader, send_lines};
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{BAD, GOOD, note, print_as, styled};
use coord_agent::workplace::{Failure, Workplace, work};
use coord_intents::ledger::{Expectations, Point, Report, Verdict, VerifyingKey, verify};
use tokio::sync::mpsc::channel;

use super::{anchors, seal};

const EXAMPLES: &str = "\
Examples:
  coord ledger verify                                       the server's ledger
  coord ledger verify .orchestration/agent_trace.jsonl      a file, against the server's seal
  coord ledger verify FILE --offline --checkpoint FILE --key KEY

The ledger has to go through every point that is kept elsewhere: the seal of
the server, checkpoints, and the trailers Coord-Ledger of the commits that are
checked out. A file that lags behind the server is TRUNCATED: coord sync
brings it up to date. Where no server is configured and none has run in this
clone, a file is compared with checkpoints and trailers alone.

Exit status: 0 whole, 1 an error, 2 wrong usage, 3 damaged, 4 no answer.";

/// Options of `coord ledger verify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VerifyArgs {
    /// The ledger; - is standard input [default: that of the server]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// A checkpoint that the ledger has to go through; may be repeated
    #[arg(long, value_name = "FILE")]
    checkpoint: Vec<PathBuf>,
    /// A public key, or its file; one of them must have signed each checkpoint, or without --checkpoint that of the server; may be repeated
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    /// Do not ask a server for its seal
    #[arg(long, requires = "file")]
    offline: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl VerifyArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let work = work(&self.agent)?;
        let repository = work.repo.to_string();
        let keys: Vec<VerifyingKey> = self
            .key
            .iter()
            .map(|key| anchors::read_key(key))
            .collect::<Result<_, _>>()?;
        let mut expected = Expectations::chain_of(&repository);
        expected.anchors = anchors::read_checkpoints(&self.checkpoint, &keys, &repository)?;
        expected
            .anchors
            .extend(anchors::read_commits(work.working_copy.root()).await?);
        // Without checkpoints, the keys have to match the signature of the server's checkpoint.
        let signers = if self.checkpoint.is_empty() { &keys[..] } else { &[] };
        let report = match &self.file {
            None => {
                let workplace = Workplace::open(&self.agent)?;
                let request = verify_server_ledger(&workplace, signers, expected);
                workplace.ask(request).await?
            }
            Some(file) => {
                if !self.offline {
                    match seal::expect_known_server(&self.agent, &work, signers, &mut expected).await {
                        Ok(()) => {}
                        Err(error) if !signers.is_empty() => return Err(error),
                        Err(error) => note(&format!(
                            "without the seal of a server, with checkpoints and the trailers of commits alone: {error:#}"
                        )),
                    }
                }
                let ledger = open_named(file)?;
                tokio::task::spawn_blocking(move || verify(ledger, &expected))
                    .await?
                    .context("the ledger cannot be read")?
            }
        };
        print_as(self.json, &report, render)?;
        Ok(ExitStatus::refused_if(report.damage.is_some()).into())
    }
}

/// Verifies the server's ledger while it arrives.
async fn verify_server_ledger(
    workplace: &Workplace,
    signers: &[VerifyingKey],
    mut expected: Expectations,
) -> Result<Report, Failure> {
    let (client, repo_url) = (&workplace.connection.client, workplace.work.repo_url());
    let location = seal::expect_server(workplace, signers, &mut expected).await?;
    let (sender, receiver) = channel(2);
    let report = tokio::task::spawn_blocking(move || verify(BodyReader::new(receiver), &expected));
    send_lines(client, &repo_url, location.base.seq, sender).await?;
    let report = report.await.map_err(anyhow::Error::from)?;
    Ok(report.context("the ledger cannot be read")?)
}

fn render(report: &Report) -> String {
    let mut text = match &report.damage {
        Some(damage) => {
            let mut text = format!("{}: {damage}\n", styled(BAD, "DAMAGED"));
            if damage.verdict == Verdict::Truncated {
                text.push_str("A file that is only out of date lacks the newest lines, too: run coord sync\n");
            }
            text.push_str(&format!("Verified up to {}\n", describe_point(report.end)));
            text
        }
        None => format!(
            "{}: {} entries ({} ... {})\n",
            styled(GOOD, "Ledger OK"),
            report.lines,
            describe_point(report.start),
            describe_point(report.end)
        ),
    };
    for note in &report.notes {
        text.push_str(&format!("{note}\n"));
    }
    text.push_str(&match (report.anchors_met, report.anchors_before) {
        (0, 0) => "No external checkpoint was compared\n".to_owned(),
        (met, 0) => format!("External checkpoints that it matches: {met}\n"),
        (met, before) => format!("External checkpoints that it matches: {met}; older than its first entry: {before}\n"),
    });
    text
}

/// A point with the beginning of its hash.
fn describe_point(point: Point) -> String {
    let text = point.to_string();
    let end = text.find(':').map_or(text.len(), |colon| colon + 13);
    text[..end.min(text.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_agent::ledger::LedgerLocation;

    const VECTOR: &str = include_str!("../../../intents/tests/ledger/vector.jsonl");
    const REPOSITORY: &str = "github.com/acme/shop";

    fn report_text(ledger: &str, expected: &Expectations) -> String {
        let report = verify(ledger.as_bytes(), expected).unwrap();
        anstream::adapter::strip_str(&render(&report)).to_string()
    }

    #[test]
    fn a_report_names_the_first_bad_line_and_what_it_was_compared_with() {
        let mut expected = Expectations::chain_of(REPOSITORY);
        assert_eq!(
            report_text(VECTOR, &expected),
            "Ledger OK: 3 entries (0:5a116337e572 ... 3:43768ac6081e)\nNo external checkpoint was compared\n"
        );
        seal::expect_location(
            &mut expected,
            LedgerLocation {
                base: Point::start(REPOSITORY),
                sealed: verify(VECTOR.as_bytes(), &Expectations::chain_of(REPOSITORY))
                    .unwrap()
                    .end,
            },
        );
        assert!(report_text(VECTOR, &expected).ends_with("that it matches: 1\n"));
        let edited = report_text(&VECTOR.replace("Wrote src/db.ts", "Wrote src/dx.ts"), &expected);
        assert!(edited.starts_with("DAMAGED: EDITED at line 2 (seq 2)"), "{edited}");
        let lines: Vec<&str> = VECTOR.lines().collect();
        let cut = report_text(&format!("{}\n", lines[..2].join("\n")), &expected);
        assert!(
            cut.starts_with("DAMAGED: TRUNCATED at line 3") && cut.contains("coord sync"),
            "{cut}"
        );
    }
}
