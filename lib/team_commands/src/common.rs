//! The selected team, and the printing of a response.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use coord_agent::options::AgentArgs;
use coord_agent::outcome::show;
use coord_agent::workplace::Workplace;
use coord_protocol::ClientError;
use coord_protocol::team_tools::TeamCallResponse;
use coord_protocol::teams::{TeamActor, TeamCaller, TeamsResponse};
use coord_settings::{env_vars, process_environment, value_of};

/// The variable by which opencode-teams names a team.
const OPENCODE_TEAM_NAME: &str = "OPENCODE_TEAM_NAME";

/// Options of all commands about teams.
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
    pub fn open(&self) -> anyhow::Result<Workplace> {
        Workplace::open(&self.agent)
    }

    /// Opens the workplace as the person, who acts for all handles of the login.
    pub fn open_as_person(&self) -> anyhow::Result<Workplace> {
        Workplace::for_person(&self.agent)
    }

    /// The team that the options or the environment name.
    pub fn configured_team(&self) -> Option<String> {
        let team = self.team.clone().filter(|team| !team.trim().is_empty());
        team.or_else(|| value_of(&process_environment, OPENCODE_TEAM_NAME))
    }

    /// The caller, with the configured team.
    pub fn caller(&self, workplace: &Workplace) -> TeamCaller {
        TeamCaller {
            repo_url: Some(workplace.work.repo_url()),
            team: self.configured_team(),
            agent_id: agent_id(workplace),
        }
    }

    /// The caller of a read: with the configured team, or else the only one of the agent or of the repository.
    pub async fn reading_caller(&self, workplace: &Workplace) -> Result<TeamCaller, ClientError> {
        let mut caller = self.caller(workplace);
        if caller.team.is_none() {
            let teams = workplace.connection.client.teams(&workplace.work.repo_url()).await?;
            caller.team = only_team(&teams);
        }
        Ok(caller)
    }

    /// The team `name`, or else the configured one, or else the only one of the agent or of the repository.
    pub async fn select_team(&self, workplace: &Workplace, name: Option<String>) -> anyhow::Result<String> {
        if let Some(team) = name.or_else(|| self.configured_team()) {
            return Ok(team);
        }
        let teams = workplace.connection.client.teams(&workplace.work.repo_url()).await?;
        if let Some(name) = only_team(&teams) {
            return Ok(name);
        }
        let names: Vec<&str> = teams.teams.iter().map(|team| team.name.as_str()).collect();
        match names.as_slice() {
            [] => bail!("there is no team; create one with coord team create"),
            _ => bail!(
                "which team? Name one of {} with --team or {}",
                names.join(", "),
                env_vars::COORD_TEAM
            ),
        }
    }

    /// Prints the response, and returns the exit status.
    pub fn print(
        &self,
        workplace: &Workplace,
        result: Result<impl Into<TeamCallResponse>, ClientError>,
    ) -> anyhow::Result<ExitCode> {
        let outcome = workplace.team_outcome(result.map(Into::into))?;
        let status = show(&outcome, self.json, "")?;
        workplace.note_answer_shown(&outcome);
        Ok(status)
    }
}

/// The only team that the agent is in. For an agent in no team, the only team of the repository.
fn only_team(teams: &TeamsResponse) -> Option<String> {
    match (teams.your_teams.as_slice(), teams.teams.as_slice()) {
        ([own], _) => Some(own.team.clone()),
        ([], [only]) => Some(only.name.clone()),
        _ => None,
    }
}

/// The caller of a request whose path names the team.
pub(super) fn team_actor(workplace: &Workplace) -> TeamActor {
    TeamActor {
        repo_url: Some(workplace.work.repo_url()),
        agent_id: agent_id(workplace),
    }
}

pub(super) fn agent_id(workplace: &Workplace) -> Option<String> {
    workplace.work.agent_id.as_ref().map(|agent| agent.as_str().to_owned())
}
