//! `coord intent edit`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;
use coord_agent::intents::{differences, intent, limits, raises_a_limit};
use coord_agent::options::AgentArgs;
use coord_agent::person::{PersonArgs, confirm};
use coord_agent::workplace::Workplace;
use coord_protocol::{CriterionEvidence, EditIntentRequest, IntentFields, IntentsView};

use super::fields::FieldArgs;
use super::from_file;

/// Options of `coord intent edit`.
#[derive(Clone, Debug, Args)]
pub(super) struct EditArgs {
    /// The intent
    #[arg(value_name = "ID")]
    id: String,
    /// A file with the edited intent, as YAML or JSON; - is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Its new fields; lists are replaced as a whole. Raising or removing a limit takes a person.
    #[command(flatten)]
    fields: FieldArgs,
    /// A criterion that is met now, verbatim; with --evidence, may be repeated
    #[arg(long, value_name = "CRITERION")]
    met: Vec<String>,
    /// Evidence for each --met, in order
    #[arg(long, value_name = "TEXT")]
    evidence: Vec<String>,
    /// A criterion that is no longer met; may be repeated
    #[arg(long, value_name = "CRITERION")]
    unmet: Vec<String>,
    /// Print the response as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    person: PersonArgs,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl EditArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        ensure!(
            self.met.len() == self.evidence.len(),
            "each --met has its --evidence: a command and its result, a test, a commit"
        );
        let mut workplace = Workplace::open(&self.agent)?;
        let repo_url = workplace.work.repo_url();
        let client = &workplace.connection.client;
        let request = client.intent(&repo_url, &self.id, IntentsView::List);
        let view = workplace.ask(request).await?.intent;
        let view = view.context("the server has not sent the intent")?;
        let before = intent(&view);
        let fields = match &self.from {
            None => IntentFields::default(),
            Some(file) => {
                let intents = from_file::read(file)?;
                let after = intents
                    .iter()
                    .find(|intent| intent.id == self.id || intent.id.is_empty())
                    .with_context(|| format!("the file does not have {}", self.id))?;
                differences(&before, after)
            }
        };
        let fields = self.fields.apply_to(fields, limits(&before));
        if fields.budget.is_some_and(|budget| raises_a_limit(&before, budget)) {
            let question = format!("Raise or remove a limit of the budget of {}?", self.id);
            workplace = confirm(&self.agent, self.person, &question)?;
        }
        let met = self
            .met
            .iter()
            .zip(&self.evidence)
            .map(|(criterion, evidence)| CriterionEvidence {
                criterion: criterion.clone(),
                evidence: evidence.clone(),
            });
        let request = EditIntentRequest {
            repo_url: Some(repo_url),
            fields,
            met: met.collect(),
            unmet: self.unmet.clone(),
            agent_id: None,
        };
        let request = workplace.connection.client.edit_intent(&self.id, &request);
        workplace.print_intent(request, self.json).await
    }
}
