//! The file of a session without a conversation: its holder, by the agent's process.

use std::time::{Duration, SystemTime};

use coord_domain::AgentId;
use coord_files::RootedPath;
use coord_git::WorkingCopy;
use serde::{Deserialize, Serialize};

use super::ancestors::AgentProcess;
use super::local_server;
use crate::private_folder;

/// The age from which files of ended processes, and of conversations that no hook has touched, are removed.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 4096;

/// Maximum number of files that are listed.
pub(super) const MAX_FILES: usize = 10_000;

/// The content of a process's file.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Record {
    pub(super) agent_id: String,
}

/// The holder of a process without a conversation.
pub(super) fn read_holder(working_copy: &WorkingCopy, process: AgentProcess) -> Option<AgentId> {
    read(&record_path(&local_server::sessions(working_copy), process))
}

pub(super) fn read(path: &RootedPath) -> Option<AgentId> {
    let record: Record = private_folder::read_json(path, MAX_BYTES)?;
    AgentId::parse(&record.agent_id).ok()
}

pub(super) fn record_path(folder: &RootedPath, process: AgentProcess) -> RootedPath {
    folder.join(format!("{}-{}.json", process.id, process.started))
}

/// Removes outdated files, so that the folder does not grow.
pub(super) fn remove_old(folder: &RootedPath) {
    for name in folder.list(MAX_FILES).ok().flatten().unwrap_or_default() {
        let file = folder.join(&name);
        let modified = file.about().ok().flatten().and_then(|entry| entry.modified);
        let age = modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
        let is_running = parse_name(&name.to_string_lossy()).is_some_and(AgentProcess::is_running);
        if age.is_some_and(|age| age > MAX_AGE) && !is_running {
            let _ = file.remove();
        }
    }
}

/// The process whose file has the name `name`.
fn parse_name(name: &str) -> Option<AgentProcess> {
    let (id, started) = name.strip_suffix(".json")?.split_once('-')?;
    Some(AgentProcess {
        id: id.parse().ok()?,
        started: started.parse().ok()?,
    })
}
