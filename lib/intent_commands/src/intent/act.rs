//! Acts on an intent. Some take a person: they ask in the terminal, and the request names no agent.

use std::process::ExitCode;

use anyhow::ensure;
use clap::Args;
use coord_agent::files::named_files;
use coord_agent::options::AgentArgs;
use coord_agent::person::{PersonArgs, confirm};
use coord_agent::workplace::Workplace;
use coord_protocol::{
    ActCaller, AllowOverlapRequest, CompleteIntentRequest, IntentAct, SelectIntentRequest, StopIntentRequest,
    TakeOverRequest, UnblockIntentRequest,
};

/// Options of all acts. `coord intent select` has no others.
#[derive(Clone, Debug, Args)]
pub(super) struct Common {
    /// The intent
    #[arg(value_name = "ID")]
    id: String,
    /// Print the response as JSON
    #[arg(long)]
    json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl Common {
    /// Runs `coord intent select`.
    pub(super) async fn select(self) -> anyhow::Result<ExitCode> {
        let workplace = Workplace::open(&self.agent)?;
        let request = SelectIntentRequest {
            caller: caller(&workplace),
        };
        self.send(&workplace, IntentAct::Select(request)).await
    }

    async fn send(&self, workplace: &Workplace, act: IntentAct) -> anyhow::Result<ExitCode> {
        let request = workplace.connection.client.act_on_intent(&self.id, &act);
        workplace.print_intent(request, self.json).await
    }
}

/// The caller of an act. A header of the request names the agent, if there is one.
fn caller(workplace: &Workplace) -> ActCaller {
    ActCaller {
        repo_url: Some(workplace.work.repo_url()),
        branch: Some(workplace.work.branch.to_string()),
        ..ActCaller::default()
    }
}

/// Options of `coord intent complete`.
#[derive(Clone, Debug, Args)]
pub(super) struct CompleteArgs {
    #[command(flatten)]
    common: Common,
    /// Even if criteria are not met; takes a person
    #[arg(long, requires = "reason")]
    force: bool,
    /// Why
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    person: PersonArgs,
}

impl CompleteArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = match self.force {
            true => {
                let question = format!("Complete {}, even if criteria are not met?", self.common.id);
                confirm(&self.common.agent, self.person, &question)?
            }
            false => Workplace::open(&self.common.agent)?,
        };
        let request = CompleteIntentRequest {
            caller: caller(&workplace),
            force: self.force.then_some(true),
            reason: self.reason.clone(),
        };
        self.common.send(&workplace, IntentAct::Complete(request)).await
    }
}

/// Options of `coord intent abandon` and `coord intent block`.
#[derive(Clone, Debug, Args)]
pub(super) struct ReasonArgs {
    #[command(flatten)]
    common: Common,
    /// Why
    #[arg(long, short, value_name = "TEXT")]
    reason: String,
    /// Act as a person, which an intent that is BLOCKED requires
    #[arg(long)]
    as_person: bool,
    #[command(flatten)]
    person: PersonArgs,
}

impl ReasonArgs {
    /// Sends the request that `act` builds. `verb` names the act in the question to a person.
    pub(super) async fn run(self, verb: &str, act: fn(StopIntentRequest) -> IntentAct) -> anyhow::Result<ExitCode> {
        let workplace = match self.as_person {
            true => confirm(&self.common.agent, self.person, &format!("{verb} {}?", self.common.id))?,
            false => Workplace::open(&self.common.agent)?,
        };
        let request = StopIntentRequest {
            caller: caller(&workplace),
            reason: Some(self.reason.clone()),
        };
        self.common.send(&workplace, act(request)).await
    }
}

/// Options of `coord intent unblock`.
#[derive(Clone, Debug, Args)]
pub(super) struct UnblockArgs {
    #[command(flatten)]
    common: Common,
    /// Why
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    person: PersonArgs,
}

impl UnblockArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let question = format!("Unblock {}?", self.common.id);
        let workplace = confirm(&self.common.agent, self.person, &question)?;
        let request = UnblockIntentRequest {
            caller: caller(&workplace),
            reason: self.reason.clone(),
        };
        self.common.send(&workplace, IntentAct::Unblock(request)).await
    }
}

/// Options of `coord intent allow`.
#[derive(Clone, Debug, Args)]
pub(super) struct AllowArgs {
    #[command(flatten)]
    common: Common,
    /// The intent with which it may overlap
    #[arg(value_name = "OTHER")]
    other: String,
    #[command(flatten)]
    person: PersonArgs,
}

impl AllowArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        ensure!(self.other != self.common.id, "name two intents");
        let question = format!("Let {} and {} change the same files?", self.common.id, self.other);
        let workplace = confirm(&self.common.agent, self.person, &question)?;
        let request = AllowOverlapRequest {
            caller: caller(&workplace),
            other: Some(self.other.clone()),
        };
        self.common.send(&workplace, IntentAct::Allow(request)).await
    }
}

/// Options of `coord intent take-over`.
#[derive(Clone, Debug, Args)]
pub(super) struct TakeOverArgs {
    #[command(flatten)]
    common: Common,
    /// Files, from the current folder; a pattern such as 'src/**' stands for the tracked files that it matches
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    person: PersonArgs,
}

impl TakeOverArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let question = format!("Make {} the owner of {}?", self.common.id, self.paths.join(", "));
        let workplace = confirm(&self.common.agent, self.person, &question)?;
        let request = TakeOverRequest {
            caller: caller(&workplace),
            file_paths: Some(named_files(&workplace.work, &self.paths).await?),
        };
        self.common.send(&workplace, IntentAct::TakeOver(request)).await
    }
}
