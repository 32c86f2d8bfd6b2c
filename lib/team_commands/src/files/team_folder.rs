//! The selected team and its folder: those of the options, or else those that a search finds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use coord_agent::workplace::{Failure, Workplace};
use coord_settings::{process_environment, value_of};
use coord_teams::find::{self, SearchStart};
use coord_teams::names::TeamName;

use super::super::common::Common;
use super::disk::Disk;
use super::once::{Sync, SyncDirection};
use super::server::{Messages, TeamReference};
use super::sync_state::LockedSyncState;

/// Options that select the team and its folder.
#[derive(Clone, Debug, Args)]
pub struct TeamFolder {
    /// The folder with teams/ and tasks/ [default: as the plugin finds it]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

impl TeamFolder {
    /// Prepares a sync of the selected team with its folder.
    ///
    /// # Errors
    /// When there is no such team, another sync of it runs, or the server does not respond.
    pub(super) async fn open(&self, workplace: &Workplace, direction: SyncDirection) -> Result<Sync, Failure> {
        let working_folder = std::env::current_dir().context("the working directory")?;
        let variable = |name| value_of(&process_environment, name);
        let (teams_dir, project_root) = (variable(find::TEAMS_DIR), variable(find::PROJECT_ROOT));
        let find_root = || {
            let start = SearchStart {
                teams_dir: teams_dir.as_deref(),
                project_root: project_root.as_deref(),
                working_folder: &working_folder,
            };
            find::root(start, |path| path.exists())
        };
        let working_copy = &workplace.work.working_copy;
        let root = self.dir.as_ref().map_or_else(find_root, |dir| working_folder.join(dir));
        let disk = Disk::new(root, working_copy.root());
        let team = self.select_team(workplace, &disk).await?;
        let sync_state = LockedSyncState::open(working_copy, &disk.root, &team)?;
        Ok(Sync {
            team_reference: TeamReference {
                client: workplace.connection.client.clone(),
                repo_url: workplace.work.repo_url(),
                team,
            },
            disk,
            sync_state,
            direction,
            messages: Messages::new(),
        })
    }

    /// The configured team, or else the only one of the folder, or else the only one of folder and server.
    async fn select_team(&self, workplace: &Workplace, disk: &Disk) -> Result<TeamName, Failure> {
        let name = match self.common.configured_team() {
            Some(name) => name,
            None => {
                let disk_teams: BTreeSet<String> = disk.teams()?;
                match disk_teams.first().filter(|_| disk_teams.len() == 1) {
                    Some(only) => only.clone(),
                    None => {
                        let repo_url = workplace.work.repo_url();
                        let response = workplace.connection.client.teams(&repo_url).await?;
                        let server_teams: BTreeSet<String> = response.teams.into_iter().map(|team| team.name).collect();
                        only_team(&disk_teams, &server_teams)?
                    }
                }
            }
        };
        Ok(TeamName::parse(&name).map_err(anyhow::Error::from)?)
    }
}

fn only_team(disk_teams: &BTreeSet<String>, server_teams: &BTreeSet<String>) -> anyhow::Result<String> {
    let names: Vec<&str> = disk_teams.union(server_teams).map(String::as_str).collect();
    match names.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => bail!("neither the folder nor the server has a team"),
        several => bail!("which team? Name one of {} with --team", several.join(", ")),
    }
}
