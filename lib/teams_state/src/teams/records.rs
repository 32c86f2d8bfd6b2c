//! Teams and members as they are stored, and their reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::keys;
use super::scripts::{SHOW_TEAM, TELL_WAITING};
use super::terms::{TeamOutcome, TeamTerms, run};
use coord_domain::{Holder, RepoId};
use coord_state::admission::RequestKind;
use coord_state::read::{Read, parse_json};
use coord_state::reply::{JsonText, Reply};
use coord_state::request_keys::Keys;
use coord_state::seams::Membership;
use coord_store::{Request, Store, StoreError, Value};

/// A team in a listing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct TeamSummary {
    pub name: String,
    /// Handle of its leader.
    pub leader: String,
    /// Unix milliseconds.
    pub created: i64,
    /// Unix milliseconds; none while it is open.
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

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct MemberRecord {
    pub handle: String,
    /// Verified login.
    pub login: String,
    /// Agent of that login.
    pub agent: Option<String>,
    /// Name of the agent, to show.
    pub name: String,
    /// Kind of the agent, to show.
    pub kind: String,
    /// Unix milliseconds.
    pub joined: i64,
    /// The sequence of the newest message when it joined.
    #[serde(default)]
    pub from: u64,
    /// When it approved a shutdown, Unix milliseconds.
    pub ended: Option<i64>,
    /// Ids of its claimed tasks, separated by blanks.
    pub claims: String,
    /// When it was last seen, Unix milliseconds.
    pub seen: Option<i64>,
    /// Whether it was seen recently, or has a task.
    #[serde(default)]
    pub is_live: bool,
    /// Number of messages that no cursor has confirmed as read.
    #[serde(default)]
    pub unread: u64,
    /// The sequence up to which it has read.
    #[serde(default)]
    pub read: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TeamRecord {
    pub name: String,
    /// Handle of its leader.
    pub leader: String,
    /// Login of its creator.
    pub by: String,
    /// Unix milliseconds.
    pub created: i64,
    /// Unix milliseconds; none while it is open.
    pub closed: Option<i64>,
    /// Whether dependencies must be met before a claim.
    #[serde(default)]
    pub strict: bool,
    pub description: Option<String>,
    /// By handle in lower case.
    #[serde(default)]
    pub members: BTreeMap<String, MemberRecord>,
    pub shutdown: Option<ShutdownRecord>,
    /// Number of tasks that are not completed.
    #[serde(default)]
    pub open_tasks: u64,
    /// Number of completed tasks.
    #[serde(default)]
    pub done_tasks: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShutdownRecord {
    pub id: String,
    /// A handle in lower case, or `*` for the team.
    pub target: String,
    /// Handle of the author.
    pub by: String,
    /// Verified login of the author.
    pub login: Option<String>,
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
    let texts = value.as_pairs().ok_or_else(malformed)?.iter();
    let texts = texts.map(|[name, text]| name.as_str().zip(text.as_str()).ok_or_else(malformed));
    texts.collect()
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
                    ..parse_json(text.as_bytes())?
                })
            })
            .collect()
    })
}

/// Reads the handles of the agent `holder`, by team in lower case.
pub fn handles(repo: &RepoId, holder: &Holder) -> Read<BTreeMap<String, String>> {
    // No login has a blank.
    let field = format!("@{} {}", holder.user_id, holder.agent_or_empty());
    let request = Request::command(["HGET", &keys::members(repo), &field]);
    Read::new([request], |[stored]| match stored.as_str() {
        None => Ok(BTreeMap::new()),
        Some(text) => parse_json(text.as_bytes()),
    })
}

/// Arguments of `tell_waiting.lua`.
#[derive(Serialize)]
struct TellWaitingArgs<'a> {
    user_id: &'a str,
    agent_id: &'a str,
}

/// The answer of `tell_waiting.lua`.
#[derive(Deserialize)]
struct WaitingAnswer {
    #[serde(default)]
    waiting: Vec<Membership>,
}

/// Reads pending items for `holder` in its teams.
pub fn memberships(repo: &RepoId, holder: &Holder) -> Read<Vec<Membership>> {
    let keys = Keys::of([("members", keys::members(repo))]);
    let args = TellWaitingArgs {
        user_id: holder.user_id.as_str(),
        agent_id: holder.agent_or_empty(),
    };
    let request = Request::Script {
        script: &TELL_WAITING,
        args: keys.args(&args),
        keys: keys.into(),
    };
    Read::new([request], |[reply]| {
        let answer: WaitingAnswer = Reply::open(&TELL_WAITING, Some(reply))?.object()?;
        Ok(answer.waiting)
    })
}

/// The answer of `show_team.lua`.
#[derive(Deserialize)]
struct ShowTeamAnswer {
    team: TeamRecord,
    shutdown: Option<ShutdownRecord>,
    open_tasks: u64,
    done_tasks: u64,
    #[serde(default)]
    members: Vec<ShowTeamMember>,
}

#[derive(Deserialize)]
struct ShowTeamMember {
    record: JsonText<MemberRecord>,
    seen: Option<i64>,
    is_live: bool,
    unread: u64,
    claims: String,
    read: u64,
}

/// Reads one team with its members.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn show_team(store: &dyn Store, terms: &TeamTerms<'_>) -> TeamOutcome<TeamRecord> {
    run(store, &SHOW_TEAM, terms, RequestKind::Read, &(), |reply| {
        let answer: ShowTeamAnswer = reply.object_of("SHOWN")?;
        let members = answer.members.into_iter().map(|member| MemberRecord {
            seen: member.seen,
            is_live: member.is_live,
            unread: member.unread,
            claims: member.claims,
            read: member.read,
            ..member.record.0
        });
        let by_key = |member: MemberRecord| (member.handle.to_ascii_lowercase(), member);
        Ok(TeamRecord {
            shutdown: answer.shutdown,
            open_tasks: answer.open_tasks,
            done_tasks: answer.done_tasks,
            members: members.map(by_key).collect(),
            ..answer.team
        })
    })
    .await
}
