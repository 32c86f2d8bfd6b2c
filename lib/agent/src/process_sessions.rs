//! The file of a session without a conversation: its holder, by the agent's process.

use std::time::{Duration, SystemTime};

use coord_domain::AgentId;
use coord_files::RootedPath;
use coord_git::WorkingCopy;
use serde::{Deserialize, Serialize};

use super::ancestors::AgentProcess;
use super::local_server;
use crate::private_folder;

/// Files of processes that have ended, and of conversations that no hook has touched, are removed after this time.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Largest file, in bytes.
const MOST_BYTES: u64 = 4096;

/// Most files that are looked at.
pub(super) const MOST_FILES: usize = 10_000;

/// The file of a process.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Record {
    pub(super) agent_id: String,
}

/// The holder that a process has without a conversation.
pub(super) fn of_process(working_copy: &WorkingCopy, process: AgentProcess) -> Option<AgentId> {
    read(&path_of(&local_server::sessions(working_copy), process))
}

pub(super) fn read(path: &RootedPath) -> Option<AgentId> {
    let text = private_folder::read(path, MOST_BYTES).ok()?;
    let record: Record = serde_json::from_slice(&text).ok()?;
    AgentId::parse(&record.agent_id).ok()
}

pub(super) fn path_of(folder: &RootedPath, process: AgentProcess) -> RootedPath {
    folder.join(format!("{}-{}.json", process.id, process.started))
}

/// Removes outdated files, so that the folder does not grow.
pub(super) fn remove_old(folder: &RootedPath) {
    for name in folder.list(MOST_FILES).ok().flatten().unwrap_or_default() {
        let file = folder.join(&name);
        let age = file.about().ok().flatten().and_then(|about| about.modified);
        let age = age.and_then(|at| SystemTime::now().duration_since(at).ok());
        let is_running = process_of(&name.to_string_lossy()).is_some_and(AgentProcess::is_running);
        if age.is_some_and(|age| age > KEPT) && !is_running {
            let _ = file.remove();
        }
    }
}

fn process_of(name: &str) -> Option<AgentProcess> {
    let (id, started) = name.strip_suffix(".json")?.split_once('-')?;
    Some(AgentProcess {
        id: id.parse().ok()?,
        started: started.parse().ok()?,
    })
}
