//! Facts that processes of a session share beyond its `agent_id`: its task, its working copies, and which commits of their
//! branches it has looked at. One small file for each holder, beside those of the sessions; losing one loses no lock.

use std::collections::{BTreeMap, BTreeSet};
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
const END: &str = ".notes.json";

/// Largest file, in bytes.
const MOST_BYTES: u64 = 64 * 1024;

/// Most working copies of one session that are noted; the oldest goes first.
const MOST_WORKTREES: usize = 16;

/// Most files of a branch that a session waits for.
const MOST_WAITS: usize = 256;

/// Most sentences that wait for the model.
const MOST_NEWS: usize = 16;

/// Most warnings that are remembered.
const MOST_WARNED: usize = 128;

/// Most files of other sessions that are read.
const MOST_FILES: usize = 1000;

/// The notes of one holder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct SessionNotes {
    /// One sentence: the session's current work.
    pub task: Option<String>,
    /// The roots of the working copies that it works in, the newest last.
    pub worktrees: Vec<PathBuf>,
    /// The head of each branch at the last look for pushed work.
    pub heads: BTreeMap<String, String>,
    /// Whether the repository has intents; `None` where the server was not asked yet.
    pub has_intents: Option<bool>,
    /// Whether each claim to write has to cite an intent.
    pub requires_intent: bool,
    /// The intent that the session has selected.
    pub intent: Option<String>,
    /// The model, as the agent says it.
    pub model: Option<String>,
    /// The tool call before which a hook was called last.
    pub call: Option<LastCall>,
    /// The running total of tokens that was reported last.
    pub tokens: u64,
    /// Of a writer: the files that it has taken over from its lead, which gets them back.
    pub taken: BTreeSet<String>,
    /// The files that it was refused and waits for, by branch.
    pub waits: BTreeMap<String, BTreeSet<String>>,
    /// Sentences for the model, delivered once with the next event or answer that has room for them.
    pub news: Vec<String>,
    /// Digests of the warnings that it has received, the newest last.
    pub warned: Vec<String>,
    /// Digests of the last report about each other session that holds files, by its name. `None` before the first report.
    pub others: Option<BTreeMap<String, String>>,
    /// When the user has sent the last prompt, Unix seconds.
    pub turn_began: u64,
}

/// A tool call. Some agents call two hooks before one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct LastCall {
    /// A digest of its input.
    pub digest: String,
    /// The events before it that have called a hook.
    pub events: Vec<String>,
}

impl SessionNotes {
    /// Those of `agent_id`; empty ones where there is no file. A writer inherits its lead's task.
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

    /// Notes files of `branch` that were refused, or are held now.
    pub fn note_wait(&mut self, branch: &str, files: &[String], is_refused: bool) {
        let waits = self.waits.entry(branch.to_owned()).or_default();
        for file in files {
            match is_refused && waits.len() < MOST_WAITS {
                true => waits.insert(file.clone()),
                false => waits.remove(file),
            };
        }
        self.waits.retain(|_, files| !files.is_empty());
    }

    /// Changes those of `agent_id`. A file that cannot be written is no reason to stop an agent.
    pub fn change(working_copy: &WorkingCopy, agent_id: &AgentId, change: impl FnOnce(&mut SessionNotes)) {
        let before = SessionNotes::read(working_copy, agent_id);
        let mut notes = before.clone();
        change(&mut notes);
        if notes != before {
            let written = write(&path(working_copy, agent_id), &notes);
            if let Err(error) = written {
                tracing::debug!(%error, "the notes of the session cannot be written");
            }
        }
    }

    /// Tells the model `sentence` when there is room for it.
    pub fn add(&mut self, sentence: String) {
        if self.news.len() < MOST_NEWS {
            self.news.push(sentence);
        }
    }

    /// The same, unless it has received `sentence` before. Another number is nothing new.
    pub fn warn(&mut self, sentence: &str) {
        let words = sentence.split(' ').filter(|word| word.parse::<u64>().is_err());
        let digest = short_digest(&words.collect::<Vec<_>>().join(" "));
        if !self.warned.contains(&digest) && self.news.len() < MOST_NEWS {
            self.news.push(sentence.to_owned());
            self.warned.push(digest);
            let surplus = self.warned.len().saturating_sub(MOST_WARNED);
            self.warned.drain(..surplus);
        }
    }

    /// Takes the sentences that the model has yet to receive.
    pub fn take_news(working_copy: &WorkingCopy, agent_id: &AgentId) -> Vec<String> {
        let mut news = Vec::new();
        SessionNotes::change(working_copy, agent_id, |notes| news = std::mem::take(&mut notes.news));
        news
    }

    /// Notes that the session works in the working copy with this root.
    pub fn add_worktree(&mut self, root: &Path) {
        if !self.worktrees.iter().any(|known| known == root) {
            self.worktrees.push(root.to_owned());
            let surplus = self.worktrees.len().saturating_sub(MOST_WORKTREES);
            self.worktrees.drain(..surplus);
        }
    }

    /// Tells `sentence` to the session `holder` of this clone, where it is known here.
    pub fn notify_session(working_copy: &WorkingCopy, holder: &AgentId, sentence: &str) {
        if read(&path(working_copy, holder)).is_some() {
            SessionNotes::change(working_copy, holder, |notes| notes.warn(sentence));
        }
    }

    /// The sessions other than `own` that have worked in the same working copy.
    pub fn others_in(working_copy: &WorkingCopy, own: &AgentId) -> Vec<AgentId> {
        let folder = local_server::sessions(working_copy);
        let names = folder.list(MOST_FILES).ok().flatten().unwrap_or_default();
        let mut others = Vec::new();
        for name in names {
            let Some(holder) = name.to_str().and_then(holder_of) else {
                continue;
            };
            let is_here = |notes: SessionNotes| notes.worktrees.iter().any(|root| root == working_copy.root());
            if holder != *own && read(&folder.join(&name)).is_some_and(is_here) {
                others.push(holder);
            }
        }
        others
    }

    /// Whether `interval` has passed since this said so the last time, for this session and `subject`. The time is that of a file.
    pub fn is_due(working_copy: &WorkingCopy, agent_id: &AgentId, subject: &str, interval: Duration) -> bool {
        let mark = path(working_copy, agent_id).with_extension(subject);
        let age = mark.about().ok().flatten().and_then(|about| about.modified);
        let age = age.and_then(|at| SystemTime::now().duration_since(at).ok());
        age.is_none_or(|age| age >= interval) && touch(&mark).is_ok()
    }
}

/// Tells one text from another, in a file of notes.
pub fn short_digest(text: &str) -> String {
    let digest = ContentHash::of(text.as_bytes()).to_string();
    let digits = digest.rsplit(':').next().unwrap_or_default();
    digits.chars().take(16).collect()
}

/// Sets the time of a file to now; makes the file and its folder where there is none.
///
/// # Errors
/// When it cannot be written.
pub fn touch(path: &RootedPath) -> std::io::Result<()> {
    let file = match path.append(FILE_MODE) {
        Err(error) if error.is_missing() => {
            path.make_parents(PRIVATE_MODE)?;
            path.append(FILE_MODE)?
        }
        opened => opened?,
    };
    file.set_modified(SystemTime::now())
}

/// Of the characters of an `agent_id`, Windows has no colon in names of files; no `agent_id` has a plus sign.
pub(super) fn path(working_copy: &WorkingCopy, agent_id: &AgentId) -> RootedPath {
    let name = agent_id.as_str().replace(':', "+");
    local_server::sessions(working_copy).join(format!("{name}{END}"))
}

fn holder_of(file: &str) -> Option<AgentId> {
    let name = file.strip_suffix(END)?.replace('+', ":");
    AgentId::parse(&name).ok()
}

fn read(path: &RootedPath) -> Option<SessionNotes> {
    serde_json::from_slice(&private_folder::read(path, MOST_BYTES).ok()?).ok()
}

/// Readers see the old file or the new one, never a part. A hook does not wait for the disk: notes that a power failure takes are
/// as none, and no session outlives one.
pub(super) fn write(path: &RootedPath, notes: &impl Serialize) -> std::io::Result<()> {
    path.make_parents(PRIVATE_MODE)?;
    Ok(path.write_unsynced(&serde_json::to_vec(notes)?, FILE_MODE)?)
}
