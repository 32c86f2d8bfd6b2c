//! Reads of teams, for `admission::admit_without_head`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::keys;
use crate::domain::RepoId;
use crate::domain::team::TeamName;
use crate::state::read::Read;
use crate::store::{Request, StoreError, Value};

/// A team in a listing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct TeamSummary {
    /// Its name.
    pub name: String,
    /// Handle of its leader.
    pub leader: String,
    /// Unix milliseconds.
    pub created: i64,
    /// Unix milliseconds; none while it is open.
    #[serde(default)]
    pub closed: Option<i64>,
    /// Number of members.
    pub members: u32,
    /// Number of tasks that are not completed.
    #[serde(default)]
    pub open_tasks: u64,
    /// Number of completed tasks.
    #[serde(default)]
    pub done_tasks: u64,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct MemberRecord {
    /// Its handle.
    pub handle: String,
    /// Verified login.
    pub login: String,
    /// Agent of that login.
    #[serde(default)]
    pub agent: Option<String>,
    /// Name of the agent, to show.
    pub name: String,
    /// Kind of the agent, to show.
    pub kind: String,
    /// Unix milliseconds.
    pub joined: i64,
    /// When it approved a shutdown, Unix milliseconds.
    #[serde(default)]
    pub ended: Option<i64>,
    /// Ids of claimed tasks, separated by blanks; some may be gone.
    pub claims: String,
    /// When it was last seen, Unix milliseconds.
    #[serde(default)]
    pub seen: Option<i64>,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TeamRecord {
    /// Its name.
    pub name: String,
    /// Handle of its leader.
    pub leader: String,
    /// Login of its creator.
    pub by: String,
    /// Unix milliseconds.
    pub created: i64,
    /// Unix milliseconds; none while it is open.
    #[serde(default)]
    pub closed: Option<i64>,
    /// Whether dependencies must be met before a claim.
    #[serde(default)]
    pub strict: bool,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// By handle in lower case.
    #[serde(default)]
    pub members: BTreeMap<String, MemberRecord>,
    /// The open shutdown.
    #[serde(default)]
    pub shutdown: Option<ShutdownRecord>,
}

/// An open shutdown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShutdownRecord {
    /// Its id.
    pub id: String,
    /// A handle in lower case, or `*` for the team.
    pub target: String,
    /// Handle of the author.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Unix milliseconds.
    pub requested: i64,
    /// Unix milliseconds.
    pub respond_by: i64,
    /// Handle in lower case -> `approved` or `rejected`.
    pub answers: BTreeMap<String, String>,
}

fn malformed() -> StoreError {
    StoreError::Malformed("the record of a team".to_owned())
}

fn pairs(value: &Value) -> Result<Vec<(&str, &str)>, StoreError> {
    let items = value.as_array().ok_or_else(malformed)?;
    items
        .as_chunks()
        .0
        .iter()
        .map(|[name, text]: &[Value; 2]| name.as_str().zip(text.as_str()).ok_or_else(malformed))
        .collect()
}

fn object<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Malformed(error.to_string()))
}

/// Reads the teams of `repo`, by name.
pub fn list_teams(repo: &RepoId) -> Read<Vec<TeamSummary>> {
    Read::new([Request::command(["HGETALL", &keys::teams(repo)])], |[stored]| {
        let stored: BTreeMap<&str, &str> = pairs(&stored)?.into_iter().collect();
        let count = |team: &str, kind: &str| {
            let count = stored.get(format!("{team}/{kind}").as_str());
            count.and_then(|count| count.parse().ok()).unwrap_or_default()
        };
        let teams = stored.iter().filter(|(name, _)| !name.contains('/'));
        teams
            .map(|(name, text)| {
                Ok(TeamSummary {
                    open_tasks: count(name, "open"),
                    done_tasks: count(name, "done"),
                    ..object(text)?
                })
            })
            .collect()
    })
}

/// Reads one team; `None` if there is none.
pub fn show_team(repo: &RepoId, team: &TeamName) -> Read<Option<TeamRecord>> {
    let requests = [
        Request::command(["HGETALL", &keys::team(repo, team)]),
        Request::command(["HGETALL", &keys::seen(repo, team)]),
    ];
    Read::new(requests, |[stored, seen]| {
        let seen: BTreeMap<&str, &str> = pairs(&seen)?.into_iter().collect();
        let stored = pairs(&stored)?;
        let Some((_, text)) = stored.iter().find(|(name, _)| *name == "team") else {
            return Ok(None);
        };
        let mut record: TeamRecord = object(text)?;
        for (name, text) in &stored {
            if let Some(key) = name.strip_prefix('=') {
                let mut member: MemberRecord = object(text)?;
                member.seen = seen.get(key).and_then(|seen| seen.parse().ok());
                record.members.insert(key.to_owned(), member);
            } else if *name == "shutdown" {
                record.shutdown = Some(object(text)?);
            }
        }
        Ok(Some(record))
    })
}
