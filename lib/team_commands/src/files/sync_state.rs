//! The state between two synchronizations, in git's folder of the working copy: the last seen records, and steps done since.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use coord_files::{FILE_MODE, FileLock, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_teams::compare::{AgreedState, AppliedChange};
use coord_teams::names::TeamName;
use serde::{Deserialize, Serialize};

use super::unchanged::UnchangedState;

/// Largest file, in bytes. It has the last seen records of a team, whose files have at most as many.
const MOST_BYTES: u64 = 256 << 20;

/// The stored state of a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SyncState {
    /// When the team was created; distinguishes it from another team with its name.
    pub created: String,
    /// The last seen records.
    pub seen: AgreedState,
    /// Claims that were made for files: the fencing token by task. They are renewed while the file says that the task is worked on.
    #[serde(default)]
    pub claims: BTreeMap<String, i64>,
    /// The common state of both sides, if nothing was to be done.
    #[serde(default)]
    pub unchanged: Option<UnchangedState>,
}

/// The state of one team in one folder, locked against other synchronizations.
#[derive(Debug)]
pub(super) struct LockedSyncState {
    path: RootedPath,
    journal: RootedPath,
    /// The stored state; none at first, and if it is lost.
    pub state: Option<SyncState>,
    /// Steps done since, by a synchronization that was cut off or is running.
    pub done: Vec<AppliedChange>,
    /// Whether there was something that cannot be read.
    pub is_lost: bool,
    _lock: FileLock,
}

impl LockedSyncState {
    /// That of `team` in the folder `root`.
    ///
    /// # Errors
    /// When another synchronization of it runs, or the folder cannot be written.
    pub fn open(working_copy: &WorkingCopy, root: &Path, team: &TeamName) -> anyhow::Result<LockedSyncState> {
        // The folder of another root has another state; one that is not there yet is named by its path.
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let digest = sha1_smol::Sha1::from(root.as_os_str().as_encoded_bytes()).hexdigest();
        let folder = RootedPath::new(working_copy.git_folder(), format!("coord/teams/{}", &digest[..16]));
        folder.make(PRIVATE_MODE)?;
        let named = |ending: &str| folder.join(format!("{}.{ending}", team.folded()));
        let Some(lock) = named("lock").try_lock(FILE_MODE)? else {
            bail!(
                "another coord team sync keeps team {team} in {}; it sees your changes",
                root.display()
            )
        };
        let (path, journal) = (named("json"), named("journal"));
        let mut is_lost = false;
        let state = match path.read(MOST_BYTES)? {
            None => None,
            Some(text) => serde_json::from_slice(&text).map_err(|_| is_lost = true).ok(),
        };
        let done = journal.read(MOST_BYTES)?.unwrap_or_default();
        // The last line may be cut off: its step was done, and is found by its content.
        let done = done
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok());
        Ok(LockedSyncState {
            done: if state.is_some() { done.collect() } else { Vec::new() },
            path,
            journal,
            state,
            is_lost,
            _lock: lock,
        })
    }

    /// Notes the changes that the store accepted just now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(&mut self, done: Vec<AppliedChange>) -> anyhow::Result<()> {
        let about = || format!("{} cannot be written", self.journal.full().display());
        let mut lines = Vec::new();
        for done in &done {
            serde_json::to_writer(&mut lines, done).with_context(about)?;
            lines.push(b'\n');
        }
        let mut file = self.journal.append(FILE_MODE)?;
        file.write_all(&lines).with_context(about)?;
        self.done.extend(done);
        Ok(())
    }

    /// Keeps the state in place of all that was.
    pub fn keep(&mut self, state: SyncState) -> anyhow::Result<()> {
        if self.state.as_ref() != Some(&state) {
            let about = || format!("{} cannot be written", self.path.full().display());
            let text = serde_json::to_vec(&state).with_context(about)?;
            self.path.write(&text, FILE_MODE)?;
            self.state = Some(state);
        }
        self.journal.remove().context("the earlier steps")?;
        self.done.clear();
        Ok(())
    }

    /// Forgets the records of a team that is gone.
    pub fn forget(&mut self) {
        self.state = None;
        self.done.clear();
    }
}
