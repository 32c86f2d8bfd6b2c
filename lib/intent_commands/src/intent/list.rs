//! `coord intent list` and `coord intent show`.

use std::process::ExitCode;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::options::AgentArgs;
use coord_agent::terminal::intents::{intent_details, table};
use coord_agent::terminal::output::{print, print_as, print_json, width};
use coord_agent::terminal::times::now;
use coord_agent::workplace::Workplace;
use coord_protocol::IntentsView;

/// Options of `coord intent list`.
#[derive(Clone, Debug, Args)]
pub(super) struct ListArgs {
    /// Include ended intents
    #[arg(long)]
    all: bool,
    /// Print the response as JSON, with ended intents
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl ListArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let repo_url = workplace.work.repo_url();
        let request = workplace.connection.client.intents(&repo_url, IntentsView::List);
        let mut response = workplace.ask(request).await?;
        if self.json {
            print_json(&response)?;
            return Ok(ExitStatus::Done.into());
        }
        let count = response.intents.len();
        response.intents.retain(|view| self.all || !view.status.is_ended());
        let ended_count = count - response.intents.len();
        let mut text = match response.intents.is_empty() {
            true => "There is no intent to work on; coord intent new creates one.\n".to_owned(),
            false => table(&response.intents, response.selected.as_deref(), width()),
        };
        if ended_count > 0 {
            text.push_str(&format!("and {ended_count} that have ended; --all shows them\n"));
        }
        print(&text)?;
        Ok(ExitStatus::Done.into())
    }
}

/// Options of `coord intent show`.
#[derive(Clone, Debug, Args)]
pub(super) struct ShowArgs {
    /// The intent
    #[arg(value_name = "ID")]
    id: String,
    /// Show the context that an agent gets before it works on the intent
    #[arg(long)]
    context: bool,
    /// Print the response as JSON
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl ShowArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let view = if self.context {
            IntentsView::Context
        } else {
            IntentsView::List
        };
        let repo_url = workplace.work.repo_url();
        let request = workplace.connection.client.intent(&repo_url, &self.id, view);
        let response = workplace.ask(request).await?;
        print_as(self.json, &response, |response| {
            match (&response.context, &response.intent) {
                (Some(context), _) => format!("{}\n", context.trim_end()),
                (None, Some(view)) => intent_details(view, now()),
                (None, None) => format!("{}\n", response.orchestration.reason),
            }
        })?;
        Ok(if response.success {
            ExitStatus::Done
        } else {
            ExitStatus::Error
        }
        .into())
    }
}
