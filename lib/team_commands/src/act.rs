//! Acts on a team.

use std::process::ExitCode;

use clap::Args;
use coord_protocol::teams::{EditTeamRequest, JoinTeamRequest, LeaveTeamRequest, MemberFields, NewTeamRequest};

use super::common::{Common, agent_id, team_actor};

/// The default handle of a person who makes a team.
const LEADER: &str = "leader";

/// Options of `coord team create`.
#[derive(Clone, Debug, Args)]
pub(super) struct CreateArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Your handle in it [default: the agent, or else leader]
    #[arg(long, value_name = "HANDLE")]
    handle: Option<String>,
    /// Its purpose
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,
    /// Dependencies must be met before a task is claimed
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    common: Common,
}

impl CreateArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let default_handle = agent_id(&workplace).is_none().then(|| LEADER.to_owned());
        let request = NewTeamRequest {
            caller: team_actor(&workplace),
            name: Some(self.name),
            member: MemberFields {
                handle: self.handle.or(default_handle),
                ..MemberFields::default()
            },
            description: self.description,
            strict: self.strict.then_some(true),
        };
        let result = workplace.connection.client.new_team(&request).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord team list`.
#[derive(Clone, Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    common: Common,
}

impl ListArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let result = workplace.connection.client.teams(&workplace.work.repo_url()).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord team show`.
#[derive(Clone, Debug, Args)]
pub(super) struct ShowArgs {
    /// The team
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl ShowArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let team = self.common.select_team(&workplace, self.name.as_ref()).await?;
        let repo_url = workplace.work.repo_url();
        let result = workplace.connection.client.team(&repo_url, &team).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord team join`.
#[derive(Clone, Debug, Args)]
pub(super) struct JoinArgs {
    /// The team
    #[arg(value_name = "NAME")]
    name: String,
    /// Your handle in it [default: the agent]
    #[arg(long, value_name = "HANDLE")]
    handle: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl JoinArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let request = JoinTeamRequest {
            caller: team_actor(&workplace),
            member: MemberFields {
                handle: self.handle,
                ..MemberFields::default()
            },
        };
        let result = workplace.connection.client.join_team(&self.name, &request).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord team leave`.
#[derive(Clone, Debug, Args)]
pub(super) struct LeaveArgs {
    /// The team
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl LeaveArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let team = self.common.select_team(&workplace, self.name.as_ref()).await?;
        let request = LeaveTeamRequest {
            caller: team_actor(&workplace),
        };
        let result = workplace.connection.client.leave_team(&team, &request).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord team hand-over`.
#[derive(Clone, Debug, Args)]
pub(super) struct HandOverArgs {
    /// The member that leads from now on
    #[arg(value_name = "HANDLE")]
    handle: String,
    #[command(flatten)]
    common: Common,
}

impl HandOverArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let team = self.common.select_team(&workplace, None).await?;
        let request = EditTeamRequest {
            caller: team_actor(&workplace),
            leader: Some(self.handle),
        };
        let result = workplace.connection.client.edit_team(&team, &request).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord team delete`.
#[derive(Clone, Debug, Args)]
pub(super) struct DeleteArgs {
    /// The team
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    common: Common,
}

impl DeleteArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let (client, agent) = (&workplace.connection.client, agent_id(&workplace));
        let result = client
            .delete_team(&workplace.work.repo_url(), &self.name, agent.as_deref())
            .await;
        self.common.print(&workplace, result)
    }
}
