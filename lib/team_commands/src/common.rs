//! The selected team, and the handling of an answer.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use coord_agent::options::AgentArgs;
use coord_agent::outcome::show;
use coord_agent::workplace::Workplace;
use coord_protocol::ClientError;
use coord_protocol::team_tools::TeamAnswer;
use coord_protocol::teams::{TeamActor, TeamCaller, TeamsResponse};
use coord_settings::{env_vars, process_environment, value_of};

/// The variable by which opencode-teams names a team.
const OPENCODE_TEAM_NAME: &str = "OPENCODE_TEAM_NAME";

/// Common to all commands about teams.
#[derive(Clone, Debug, Args)]
pub(super) struct Common {
    /// The team [default: the only one that you are in]
    #[arg(long, value_name = "TEAM", env = env_vars::COORD_TEAM, hide_env_values = true)]
    team: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
    /// Server, token, branch and agent.
    #[command(flatten)]
    agent: AgentArgs,
}

impl Common {
    /// The working copy, and the caller.
    pub fn open(&self) -> anyhow::Result<Workplace> {
        Workplace::open(&self.agent)
    }

    /// Where the command runs, as the person, who speaks for all handles of the login.
    pub fn person(&self) -> anyhow::Result<Workplace> {
        Workplace::of_person(&self.agent)
    }

    /// The team that is named, where one is.
    pub fn named(&self) -> Option<String> {
        let named = self.team.clone().filter(|team| !team.trim().is_empty());
        named.or_else(|| value_of(&process_environment, OPENCODE_TEAM_NAME))
    }

    /// The caller in the team.
    pub fn caller(&self, workplace: &Workplace) -> TeamCaller {
        TeamCaller {
            repo_url: Some(workplace.work.repo_url()),
            team: self.named(),
            agent_id: agent_of(workplace),
        }
    }

    /// The reading caller: in the team that is named, or else in the only one of the agent, or of the repository.
    pub async fn reader(&self, workplace: &Workplace) -> Result<TeamCaller, ClientError> {
        let mut caller = self.caller(workplace);
        if caller.team.is_none() {
            let listed = workplace.connection.client.teams(&workplace.work.repo_url()).await?;
            caller.team = only_one(&listed);
        }
        Ok(caller)
    }

    /// The team: the one that is named, or else the only one of the agent, or of the repository.
    pub async fn team(&self, workplace: &Workplace, named: Option<&String>) -> anyhow::Result<String> {
        if let Some(team) = named.cloned().or_else(|| self.named()) {
            return Ok(team);
        }
        let listed = workplace.connection.client.teams(&workplace.work.repo_url()).await?;
        if let Some(name) = only_one(&listed) {
            return Ok(name);
        }
        let names: Vec<&str> = listed.teams.iter().map(|team| team.name.as_str()).collect();
        match names.as_slice() {
            [] => bail!("there is no team; coord team create makes one"),
            _ => bail!(
                "which team? Name one of {} with --team or {}",
                names.join(", "),
                env_vars::COORD_TEAM
            ),
        }
    }

    /// Prints the answer, and returns the exit status.
    pub fn show(
        &self,
        workplace: &Workplace,
        answered: Result<impl Into<TeamAnswer>, ClientError>,
    ) -> anyhow::Result<ExitCode> {
        let outcome = workplace.of_team(answered.map(Into::into))?;
        let status = show(&outcome, self.json, "")?;
        workplace.note_answer_shown(&outcome);
        Ok(status)
    }
}

/// The only team that the agent is in; where it is in none, the only one that there is.
fn only_one(listed: &TeamsResponse) -> Option<String> {
    match (listed.your_teams.as_slice(), listed.teams.as_slice()) {
        ([own], _) => Some(own.team.clone()),
        ([], [only]) => Some(only.name.clone()),
        _ => None,
    }
}

/// The caller, for a team that the path names.
pub(super) fn actor(workplace: &Workplace) -> TeamActor {
    TeamActor {
        repo_url: Some(workplace.work.repo_url()),
        agent_id: agent_of(workplace),
    }
}

/// The calling agent, where there is one.
pub(super) fn agent_of(workplace: &Workplace) -> Option<String> {
    workplace.work.agent_id.as_ref().map(|agent| agent.as_str().to_owned())
}
