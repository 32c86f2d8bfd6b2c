//! `coord intent new`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use coord_agent::intents::differences;
use coord_agent::options::AgentArgs;
use coord_agent::workplace::Workplace;
use coord_intents::intent::Intent;
use coord_protocol::{BudgetLimits, NewIntentRequest};

use super::fields::FieldArgs;
use super::from_file;

/// Options of `coord intent new`.
#[derive(Clone, Debug, Args)]
pub(super) struct NewArgs {
    /// Its id: 1 to 64 letters, digits, '.', '_' and '-' [default: a UUID]
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// A file with the intent, or with a list of them, as YAML or JSON; - is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Its members.
    #[command(flatten)]
    fields: FieldArgs,
    /// Print the response as JSON
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl NewArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let intents = match &self.from {
            None => vec![Intent::default()],
            Some(file) => from_file::read(file)?,
        };
        let has_id = |intent: &&Intent| {
            self.id
                .as_ref()
                .is_none_or(|id| *id == intent.id || intent.id.is_empty())
        };
        let matches: Vec<&Intent> = intents.iter().filter(has_id).collect();
        let [intent] = matches[..] else {
            bail!("the file has {} intents: name one, by its id", intents.len());
        };
        let workplace = Workplace::open(&self.agent)?;
        let fields = differences(&Intent::default(), intent);
        let id = self
            .id
            .clone()
            .or_else(|| Some(intent.id.clone()).filter(|id| !id.is_empty()));
        let request = NewIntentRequest {
            repo_url: Some(workplace.work.repo_url()),
            id,
            fields: self.fields.apply_to(fields, BudgetLimits::default()),
            agent_id: None,
        };
        let request = workplace.connection.client.new_intent(&request);
        workplace.print_intent(request, self.json).await
    }
}
