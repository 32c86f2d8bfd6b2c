//! Which team, and which folder: as the options say, or else as they are found.

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

/// The team and its folder.
#[derive(Clone, Debug, Args)]
pub(super) struct TeamFolder {
    /// The folder with teams/ and tasks/ [default: as the plugin finds it]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

impl TeamFolder {
    /// The selected team, its folder, and the last seen records.
    ///
    /// # Errors
    /// When there is no such team, another synchronization of it runs, or the server does not answer.
    pub(super) async fn open(&self, workplace: &Workplace, way: SyncDirection) -> Result<Sync, Failure> {
        let working_folder = std::env::current_dir().context("the working directory")?;
        let given = |variable| value_of(&process_environment, variable);
        let (teams_dir, project_root) = (given(find::TEAMS_DIR), given(find::PROJECT_ROOT));
        let found = || {
            let surroundings = SearchStart {
                teams_dir: teams_dir.as_deref(),
                project_root: project_root.as_deref(),
                working_folder: &working_folder,
            };
            find::root(surroundings, |path| path.exists())
        };
        let working_copy = &workplace.work.working_copy;
        let root = self.dir.as_ref().map_or_else(found, |dir| working_folder.join(dir));
        let disk = Disk::new(root, working_copy.root());
        let team = self.team(workplace, &disk).await?;
        let kept = LockedSyncState::open(working_copy, &disk.root, &team)?;
        Ok(Sync {
            team_reference: TeamReference {
                client: workplace.connection.client.clone(),
                repo_url: workplace.work.repo_url(),
                team,
            },
            disk,
            kept,
            way,
            messages: Messages::new(),
        })
    }

    /// The team that is named, or else the only one of the folder, or else the only one of the server.
    async fn team(&self, workplace: &Workplace, disk: &Disk) -> Result<TeamName, Failure> {
        let name = match self.common.named() {
            Some(name) => name,
            None => {
                let here: BTreeSet<String> = disk.teams()?;
                match here.first().filter(|_| here.len() == 1) {
                    Some(only) => only.clone(),
                    None => {
                        let repo_url = workplace.work.repo_url();
                        let listed = workplace.connection.client.teams(&repo_url).await?;
                        let there: BTreeSet<String> = listed.teams.into_iter().map(|team| team.name).collect();
                        only_of(&here, &there)?
                    }
                }
            }
        };
        Ok(TeamName::parse(&name).map_err(anyhow::Error::from)?)
    }
}

fn only_of(here: &BTreeSet<String>, there: &BTreeSet<String>) -> anyhow::Result<String> {
    let names: Vec<&String> = here.union(there).collect();
    match names.as_slice() {
        [only] => Ok((*only).clone()),
        [] => bail!("neither the folder nor the server has a team"),
        several => bail!(
            "which team? Name one of {} with --team",
            several.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
        ),
    }
}
