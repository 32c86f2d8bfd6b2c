//! `coord team sync`, `export` and `import`: a team of the server, and the files of opencode-teams.
//!
//! Each layer uses only the layers above it:
//!
//! - `locks`, `disk`: the folder, under the plugin's locks; `coord_teams` has the bounds of reading and writing
//! - `server`: the team over the client
//! - `unchanged`: whether both sides are as they were; `sync_state`: the last seen records, in git's folder
//! - `change`, `edit`, `apply`: changes in the files, as requests
//! - `once`: one sync, and its `report`
//! - `team_folder`: the selected team and folder; `watch`: a sync after each change

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

use coord_agent::exit_status::ExitStatus;
use coord_agent::terminal::output::print_as;
use coord_agent::workplace::{Failure, Workplace};

pub(super) use self::once::SyncDirection;
use self::report::Report;
pub(super) use self::team_folder::TeamFolder;
pub(super) use self::watch::watch;

pub(super) const EXAMPLES: &str = "\
Changes that cannot be applied are listed by file and field, and stay.

Exit status: 0 done, 1 an error, 2 wrong usage, 3 something was not applied,
4 no answer.";

/// The number of syncs in a row while other programs keep changing the files.
const MAX_ROUNDS: usize = 5;

impl TeamFolder {
    /// Syncs once, and prints the report.
    pub(super) async fn sync(&self, direction: SyncDirection) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open_as_person()?;
        let mut report = Report::default();
        let request = self.run_rounds(&workplace, direction, &mut report);
        let result = workplace.ask(request).await;
        // A failed sync still reports the steps before the failure.
        if result.is_ok() || !report.is_quiet() {
            print_as(self.common.json, &report, Report::render)?;
        }
        result?;
        let is_refused = !report.refused.is_empty() || !report.changed_meanwhile.is_empty();
        Ok(ExitStatus::refused_if(is_refused).into())
    }

    async fn run_rounds(
        &self,
        workplace: &Workplace,
        direction: SyncDirection,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let mut sync = self.open(workplace, direction).await?;
        for _ in 0..MAX_ROUNDS {
            let mut round = sync.new_report();
            let result = sync.once(&mut round).await;
            report.add(round);
            result?;
            if report.changed_meanwhile.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
