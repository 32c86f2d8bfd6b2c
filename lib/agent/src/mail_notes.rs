//! A session's teams, and which of their messages its model has received. Each holder has a small file, beside that of
//! its session. One process at a time changes it, so that each message is delivered once.

use std::collections::BTreeMap;
use std::time::Duration;

use coord_domain::AgentId;
use coord_files::{FILE_MODE, FileLock, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_protocol::team_tools::TeamCallResponse;
use coord_protocol::{Membership, PostResponse};
use serde::{Deserialize, Serialize};

use super::session_notes;
use crate::private_folder;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The number of times that a process tries to note received messages.
const ATTEMPTS: u32 = 10;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// The notes of one holder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct MailNotes {
    /// By the team's name in lower case. `None` if the teams were not fetched yet.
    pub teams: Option<BTreeMap<String, TeamNotes>>,
    /// The team whose messages are fetched first next time.
    pub first: Option<String>,
    /// Whether Coord made the agent continue after its last turn.
    pub was_kept_going: bool,
}

/// The messages of one team that were delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct TeamNotes {
    /// The number up to which the model has all messages.
    pub cursor: Option<u64>,
    /// The number up to which a tool has returned messages that no later hook has confirmed.
    pub offered: Option<u64>,
    /// The last shutdown of which the model was notified.
    pub shutdown: Option<String>,
}

/// Notes that no other process can change.
#[derive(Debug)]
pub struct LockedMailNotes {
    pub notes: MailNotes,
    path: RootedPath,
    _lock: FileLock,
}

impl MailNotes {
    /// Reads the notes of `agent_id`. They are empty if there is no file.
    pub fn read(working_copy: &WorkingCopy, agent_id: &AgentId) -> MailNotes {
        read(&path(working_copy, agent_id))
    }

    /// Locks the notes of `agent_id` for a change. `None` if another process has locked them.
    pub fn open(working_copy: &WorkingCopy, agent_id: &AgentId) -> Option<LockedMailNotes> {
        let path = path(working_copy, agent_id);
        path.create_parents(PRIVATE_MODE).ok()?;
        let lock = path.with_extension("lock").try_lock(FILE_MODE).ok()??;
        Some(LockedMailNotes {
            notes: read(&path),
            path,
            _lock: lock,
        })
    }

    /// Notes an answer about teams: the memberships and the messages. `is_shown`: the model has received the messages.
    pub fn note_answer(working_copy: &WorkingCopy, agent_id: &AgentId, answer: &TeamCallResponse, is_shown: bool) {
        match answer {
            TeamCallResponse::Teams(answer) => {
                change(working_copy, agent_id, |notes| notes.set_teams(&answer.your_teams));
            }
            TeamCallResponse::Change(answer) if answer.handle.is_some() => change(working_copy, agent_id, |notes| {
                notes.team(&answer.team);
            }),
            TeamCallResponse::Inbox(inbox) => change(working_copy, agent_id, |notes| {
                let team = notes.team(&inbox.team);
                let number = if is_shown { &mut team.cursor } else { &mut team.offered };
                *number = (*number).max(Some(inbox.cursor));
            }),
            _ => {}
        }
    }

    /// Notes the teams that the response to a claim lists.
    pub fn note_claim(working_copy: &WorkingCopy, agent_id: &AgentId, response: &PostResponse) {
        let teams = MailNotes::read(working_copy, agent_id).teams.unwrap_or_default();
        let is_same = teams.keys().eq(response.your_teams.iter().map(|team| &team.team));
        if !is_same && let Some(mut mail) = MailNotes::open(working_copy, agent_id) {
            mail.notes.set_teams(&response.your_teams);
            mail.save();
        }
    }

    /// Replaces the list of teams. Teams that were listed before keep their notes.
    pub fn set_teams(&mut self, teams: &[Membership]) {
        let before = self.teams.take().unwrap_or_default();
        let entry = |team: &Membership| (team.team.clone(), before.get(&team.team).cloned().unwrap_or_default());
        self.teams = Some(teams.iter().map(entry).collect());
    }

    /// The names of up to `most` teams, beginning with [`MailNotes::first`].
    pub fn next_teams(&self, most: usize) -> Vec<String> {
        let names: Vec<&String> = self.teams.iter().flat_map(BTreeMap::keys).collect();
        let first = self.first.as_ref();
        let start = names.iter().position(|name| Some(*name) >= first).unwrap_or_default();
        let from_first = names.iter().cycle().skip(start);
        from_first
            .take(most.min(names.len()))
            .map(|name| (*name).clone())
            .collect()
    }

    /// The team after `name`, which is the first one after the last. `None` if there are no teams.
    pub fn team_after(&self, name: &str) -> Option<String> {
        let names = || self.teams.iter().flat_map(BTreeMap::keys);
        names()
            .find(|other| other.as_str() > name)
            .or_else(|| names().next())
            .cloned()
    }

    fn team(&mut self, name: &str) -> &mut TeamNotes {
        let teams = self.teams.get_or_insert_default();
        teams.entry(name.to_ascii_lowercase()).or_default()
    }
}

impl LockedMailNotes {
    /// Writes the notes. A failure is only logged, because it must not stop an agent.
    pub fn save(&self) {
        if let Err(error) = session_notes::write(&self.path, &self.notes) {
            tracing::debug!(%error, "the notes about messages cannot be written");
        }
    }
}

fn change(working_copy: &WorkingCopy, agent_id: &AgentId, change: impl FnOnce(&mut MailNotes)) {
    for _ in 0..ATTEMPTS {
        if let Some(mut mail) = MailNotes::open(working_copy, agent_id) {
            change(&mut mail.notes);
            mail.save();
            return;
        }
        std::thread::sleep(PAUSE);
    }
    tracing::debug!("another process has the notes about messages");
}

fn path(working_copy: &WorkingCopy, agent_id: &AgentId) -> RootedPath {
    session_notes::path(working_copy, agent_id).with_extension("mail")
}

fn read(path: &RootedPath) -> MailNotes {
    private_folder::read_json(path, MAX_BYTES).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_has_one_entry_in_any_case_of_its_name() {
        let mut notes = MailNotes::default();
        notes.team("Backend").cursor = Some(3);
        assert_eq!(notes.team("backEND").cursor, Some(3));
        assert_eq!(notes.next_teams(4), ["backend"]);
    }

    #[test]
    fn each_team_has_its_turn() {
        let mut notes = MailNotes::default();
        assert_eq!((notes.next_teams(4), notes.team_after("a")), (Vec::new(), None));
        for name in ["a", "b", "c", "d", "e"] {
            notes.team(name);
        }
        assert_eq!(notes.next_teams(4), ["a", "b", "c", "d"]);
        assert_eq!(notes.team_after("d").as_deref(), Some("e"));
        assert_eq!(notes.team_after("e").as_deref(), Some("a"));
        notes.first = Some("d".to_owned());
        assert_eq!(notes.next_teams(4), ["d", "e", "a", "b"]);
        assert_eq!(notes.next_teams(9).len(), 5);
        // The agent has left that team.
        notes.first = Some("f".to_owned());
        assert_eq!(notes.next_teams(2), ["a", "b"]);
    }
}
