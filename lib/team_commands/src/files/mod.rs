//! `coord team sync`, `export` and `import`: a team of the server, and the files of opencode-teams.
//!
//! Each layer uses those above it alone:
//!
//! - `locks`, `disk`: the folder, under the plugin's locks; the bounds of reading and writing there belong to
//!   `coord_teams`
//! - `server`: the team over the client
//! - `unchanged`: whether both are as they were; `sync_state`: the last seen records, in git's folder
//! - `change`, `edit`, `apply`: changes in the files, as requests
//! - `once`: one synchronization, and its `report`
//! - `team_folder`: which team, and which folder; `watch`: a synchronization after each change

mod apply;
mod change;
mod disk;
mod edit;
mod locks;
mod once;
mod report;
mod server;
mod sync_state;
mod team_folder;
mod unchanged;
mod watch;

use std::process::ExitCode;

use clap::Args;
use coord_agent::exit_status::ExitStatus;
use coord_agent::terminal::output::{print, print_json};
use coord_agent::workplace::{Failure, Workplace};

use self::once::SyncDirection;
use self::report::Report;
use self::team_folder::TeamFolder;

const EXAMPLES: &str = "\
Changes that cannot be applied are listed by file and field, and stay.

Exit status: 0 done, 1 an error, 2 wrong usage, 3 something was not applied,
4 no answer.";

/// Rounds in which files that others change meanwhile are tried.
const ROUNDS: usize = 5;

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
}

fn status(report: &Report) -> ExitStatus {
    match report.refused.is_empty() && report.changed_meanwhile.is_empty() {
        true => ExitStatus::Done,
        false => ExitStatus::Refused,
    }
}
