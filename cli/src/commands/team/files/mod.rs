//! `coord team sync`, `export` and `import`: a team of the server, and the files of opencode-teams.
//!
//! - `disk`, `locks`: the folder, under the plugin's locks; the bounds of reading and writing there belong to
//!   `coord_teams`
//! - `server`: the team over the client; `apply`, `edit`, `change`: changes in the files, as requests
//! - `sync_state`: the last seen records, in git's folder; `unchanged`: whether they are still current
//! - `once`: one synchronization; `watch`: one after each change; `report`: the result

mod apply;
mod change;
mod disk;
mod edit;
mod locks;
mod once;
mod report;
mod server;
mod sync_state;
mod unchanged;
mod watch;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use coord_settings::{process_environment, value_of};
use coord_teams::find::{self, SearchStart};
use coord_teams::names::TeamName;

use self::disk::Disk;
use self::once::{Sync, SyncDirection};
use self::report::Report;
use self::server::{Messages, TeamReference};
use self::sync_state::LockedSyncState;
use super::common::Common;
use crate::agent::exit_status::ExitStatus;
use crate::agent::workplace::Workplace;
use crate::commands::sync::Failure;
use crate::terminal::output::{print, print_json};

const EXAMPLES: &str = "\
Changes that cannot be applied are listed by file and field, and stay.

Exit status: 0 done, 1 an error, 2 wrong usage, 3 something was not applied,
4 no answer.";

/// Rounds in which files that others change meanwhile are tried.
const ROUNDS: usize = 5;

/// The team and its folder.
#[derive(Clone, Debug, Args)]
struct TeamFolder {
    /// The folder with teams/ and tasks/ [default: as the plugin finds it]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Options of `coord team sync`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SyncArgs {
    /// Go on, at each change of either side, until it is ended
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    place: TeamFolder,
}

/// Options of `coord team export` and `coord team import`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct OneWayArgs {
    #[command(flatten)]
    place: TeamFolder,
}

impl SyncArgs {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        match self.watch {
            true => watch::watch(&self.place).await,
            false => self.place.once(SyncDirection::Both).await,
        }
    }
}

impl OneWayArgs {
    pub(super) async fn export(self) -> anyhow::Result<ExitCode> {
        self.place.once(SyncDirection::Out).await
    }

    pub(super) async fn import(self) -> anyhow::Result<ExitCode> {
        self.place.once(SyncDirection::In).await
    }
}

impl TeamFolder {
    async fn once(&self, way: SyncDirection) -> anyhow::Result<ExitCode> {
        let workplace = self.common.person()?;
        let waiting = workplace.waiting();
        let mut report = Report::default();
        let done = self.rounds(&workplace, way, &mut report).await;
        drop(waiting);
        // Steps before the failure were done.
        if done.is_ok() || !report.is_quiet() {
            match self.common.json {
                true => print_json(&report)?,
                false => print(&report.text())?,
            }
        }
        match done {
            Ok(()) => Ok(status(&report).into()),
            Err(Failure::NoAnswer(error)) => workplace.failed(error),
            Err(Failure::Error(error)) => Err(error),
        }
    }

    async fn rounds(&self, workplace: &Workplace, way: SyncDirection, report: &mut Report) -> Result<(), Failure> {
        let mut sync = self.open(workplace, way).await?;
        for _ in 0..ROUNDS {
            let mut next = sync.report();
            let done = sync.once(&mut next).await;
            report.add(next);
            done?;
            if report.changed_meanwhile.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The selected team, its folder, and the last seen records.
    async fn open(&self, workplace: &Workplace, way: SyncDirection) -> Result<Sync, Failure> {
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
            asked: TeamReference {
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

fn status(report: &Report) -> ExitStatus {
    match report.refused.is_empty() && report.changed_meanwhile.is_empty() {
        true => ExitStatus::Done,
        false => ExitStatus::Refused,
    }
}
