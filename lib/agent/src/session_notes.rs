//! Facts that processes of a session share beyond its `agent_id`: its task, its working copies, and the commits of
//! their branches that it has checked. One small file for each holder, beside those of the sessions. A lost file loses
//! no lock.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;
use serde::{Deserialize, Serialize};

use super::local_server;
use crate::private_folder;

/// The end of the files' names.
const SUFFIX: &str = ".notes.json";

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Maximum number of noted working copies of one session; the oldest is dropped first.
const MAX_WORKTREES: usize = 16;

/// Maximum number of files of a branch for which a session waits.
const MAX_WAITS: usize = 256;

/// Maximum number of sentences that wait for the model.
const MAX_NEWS: usize = 16;

/// Maximum number of remembered warnings.
const MAX_WARNED: usize = 128;

/// Maximum number of files of other sessions that are read.
const MAX_FILES: usize = 1000;

/// The notes of one holder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct SessionNotes {
    /// One sentence: the session's current work.
    pub task: Option<String>,
    /// The roots of its working copies, the newest last.
    pub worktrees: Vec<PathBuf>,
    /// The head of each branch at the last check for pushed work.
    pub heads: BTreeMap<String, String>,
    /// Whether the repository has intents. `None` if the server was not asked yet.
    pub has_intents: Option<bool>,
    /// Whether each claim to write has to cite an intent.
    pub requires_intent: bool,
    /// The intent that the session has selected.
    pub intent: Option<String>,
    /// The agent's name for its model.
    pub model: Option<String>,
    /// The last tool call before which a hook was called.
    pub call: Option<LastCall>,
    /// The last reported running total of tokens.
    pub tokens: u64,
    /// Of a writer: the files that it has taken over from its lead. They go back to the lead.
    pub taken: BTreeSet<String>,
    /// The refused files for which it waits, by branch.
    pub waits: BTreeMap<String, BTreeSet<String>>,
    /// Sentences for the model, delivered once with the next event or answer that has room for them.
    pub news: Vec<String>,
    /// Digests of the warnings that it has received, the newest last.
    pub warned: Vec<String>,
    /// Digests of the last report about each other session that holds files, by its name. `None` before the first
    /// report.
    pub others: Option<BTreeMap<String, String>>,
    /// When the user sent the last prompt, Unix seconds.
    pub turn_began: u64,
}

/// A tool call. Some agents call two hooks before one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct LastCall {
    /// A digest of its input.
    pub digest: String,
    /// The events before it that have called a hook.
    pub events: Vec<String>,
}

impl SessionNotes {
    /// Reads the notes of `agent_id`. Empty without a file. A writer inherits its lead's task, model and intent.
    pub fn read(working_copy: &WorkingCopy, agent_id: &AgentId) -> SessionNotes {
        let notes: SessionNotes = read(&path(working_copy, agent_id)).unwrap_or_default();
        match agent_id.lead().and_then(|lead| read(&path(working_copy, &lead))) {
            Some(lead) => SessionNotes {
                task: notes.task.or(lead.task),
                model: notes.model.or(lead.model),
                has_intents: lead.has_intents.or(notes.has_intents),
                requires_intent: lead.requires_intent,
                intent: lead.intent,
                ..notes
            },
            None => notes,
        }
    }

    /// Notes that the session waits for `files` of `branch` if they were refused, or no longer waits for them.
    pub fn note_wait(&mut self, branch: &str, files: &[String], is_refused: bool) {
        let waits = self.waits.entry(branch.to_owned()).or_default();
        for file in files {
            if !is_refused {
                waits.remove(file);
            } else if waits.len() < MAX_WAITS {
                waits.insert(file.clone());
            }
        }
        self.waits.retain(|_, files| !files.is_empty());
    }

    /// Changes the notes of `agent_id`. A file that cannot be written is no reason to stop an agent.
    pub fn change<T>(working_copy: &WorkingCopy, agent_id: &AgentId, change: impl FnOnce(&mut SessionNotes) -> T) -> T {
        let before = SessionNotes::read(working_copy, agent_id);
        let mut notes = before.clone();
        let outcome = change(&mut notes);
        if notes != before
            && let Err(error) = write(&path(working_copy, agent_id), &notes)
        {
            tracing::debug!(%error, "the notes of the session cannot be written");
        }
        outcome
    }

    /// Adds `sentence` for the model, if there is room for it.
    pub fn add(&mut self, sentence: String) {
        if self.news.len() < MAX_NEWS {
            self.news.push(sentence);
        }
    }

    /// Adds `sentence` for the model, unless it has received the same sentence before. Numbers in it do not count.
    pub fn warn(&mut self, sentence: &str) {
        let words = sentence.split(' ').filter(|word| word.parse::<u64>().is_err());
        let digest = short_digest(&words.collect::<Vec<_>>().join(" "));
        if !self.warned.contains(&digest) && self.news.len() < MAX_NEWS {
            self.news.push(sentence.to_owned());
            self.warned.push(digest);
            let surplus = self.warned.len().saturating_sub(MAX_WARNED);
            self.warned.drain(..surplus);
        }
    }

    /// Takes the sentences that the model has yet to receive.
    pub fn take_news(working_copy: &WorkingCopy, agent_id: &AgentId) -> Vec<String> {
        SessionNotes::change(working_copy, agent_id, |notes| std::mem::take(&mut notes.news))
    }

    /// Notes that the session works in the working copy with this root.
    pub fn add_worktree(&mut self, root: &Path) {
        if !self.worktrees.iter().any(|worktree| worktree == root) {
            self.worktrees.push(root.to_owned());
            let surplus = self.worktrees.len().saturating_sub(MAX_WORKTREES);
            self.worktrees.drain(..surplus);
        }
    }

    /// Notifies the session `holder` with `sentence`, if it is a session of this clone.
    pub fn notify_session(working_copy: &WorkingCopy, holder: &AgentId, sentence: &str) {
        if read(&path(working_copy, holder)).is_some() {
            SessionNotes::change(working_copy, holder, |notes| notes.warn(sentence));
        }
    }

    /// The sessions other than `own` that have worked in the same working copy.
    pub fn others_in(working_copy: &WorkingCopy, own: &AgentId) -> Vec<AgentId> {
        let folder = local_server::sessions(working_copy);
        let names = folder.list(MAX_FILES).ok().flatten().unwrap_or_default();
        let is_here = |notes: SessionNotes| notes.worktrees.iter().any(|root| root == working_copy.root());
        let other_here = |name: OsString| {
            let holder = name.to_str().and_then(holder_of).filter(|holder| holder != own)?;
            read(&folder.join(&name)).is_some_and(is_here).then_some(holder)
        };
        names.into_iter().filter_map(other_here).collect()
    }

    /// Whether `interval` has passed since it last returned true for this session and `subject`. The time is that of a
    /// file.
    pub fn is_due(working_copy: &WorkingCopy, agent_id: &AgentId, subject: &str, interval: Duration) -> bool {
        let file = path(working_copy, agent_id).with_extension(subject);
        let modified = file.about().ok().flatten().and_then(|entry| entry.modified);
        let age = modified.and_then(|time| SystemTime::now().duration_since(time).ok());
        age.is_none_or(|age| age >= interval) && touch(&file).is_ok()
    }
}

/// A short digest of `text`, to compare texts in the notes.
pub fn short_digest(text: &str) -> String {
    let digest = ContentHash::of(text.as_bytes()).to_string();
    let digits = digest.rsplit(':').next().unwrap_or_default();
    digits.chars().take(16).collect()
}

/// Sets the time of a file to now. A missing file and its folder are created.
///
/// # Errors
/// When it cannot be written.
pub fn touch(path: &RootedPath) -> std::io::Result<()> {
    let file = match path.append(FILE_MODE) {
        Err(error) if error.is_missing() => {
            path.create_parents(PRIVATE_MODE)?;
            path.append(FILE_MODE)?
        }
        file => file?,
    };
    file.set_modified(SystemTime::now())
}

/// The file of the notes. Windows allows no colon in names of files, and no `agent_id` has a plus sign.
pub(super) fn path(working_copy: &WorkingCopy, agent_id: &AgentId) -> RootedPath {
    let name = agent_id.as_str().replace(':', "+");
    local_server::sessions(working_copy).join(format!("{name}{SUFFIX}"))
}

fn holder_of(file: &str) -> Option<AgentId> {
    let name = file.strip_suffix(SUFFIX)?.replace('+', ":");
    AgentId::parse(&name).ok()
}

fn read(path: &RootedPath) -> Option<SessionNotes> {
    private_folder::read_json(path, MAX_BYTES)
}

/// Writes notes. Readers see the old file or the new one, never a part. A hook does not wait for the disk: no session
/// outlives a power failure, so its notes need not either.
pub(super) fn write(path: &RootedPath, notes: &impl Serialize) -> std::io::Result<()> {
    path.create_parents(PRIVATE_MODE)?;
    Ok(path.write_unsynced(&serde_json::to_vec(notes)?, FILE_MODE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_file_that_already_waits_stays_when_the_notes_are_full() {
        let files: Vec<String> = (0..=MAX_WAITS).map(|number| format!("{number}.ts")).collect();
        let mut notes = SessionNotes::default();
        notes.note_wait("main", &files, true);
        notes.note_wait("main", &files[..1], true);
        assert_eq!(notes.waits["main"].len(), MAX_WAITS);
        assert!(notes.waits["main"].contains(&files[0]));
        notes.note_wait("main", &files, false);
        assert!(notes.waits.is_empty());
    }
}
