//! A team as the server has it, read over all pages.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coord_agent::terminal::output::note;
use coord_opencode_tools::plugin_records;
use coord_protocol::tasks::{Lease, TaskView};
use coord_protocol::teams::{MemberView, ShutdownView, TeamCaller, TeamView};
use coord_protocol::{Client, ClientError, HistoryFilter, TaskFilter};
use coord_teams::bounds::TASK_FILES;
use coord_teams::compare::{StoreMember, StoreMessage, StoreTeam};
use coord_teams::names::{Handle, TaskId, TeamName};
use coord_teams::time::Time;

/// Tasks, and messages, of a request.
const AT_ONCE: u32 = 500;

/// Most messages that are read: the store's own rules bound how many it keeps.
const MOST_MESSAGES: usize = 200_000;

/// Seconds of a claim that is made for a file: an agent that works through files renews nothing.
pub(super) const LEASE_SECONDS: u32 = 3600;

/// How long the server's limits of requests are waited for, in all.
const PATIENCE: Duration = Duration::from_secs(300);

/// Whether a wait for rate limits was already announced.
static IS_SAID: AtomicBool = AtomicBool::new(false);

/// Which team of which server.
#[derive(Clone, Debug)]
pub(super) struct TeamReference {
    /// A client without an agent, so that each request can name its own.
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
    /// The agents of the handles.
    pub agents: BTreeMap<Handle, Option<String>>,
    pub shutdown: Option<ShutdownView>,
    /// The claims of tasks.
    pub leases: BTreeMap<TaskId, Lease>,
    /// The digest of its visible part.
    pub shown: String,
}

/// Messages that were read before: they do not change.
pub(super) type Messages = BTreeMap<u64, StoreMessage>;

/// Repeats a request that comes too early by the limits of the server, after the time that it names. The first such wait of the
/// process is announced on standard error.
///
/// # Errors
/// When the server returns another error, or no response.
pub(super) async fn patiently<T>(mut ask: impl AsyncFnMut() -> Result<T, ClientError>) -> Result<T, ClientError> {
    let mut waited = Duration::ZERO;
    loop {
        match ask().await {
            Err(ClientError::Refused {
                status: 429,
                retry_after: Some(seconds),
                ..
            }) if waited < PATIENCE => {
                if !IS_SAID.swap(true, Ordering::Relaxed) {
                    note("the server's limits of requests make this wait");
                }
                let pause = Duration::from_secs(seconds.clamp(1, 60));
                tokio::time::sleep(pause).await;
                waited += pause;
            }
            answered => return answered,
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

    /// The team as it is; `None` where there is none.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn read(&self, messages: &mut Messages) -> Result<Option<ServerTeam>, ClientError> {
        let shown = patiently(async || self.client.team(&self.repo_url, self.team.as_str()).await).await;
        let view = match shown {
            Ok(shown) => shown.team,
            Err(ClientError::Refused { status: 404, error, .. })
                if error.error == coord_protocol::ErrorCode::UnknownTeam =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let (tasks, ()) = futures::try_join!(self.tasks(), self.news(&view.members, messages))?;
        self.put_together(view, tasks, messages).map(Some)
    }

    async fn tasks(&self) -> Result<Vec<TaskView>, ClientError> {
        let caller = self.caller(None);
        let mut filter = TaskFilter {
            limit: Some(AT_ONCE),
            has_descriptions: true,
            ..TaskFilter::default()
        };
        let mut tasks = Vec::new();
        loop {
            let page = patiently(async || self.client.tasks(&caller, &filter).await).await?;
            tasks.extend(page.tasks);
            filter.after = page.next;
            if filter.after.is_none() || tasks.len() > TASK_FILES {
                return Ok(tasks);
            }
        }
    }

    /// Reads the messages that are newer than all of `messages`.
    async fn news(&self, members: &[MemberView], messages: &mut Messages) -> Result<(), ClientError> {
        let caller = self.caller(None);
        let known = messages.last_key_value().map_or(0, |(number, _)| *number);
        let mut filter = HistoryFilter {
            limit: Some(AT_ONCE),
            ..HistoryFilter::default()
        };
        let mut news = Messages::new();
        loop {
            let page = patiently(async || self.client.messages(&caller, &filter).await).await?;
            let is_known = page.messages.iter().any(|message| message.id <= known);
            for message in page.messages.into_iter().filter(|message| message.id > known) {
                let (id, message) = (message.id, plugin_records::message(message, members).map_err(odd)?);
                news.insert(id, message);
            }
            filter.before = page.earlier.filter(|before| !is_known && *before > known + 1);
            if filter.before.is_none() || news.len() >= MOST_MESSAGES {
                messages.append(&mut news);
                return Ok(());
            }
        }
    }

    fn put_together(
        &self,
        view: TeamView,
        tasks: Vec<TaskView>,
        messages: &Messages,
    ) -> Result<ServerTeam, ClientError> {
        let shown = digest_of(view.clone());
        let (mut members, mut agents) = (BTreeMap::new(), BTreeMap::new());
        let approvals = view.shutdown_approvals.iter().map(|name| handle(name));
        let mut approvals = approvals.collect::<Result<Vec<Handle>, _>>()?;
        let leader = handle(&view.leader)?;
        if view.closed_at.is_some() {
            approvals.push(leader.clone());
        }
        for member in view.members {
            let handle = handle(&member.agent_id)?;
            if member.ended_at.is_some() {
                approvals.push(handle.clone());
            }
            agents.insert(handle.clone(), member.agent);
            let member = StoreMember {
                name: member.agent_name,
                kind: member.agent_type,
                joined_at: time(&member.joined_at)?,
                joined: member.joined_after,
                read_to: member.read_to,
                ours: member.is_yours,
            };
            members.insert(handle, member);
        }
        let mut leases = BTreeMap::new();
        let mut stored = BTreeMap::new();
        for task in tasks {
            let id = TaskId::parse(&task.id).map_err(odd)?;
            leases.insert(id.clone(), task.lease.clone());
            stored.insert(id, plugin_records::task(task).map_err(odd)?);
        }
        let team = StoreTeam {
            name: self.team.clone(),
            created: time(&view.created)?,
            leader,
            description: view.description,
            members,
            approvals: approvals.into_iter().collect(),
            shutdown_open: view.shutdown.as_ref().is_some_and(|shutdown| shutdown.target.is_none()),
            closed: view.closed_at.is_some(),
            tasks: stored,
            messages: messages.clone(),
        };
        Ok(ServerTeam {
            team,
            created: view.created,
            agents,
            shutdown: view.shutdown,
            leases,
            shown,
        })
    }
}

/// The digest of a team, without fields that change by time alone.
pub(super) fn digest_of(mut team: TeamView) -> String {
    for member in &mut team.members {
        (member.last_seen, member.is_live) = (None, false);
    }
    sha1_smol::Sha1::from(serde_json::to_string(&team).unwrap_or_default()).hexdigest()
}

pub(super) fn odd(problem: impl std::fmt::Display) -> ClientError {
    ClientError::Invalid(format!("the server's answer: {problem}"))
}

fn handle(text: &str) -> Result<Handle, ClientError> {
    Handle::parse(text).map_err(odd)
}

fn time(text: &str) -> Result<Time, ClientError> {
    Time::parse(text).map_err(odd)
}
