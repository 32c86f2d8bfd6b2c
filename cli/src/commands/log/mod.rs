//! `coord log`: what has happened in a repository, as sentences.
//!
//! - `sentence`: an event as a sentence
//! - `follow`: new events

mod follow;
mod sentence;

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::{print, print_while_read, width};
use coord_agent::terminal::times::now;
use coord_agent::workplace::Workplace;
use coord_hooks::guard::bypass;
use coord_protocol::{ActivityFilter, ActivityResponse, Event, PublishedEvent};

const EXAMPLES: &str = "\
Examples:
  coord log                      the last 20 events, the newest at the end
  coord log --follow             and new ones as they arrive; Ctrl-C ends it
  coord log --renewals           with each renewal of a lock
  coord log --limit 100 --json   for a program: an event a line

Exit status: 0, 1 an error, 2 wrong usage, 4 no answer.";

/// The most events that a response has. This many are requested where renewals are filtered out of the response.
const MAX_EVENTS: usize = 100;

/// Options of `coord log`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LogArgs {
    /// Keep printing new events as they arrive
    #[arg(short, long)]
    pub follow: bool,
    /// The number of past events, 1 to 100
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub limit: u8,
    /// Show renewals of locks, too; --json always has them
    #[arg(long)]
    pub renewals: bool,
    /// Print each event as JSON, one a line
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent. Without a branch, the events of all.
    #[command(flatten)]
    pub agent: AgentArgs,
}

impl LogArgs {
    /// Prints the events.
    ///
    /// # Errors
    /// When they cannot be fetched or printed, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let mut workplace = Workplace::open(&self.agent)?;
        let limit = match self.hides_renewals() {
            true => MAX_EVENTS,
            false => self.limit.into(),
        };
        let filter = ActivityFilter {
            branch: self.agent.branch.clone().filter(|branch| !branch.trim().is_empty()),
            after: None,
            limit: Some(limit),
        };
        let repo_url = workplace.work.repo_url();
        let request = workplace.connection.client.activity(&repo_url, &filter);
        let ActivityResponse { mut events, cursor, .. } = workplace.ask(request).await?;
        events.retain(|event| self.is_shown(event));
        events.truncate(self.limit.into());
        events.reverse();
        if let Some((count, newest)) = bypass::noted(&workplace.work.working_copy).filter(|_| !self.json) {
            print(&format!(
                "bypasses of the guard of this clone: {count}, the last one {newest}\n"
            ))?;
        }
        if events.is_empty() && !self.json && !self.follow {
            print("Nothing has happened yet.\n")?;
        }
        if self.print(&events)? && self.follow {
            let filter = ActivityFilter {
                after: Some(cursor),
                limit: None,
                ..filter
            };
            follow::follow(|events| self.print(events), &mut workplace, filter).await?;
        }
        Ok(ExitStatus::Done.into())
    }

    fn hides_renewals(&self) -> bool {
        !self.renewals && !self.json
    }

    fn is_shown(&self, event: &PublishedEvent) -> bool {
        !(self.hides_renewals() && matches!(event.event, Event::LockRenewed(_)))
    }

    /// Prints `events`, and returns whether standard output still has a reader.
    fn print(&self, events: &[PublishedEvent]) -> anyhow::Result<bool> {
        let (now, width) = (now(), width());
        let mut text = String::new();
        for event in events.iter().filter(|event| self.is_shown(event)) {
            let line = match self.json {
                true => serde_json::to_string(event).context("the event is not JSON")?,
                false => sentence::event_lines(&event.event, now, width),
            };
            text.push_str(&line);
            text.push('\n');
        }
        print_while_read(&text)
    }
}
