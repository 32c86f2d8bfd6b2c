//! Reads a team from the server, over all pages.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coord_agent::terminal::output::note;
use coord_opencode_tools::plugin_records;
use coord_protocol::tasks::{Lease, TaskView};
use coord_protocol::teams::{MemberView, ShutdownView, TeamCaller, TeamView};
use coord_protocol::{Client, ClientError, ErrorCode, HistoryFilter, TaskFilter};
use coord_teams::bounds::TASK_FILES;
use coord_teams::compare::{StoreMember, StoreMessage, StoreTeam};
use coord_teams::names::{Handle, TaskId, TeamName};
use coord_teams::time::Time;

/// The number of tasks or messages to read in one request.
const PAGE_SIZE: u32 = 500;

/// The number of new messages after which no further page is read. Rules of the store bound how many it keeps.
const MAX_MESSAGES: usize = 200_000;

/// The length of a claim for a task whose file says that it is in progress. It is long, because an agent that works
/// through files renews nothing.
pub(super) const LEASE_SECONDS: u32 = 3600;

/// The longest wait of one request for the rate limits of the server, all pauses together.
const RATE_LIMIT_TIMEOUT: Duration = Duration::from_secs(300);

/// Whether this process has announced a wait for rate limits.
static HAS_ANNOUNCED_WAIT: AtomicBool = AtomicBool::new(false);

/// A team of a repository on a server.
#[derive(Clone, Debug)]
pub(super) struct TeamReference {
    /// A client without an agent, so that each request can name one.
    pub client: Client,
    pub repo_url: String,
    pub team: TeamName,
}

/// A team, and the data that requests of its members need.
#[derive(Debug)]
pub(super) struct ServerTeam {
    /// The records to compare.
    pub team: StoreTeam,
    /// When it was created; distinguishes it from another team with its name.
    pub created: String,
    pub agents: BTreeMap<Handle, Option<String>>,
    pub shutdown: Option<ShutdownView>,
    /// The claims of tasks.
    pub leases: BTreeMap<TaskId, Lease>,
    /// The digest of the team as the server shows it.
    pub digest: String,
}

/// Messages from earlier reads, which do not change.
pub(super) type Messages = BTreeMap<u64, StoreMessage>;

/// Repeats a request that exceeds a rate limit, after the time that the server names. Announces the first such wait of
/// the process on standard error.
///
/// # Errors
/// When the server returns another error, or no response.
pub(super) async fn retry_rate_limited<T>(
    mut call: impl AsyncFnMut() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let mut waited = Duration::ZERO;
    loop {
        match call().await {
            Err(ClientError::Refused {
                status: 429,
                retry_after: Some(seconds),
                ..
            }) if waited < RATE_LIMIT_TIMEOUT => {
                if !HAS_ANNOUNCED_WAIT.swap(true, Ordering::Relaxed) {
                    note("the server's rate limit is reached; waiting");
                }
                let pause = Duration::from_secs(seconds.clamp(1, 60));
                tokio::time::sleep(pause).await;
                waited += pause;
            }
            result => return result,
        }
    }
}

impl TeamReference {
    /// The caller of a request as `agent`.
    pub fn caller(&self, agent: Option<&str>) -> TeamCaller {
        TeamCaller {
            repo_url: Some(self.repo_url.clone()),
            team: Some(self.team.to_string()),
            agent_id: agent.map(str::to_owned),
        }
    }

    /// Reads the team; `None` if it does not exist. Adds new messages to `messages`.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn read(&self, messages: &mut Messages) -> Result<Option<ServerTeam>, ClientError> {
        let result = retry_rate_limited(async || self.client.team(&self.repo_url, self.team.as_str()).await).await;
        let view = match result {
            Ok(response) => response.team,
            Err(ClientError::Refused { status: 404, error, .. }) if error.error == ErrorCode::UnknownTeam => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let (tasks, ()) = futures::try_join!(self.read_tasks(), self.read_new_messages(&view.members, messages))?;
        self.server_team(view, tasks, messages).map(Some)
    }

    async fn read_tasks(&self) -> Result<Vec<TaskView>, ClientError> {
        let caller = self.caller(None);
        let mut filter = TaskFilter {
            limit: Some(PAGE_SIZE),
            has_descriptions: true,
            ..TaskFilter::default()
        };
        let mut tasks = Vec::new();
        loop {
            let page = retry_rate_limited(async || self.client.tasks(&caller, &filter).await).await?;
            tasks.extend(page.tasks);
            filter.after = page.next;
            if filter.after.is_none() || tasks.len() > TASK_FILES {
                return Ok(tasks);
            }
        }
    }

    /// Adds the messages to `messages` that are newer than all of these.
    async fn read_new_messages(&self, members: &[MemberView], messages: &mut Messages) -> Result<(), ClientError> {
        let caller = self.caller(None);
        let last_id = messages.last_key_value().map_or(0, |(id, _)| *id);
        let mut filter = HistoryFilter {
            limit: Some(PAGE_SIZE),
            ..HistoryFilter::default()
        };
        let mut new_messages = Messages::new();
        loop {
            let page = retry_rate_limited(async || self.client.messages(&caller, &filter).await).await?;
            let reaches_last = page.messages.iter().any(|message| message.id <= last_id);
            for message in page.messages.into_iter().filter(|message| message.id > last_id) {
                let id = message.id;
                new_messages.insert(id, plugin_records::message(message, members).map_err(invalid_response)?);
            }
            filter.before = page.earlier.filter(|before| !reaches_last && *before > last_id + 1);
            if filter.before.is_none() || new_messages.len() >= MAX_MESSAGES {
                messages.append(&mut new_messages);
                return Ok(());
            }
        }
    }

    fn server_team(
        &self,
        view: TeamView,
        tasks: Vec<TaskView>,
        messages: &Messages,
    ) -> Result<ServerTeam, ClientError> {
        let digest = digest_of(view.clone());
        let (mut members, mut agents) = (BTreeMap::new(), BTreeMap::new());
        let approvals = view.shutdown_approvals.iter().map(|name| parse_handle(name));
        let mut approvals = approvals.collect::<Result<Vec<Handle>, _>>()?;
        let leader = parse_handle(&view.leader)?;
        if view.closed_at.is_some() {
            approvals.push(leader.clone());
        }
        for member in view.members {
            let handle = parse_handle(&member.agent_id)?;
            if member.ended_at.is_some() {
                approvals.push(handle.clone());
            }
            agents.insert(handle.clone(), member.agent);
            let member = StoreMember {
                name: member.agent_name,
                kind: member.agent_type,
                joined_at: parse_time(&member.joined_at)?,
                joined: member.joined_after,
                read_to: member.read_to,
                ours: member.is_yours,
            };
            members.insert(handle, member);
        }
        let mut leases = BTreeMap::new();
        let mut store_tasks = BTreeMap::new();
        for task in tasks {
            let id = TaskId::parse(&task.id).map_err(invalid_response)?;
            leases.insert(id.clone(), task.lease.clone());
            store_tasks.insert(id, plugin_records::task(task).map_err(invalid_response)?);
        }
        let team = StoreTeam {
            name: self.team.clone(),
            created: parse_time(&view.created)?,
            leader,
            description: view.description,
            members,
            approvals: approvals.into_iter().collect(),
            shutdown_open: view.shutdown.as_ref().is_some_and(|shutdown| shutdown.target.is_none()),
            closed: view.closed_at.is_some(),
            tasks: store_tasks,
            messages: messages.clone(),
        };
        Ok(ServerTeam {
            team,
            created: view.created,
            agents,
            shutdown: view.shutdown,
            leases,
            digest,
        })
    }
}

/// The digest of a team, without the fields that change as time passes.
pub(super) fn digest_of(mut team: TeamView) -> String {
    for member in &mut team.members {
        (member.last_seen, member.is_live) = (None, false);
    }
    sha1_smol::Sha1::from(serde_json::to_string(&team).unwrap_or_default()).hexdigest()
}

pub(super) fn invalid_response(problem: impl std::fmt::Display) -> ClientError {
    ClientError::Invalid(format!("the server's answer: {problem}"))
}

fn parse_handle(text: &str) -> Result<Handle, ClientError> {
    Handle::parse(text).map_err(invalid_response)
}

fn parse_time(text: &str) -> Result<Time, ClientError> {
    Time::parse(text).map_err(invalid_response)
}
