//! The state between two syncs, in git's folder of the working copy: the last seen records, and the changes since.

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

/// The maximum size of a file. It has the last seen records of a team, whose files have at most as many bytes.
const MAX_BYTES: u64 = 256 << 20;

/// The stored state of a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SyncState {
    /// When the team was created; distinguishes it from another team with its name.
    pub created: String,
    /// The last seen records.
    pub seen: AgreedState,
    /// Claims for tasks that a file marks as in progress: the fencing token by task. Each sync renews them while the
    /// file has this status.
    #[serde(default)]
    pub claims: BTreeMap<String, i64>,
    /// The state of both sides, if the sync found nothing to do.
    #[serde(default)]
    pub unchanged: Option<UnchangedState>,
}

/// The state of one team in one folder, locked against other syncs.
#[derive(Debug)]
pub(super) struct LockedSyncState {
    path: RootedPath,
    journal: RootedPath,
    /// The stored state; `None` before the first sync, and if it is lost.
    pub state: Option<SyncState>,
    /// Changes applied since, by this sync or by one that was interrupted.
    pub applied: Vec<AppliedChange>,
    /// Whether the stored state cannot be read.
    pub is_lost: bool,
    _lock: FileLock,
}

impl LockedSyncState {
    /// Locks and reads the state of `team` in the folder `root`.
    ///
    /// # Errors
    /// When another sync of the team runs, or the folder cannot be written.
    pub fn open(working_copy: &WorkingCopy, root: &Path, team: &TeamName) -> anyhow::Result<LockedSyncState> {
        // Each root has a state. A root that does not exist yet is identified by its path.
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let digest = sha1_smol::Sha1::from(root.as_os_str().as_encoded_bytes()).hexdigest();
        let folder = RootedPath::new(working_copy.git_folder(), format!("coord/teams/{}", &digest[..16]));
        folder.make(PRIVATE_MODE)?;
        let file = |extension: &str| folder.join(format!("{}.{extension}", team.folded()));
        let Some(lock) = file("lock").try_lock(FILE_MODE)? else {
            bail!(
                "another coord team sync already syncs team {team} in {}, your changes included",
                root.display()
            )
        };
        let (path, journal) = (file("json"), file("journal"));
        let mut is_lost = false;
        let state = match path.read(MAX_BYTES)? {
            None => None,
            Some(text) => serde_json::from_slice(&text).map_err(|_| is_lost = true).ok(),
        };
        let text = journal.read(MAX_BYTES)?.unwrap_or_default();
        // The last line may be incomplete. Its change was applied, and the comparison finds it by its content.
        let applied = text
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok());
        Ok(LockedSyncState {
            applied: if state.is_some() { applied.collect() } else { Vec::new() },
            path,
            journal,
            state,
            is_lost,
            _lock: lock,
        })
    }

    /// Adds changes that the store has just accepted to the journal.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn append(&mut self, applied: Vec<AppliedChange>) -> anyhow::Result<()> {
        let context = || format!("{} cannot be written", self.journal.full().display());
        let mut lines = Vec::new();
        for change in &applied {
            serde_json::to_writer(&mut lines, change).with_context(context)?;
            lines.push(b'\n');
        }
        let mut file = self.journal.append(FILE_MODE)?;
        file.write_all(&lines).with_context(context)?;
        self.applied.extend(applied);
        Ok(())
    }

    /// Replaces the stored state with `state`, and clears the journal.
    pub fn save(&mut self, state: SyncState) -> anyhow::Result<()> {
        if self.state.as_ref() != Some(&state) {
            let context = || format!("{} cannot be written", self.path.full().display());
            let text = serde_json::to_vec(&state).with_context(context)?;
            self.path.write(&text, FILE_MODE)?;
            self.state = Some(state);
        }
        self.journal.remove().context("the earlier steps")?;
        self.applied.clear();
        Ok(())
    }

    /// Forgets the records of a team that no longer exists.
    pub fn forget(&mut self) {
        self.state = None;
        self.applied.clear();
    }
}
