//! `coord ledger log`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::ledger::{PAGE, cursor};
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{note, print, print_while_read};
use coord_agent::terminal::times::now;
use coord_agent::workplace::Workplace;
use coord_protocol::LedgerFilter;
use coord_protocol::plain_text::escape;

use super::line::sentence;

const EXAMPLES: &str = "\
Examples:
  coord ledger log                            the newest 20 lines, the newest at the end
  coord ledger log --follow                   and new ones as they arrive; Ctrl-C ends it
  coord ledger log --intent INT-001 --json    the lines of an intent, as they are

Exit status: 0, 1 an error, 2 wrong usage, 4 no answer.";

/// Time between two requests for new lines.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The longest pause while the server does not respond.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Options of `coord ledger log`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LogArgs {
    /// Keep printing new records
    #[arg(short, long)]
    follow: bool,
    /// How many lines of the past, 1 to 500
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
    /// Only lines about this intent
    #[arg(long, value_name = "ID")]
    intent: Option<String>,
    /// Only lines about this file, from the current folder
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Print the lines as they are
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl LogArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let mut workplace = Workplace::open(&self.agent)?;
        let file = self
            .file
            .as_deref()
            .map(|file| workplace.work.path(file).map_err(anyhow::Error::msg))
            .transpose()?;
        let mut filter = LedgerFilter {
            last: Some(self.limit.into()),
            intent: self.intent.clone(),
            file: file.map(|file| file.as_str().to_owned()),
            ..LedgerFilter::default()
        };
        let repo_url = workplace.work.repo_url();
        let request = workplace.connection.client.ledger(&repo_url, &filter);
        let page = workplace.ask(request).await?;
        if page.lines.is_empty() && !self.json && !self.follow {
            print("Nothing is recorded.\n")?;
        }
        if self.print(&page.lines)? && self.follow {
            filter.last = None;
            filter.limit = Some(PAGE);
            filter.after = cursor(&page);
            self.follow(&mut workplace, filter).await?;
        }
        Ok(ExitStatus::Done.into())
    }

    /// Prints new lines, until the output is closed.
    async fn follow(&self, workplace: &mut Workplace, mut filter: LedgerFilter) -> anyhow::Result<()> {
        let repo_url = workplace.work.repo_url();
        let mut pause = POLL_INTERVAL;
        loop {
            tokio::time::sleep(pause).await;
            let problem = match workplace.follow_server() {
                Err(sentence) => sentence,
                Ok(()) => match workplace.connection.client.ledger(&repo_url, &filter).await {
                    Ok(page) => {
                        if !self.print(&page.lines)? {
                            return Ok(());
                        }
                        filter.after = cursor(&page).max(filter.after);
                        pause = POLL_INTERVAL;
                        continue;
                    }
                    Err(error) if error.may_pass() => workplace.describe_error(&error),
                    Err(error) => return Err(error.into()),
                },
            };
            if pause == POLL_INTERVAL {
                note(&format!("{problem}; trying again"));
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Prints `lines`. Returns false once the output is closed.
    fn print(&self, lines: &[String]) -> anyhow::Result<bool> {
        let now = now();
        let line = |line: &String| match self.json {
            true => format!("{}\n", escape(line)),
            false => format!("{}\n", sentence(line, now)),
        };
        print_while_read(&lines.iter().map(line).collect::<String>())
    }
}
