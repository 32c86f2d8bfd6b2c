//! `coord team`.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use coord_protocol::teams::{EditTeamRequest, JoinTeamRequest, LeaveTeamRequest, MemberFields, NewTeamRequest};

use super::common::{Common, agent_id, team_actor};
use super::files::{self, SyncDirection, TeamFolder};
use super::shutdown::ShutdownArgs;

/// The default handle of a person who makes a team.
const LEADER: &str = "leader";

const EXAMPLES: &str = "\
Examples:
  coord team create alpha --handle lead
  coord team join alpha --agent worker-1
  coord team show
  coord team shutdown request --reason 'The day is over'
  coord team sync --watch

Exit status: 0 done, 1 an error, 2 wrong usage, 3 refused by the rules, 4 no answer.";

/// Options of `coord team`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TeamArgs {
    /// Subcommand
    #[command(subcommand)]
    command: TeamCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum TeamCommand {
    /// Create a team and lead it
    Create(CreateArgs),
    /// List the teams of the repository
    List(Common),
    /// Show a team with its members
    Show {
        /// The team
        #[arg(value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Join a team, or resume under your handle
    Join(JoinArgs),
    /// Leave a team; your tasks are released
    Leave {
        /// The team
        #[arg(value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Make another member the leader
    HandOver {
        /// The member that leads from now on
        #[arg(value_name = "HANDLE")]
        handle: String,
        #[command(flatten)]
        common: Common,
    },
    /// Remove a team that is closed, or that has no other live member
    Delete {
        /// The team
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        common: Common,
    },
    /// Ask a member to stop or the team to close, or answer such a request
    Shutdown(ShutdownArgs),
    /// Sync a team with the files of opencode-teams, both ways
    #[command(after_help = files::EXAMPLES)]
    Sync {
        /// Keep syncing after each change on either side, until you stop it
        #[arg(long)]
        watch: bool,
        #[command(flatten)]
        team_folder: TeamFolder,
    },
    /// Write a team into the files of opencode-teams
    #[command(after_help = files::EXAMPLES)]
    Export(TeamFolder),
    /// Read a team from the files of opencode-teams
    #[command(after_help = files::EXAMPLES)]
    Import(TeamFolder),
}

/// Options of `coord team create`.
#[derive(Clone, Debug, Args)]
struct CreateArgs {
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

/// Options of `coord team join`.
#[derive(Clone, Debug, Args)]
struct JoinArgs {
    /// The team
    #[arg(value_name = "NAME")]
    name: String,
    /// Your handle in it [default: the agent]
    #[arg(long, value_name = "HANDLE")]
    handle: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl TeamArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// When the subcommand fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.command {
            TeamCommand::Create(args) => {
                let workplace = args.common.open()?;
                let default_handle = agent_id(&workplace).is_none().then(|| LEADER.to_owned());
                let request = NewTeamRequest {
                    caller: team_actor(&workplace),
                    name: Some(args.name),
                    member: MemberFields {
                        handle: args.handle.or(default_handle),
                        ..MemberFields::default()
                    },
                    description: args.description,
                    strict: args.strict.then_some(true),
                };
                let result = workplace.connection.client.new_team(&request).await;
                args.common.print(&workplace, result)
            }
            TeamCommand::List(common) => {
                let workplace = common.open()?;
                let result = workplace.connection.client.teams(&workplace.work.repo_url()).await;
                common.print(&workplace, result)
            }
            TeamCommand::Show { name, common } => {
                let workplace = common.open()?;
                let team = common.select_team(&workplace, name).await?;
                let repo_url = workplace.work.repo_url();
                let result = workplace.connection.client.team(&repo_url, &team).await;
                common.print(&workplace, result)
            }
            TeamCommand::Join(args) => {
                let workplace = args.common.open()?;
                let request = JoinTeamRequest {
                    caller: team_actor(&workplace),
                    member: MemberFields {
                        handle: args.handle,
                        ..MemberFields::default()
                    },
                };
                let result = workplace.connection.client.join_team(&args.name, &request).await;
                args.common.print(&workplace, result)
            }
            TeamCommand::Leave { name, common } => {
                let workplace = common.open()?;
                let team = common.select_team(&workplace, name).await?;
                let request = LeaveTeamRequest {
                    caller: team_actor(&workplace),
                };
                let result = workplace.connection.client.leave_team(&team, &request).await;
                common.print(&workplace, result)
            }
            TeamCommand::HandOver { handle, common } => {
                let workplace = common.open()?;
                let team = common.select_team(&workplace, None).await?;
                let request = EditTeamRequest {
                    caller: team_actor(&workplace),
                    leader: Some(handle),
                };
                let result = workplace.connection.client.edit_team(&team, &request).await;
                common.print(&workplace, result)
            }
            TeamCommand::Delete { name, common } => {
                let workplace = common.open()?;
                let (client, agent) = (&workplace.connection.client, agent_id(&workplace));
                let repo_url = workplace.work.repo_url();
                let result = client.delete_team(&repo_url, &name, agent.as_deref()).await;
                common.print(&workplace, result)
            }
            TeamCommand::Shutdown(args) => args.run().await,
            TeamCommand::Sync {
                watch: true,
                team_folder,
            } => files::watch(&team_folder).await,
            TeamCommand::Sync { team_folder, .. } => team_folder.sync(SyncDirection::Both).await,
            TeamCommand::Export(team_folder) => team_folder.sync(SyncDirection::Out).await,
            TeamCommand::Import(team_folder) => team_folder.sync(SyncDirection::In).await,
        }
    }
}
