//! Changes in the files, as requests: under the same rules as all others, and as the agents of the handles.

use std::collections::{BTreeMap, BTreeSet};

use coord_agent::workplace::Failure;
use coord_protocol::ClientError;
use coord_protocol::messages::{ReadMessagesRequest, SendMessageRequest};
use coord_protocol::tasks::{ClaimTaskRequest, CompleteTaskRequest, NewTasksRequest, ReleaseTaskRequest, TaskWork};
use coord_protocol::teams::{JoinTeamRequest, MemberFields, ShutdownRequest, ShutdownStep, TeamActor};
use coord_teams::compare::{AgreedState, AppliedChange, Change, Finding, Kind, Recipient};
use coord_teams::layout::Entry;
use coord_teams::message::MessageType;
use coord_teams::names::{Handle, TaskId};
use coord_teams::refusal::Refusal;
use coord_teams::texts::BROADCAST;

use super::change::{batch, new_task, sentence, task_of};
use super::edit::edit;
use super::server::{LEASE_SECONDS, ServerTeam, TeamReference, patiently};
use super::sync_state::LockedSyncState;

/// A file has no working copy: the task's files are left alone.
pub(super) fn files_left_alone() -> TaskWork {
    TaskWork {
        claim_files: Some(false),
        ..TaskWork::default()
    }
}

/// The note on a task that was released by a file, and the reason of a shutdown that a file requests.
const NOTE: &str = "Released in its file";
const REASON: &str = "Asked for in config.json";

/// Applied changes, and their results.
pub(super) struct ChangeApplier<'a> {
    pub team_reference: &'a TeamReference,
    pub server: &'a ServerTeam,
    pub kept: &'a mut LockedSyncState,
    /// Agents of the handles, also of those that join just now.
    agents: BTreeMap<Handle, Option<String>>,
    shutdown: Option<String>,
    /// Tasks of which a step was refused: the next steps are not tried.
    broken: BTreeSet<TaskId>,
    /// Claims that were made for files.
    pub claims: BTreeMap<String, i64>,
    /// Applied changes, as sentences.
    pub applied: Vec<String>,
    /// Changes that the rules refused.
    pub refused: Vec<Finding>,
    /// Tasks whose files stay as they are.
    pub held: BTreeSet<TaskId>,
    /// Files whose changes wait for the next time, because the store has changed the same since it was read.
    pub changed_meanwhile: BTreeSet<Entry>,
    /// Identities of messages that no store will ever take.
    pub unsendable: Vec<String>,
}

impl<'a> ChangeApplier<'a> {
    pub fn new(
        team_reference: &'a TeamReference,
        server: &'a ServerTeam,
        kept: &'a mut LockedSyncState,
        claims: BTreeMap<String, i64>,
    ) -> Self {
        ChangeApplier {
            claims,
            agents: server.agents.clone(),
            shutdown: server.shutdown.as_ref().map(|shutdown| shutdown.id.clone()),
            team_reference,
            server,
            kept,
            broken: BTreeSet::new(),
            applied: Vec::new(),
            refused: Vec::new(),
            held: BTreeSet::new(),
            changed_meanwhile: BTreeSet::new(),
            unsendable: Vec::new(),
        }
    }

    /// Applies `changes` in their order.
    ///
    /// # Errors
    /// When the server does not respond, or denies the caller everything.
    pub async fn all(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let mut at = 0;
        while at < changes.len() {
            let batch = batch(&changes[at..]);
            if batch > 1 {
                if !self.create(&changes[at..at + batch]).await? {
                    for change in &changes[at..at + batch] {
                        self.one(change).await?;
                    }
                }
                at += batch;
            } else {
                self.one(&changes[at]).await?;
                at += 1;
            }
        }
        Ok(())
    }

    /// Creates several tasks at once; false where the rules refuse one of them.
    async fn create(&mut self, changes: &[Change]) -> Result<bool, Failure> {
        let Some(agent) = self.actor() else { return Ok(false) };
        let request = NewTasksRequest {
            caller: self.team_reference.caller(agent.as_deref()),
            tasks: Some(changes.iter().filter_map(new_task).collect()),
            request_key: None,
        };
        let client = &self.team_reference.client;
        match refusal(patiently(async || client.new_tasks(&request).await).await)? {
            Err(_) => Ok(false),
            Ok(_) => {
                self.note(changes, None)?;
                Ok(true)
            }
        }
    }

    async fn one(&mut self, change: &Change) -> Result<(), Failure> {
        if task_of(change).is_some_and(|id| self.broken.contains(id)) {
            return Ok(());
        }
        let done = match self.agent_of(change) {
            Some(agent) => refusal(self.ask(change, agent).await)?,
            None => Err(RefusedRequest {
                message: "this login has no handle in the team; coord team join makes one".to_owned(),
                field: None,
                is_final: false,
            }),
        };
        match done {
            Ok(StoreReply::Done(sequence)) => self.note(std::slice::from_ref(change), sequence)?,
            Ok(StoreReply::Left) => {}
            Err(refused) => self.refuse(change, refused),
        }
        Ok(())
    }

    /// The agent that makes the change: the handle's; for changes without a handle, the leader, or else any member of
    /// this login.
    fn agent_of(&self, change: &Change) -> Option<Option<String>> {
        match change {
            Change::Join { handle, .. } => Some(Some(handle.to_string())),
            Change::Claim(_, handle)
            | Change::Complete(_, handle)
            | Change::Release(_, handle)
            | Change::ReadTo(handle, _)
            | Change::RequestShutdown(handle)
            | Change::ApproveShutdown(handle) => self.agents.get(handle).cloned(),
            Change::Send { from, .. } => self.agents.get(from).cloned(),
            Change::CreateTask { .. }
            | Change::EditTask { .. }
            | Change::EditDependencies { .. }
            | Change::DeleteTask(_) => self.actor(),
        }
    }

    fn actor(&self) -> Option<Option<String>> {
        let members = &self.server.team.members;
        let is_ours = |handle: &&Handle| members.get(*handle).is_none_or(|member| member.ours);
        let leader = [&self.server.team.leader]
            .into_iter()
            .filter(|handle| members.contains_key(*handle));
        let mut handles = leader.chain(self.agents.keys()).filter(is_ours);
        handles.next().and_then(|handle| self.agents.get(handle)).cloned()
    }

    /// Makes the request.
    async fn ask(&mut self, change: &Change, agent: Option<String>) -> Result<StoreReply, ClientError> {
        let (client, team) = (&self.team_reference.client, self.team_reference.team.as_str());
        let caller = self.team_reference.caller(agent.as_deref());
        let actor = TeamActor {
            repo_url: caller.repo_url.clone(),
            agent_id: agent.clone(),
        };
        match change {
            Change::Join { handle, name, kind } => {
                let member = MemberFields {
                    handle: Some(handle.to_string()),
                    agent_name: Some(name.clone()),
                    agent_type: Some(kind.clone()),
                };
                let request = JoinTeamRequest { caller: actor, member };
                patiently(async || client.join_team(team, &request).await).await?;
                self.agents.insert(handle.clone(), agent);
            }
            Change::CreateTask { .. } => {
                let request = NewTasksRequest {
                    caller,
                    tasks: new_task(change).map(|task| vec![task]),
                    request_key: None,
                };
                patiently(async || client.new_tasks(&request).await).await?;
            }
            Change::EditTask { id, .. } | Change::EditDependencies { id, .. } | Change::DeleteTask(id) => {
                let known = self.server.team.tasks.get(id);
                if !edit(self.team_reference, &caller, change, id, known).await? {
                    self.changed_meanwhile.insert(self.entry_of(change).0);
                    self.held.insert(id.clone());
                    return Ok(StoreReply::Left);
                }
            }
            Change::Claim(id, _) => {
                let request = ClaimTaskRequest {
                    caller,
                    lease_seconds: Some(LEASE_SECONDS),
                    work: files_left_alone(),
                };
                let claimed = patiently(async || client.claim_task(id.as_str(), &request).await).await?;
                if let Some(token) = claimed.task.and_then(|task| task.lease.token) {
                    self.claims.insert(id.to_string(), token);
                }
            }
            Change::Complete(id, _) => {
                let request = CompleteTaskRequest {
                    caller,
                    work: files_left_alone(),
                    ..CompleteTaskRequest::default()
                };
                patiently(async || client.complete_task(id.as_str(), &request).await).await?;
            }
            Change::Release(id, _) => {
                let request = ReleaseTaskRequest {
                    caller,
                    note: Some(NOTE.to_owned()),
                    work: files_left_alone(),
                    ..ReleaseTaskRequest::default()
                };
                patiently(async || client.release_task(id.as_str(), &request).await).await?;
            }
            Change::Send {
                to,
                kind,
                message,
                summary,
                digest,
                ..
            } => {
                let request = SendMessageRequest {
                    caller,
                    request_key: Some(format!("sync-{digest}-{}", self.stored_count(digest))),
                    // An idle member notifies the leader, wherever its file is.
                    to: (*kind != MessageType::Idle).then(|| match to {
                        Recipient::One(handle) => vec![handle.to_string()],
                        Recipient::All => vec![BROADCAST.to_owned()],
                    }),
                    kind: (*kind == MessageType::Idle).then(|| kind.as_str().to_owned()),
                    message: Some(message.clone()),
                    summary: summary.clone(),
                    ..SendMessageRequest::default()
                };
                let sent = patiently(async || client.send_message(&request).await).await?;
                return Ok(StoreReply::Done(Some(sent.id)));
            }
            Change::ReadTo(_, sequence) => {
                let request = ReadMessagesRequest {
                    caller,
                    cursor: Some(*sequence),
                    wait: None,
                    limit: Some(1),
                    // The agent's program has changed the file, or is long dead.
                    for_another: true,
                };
                patiently(async || client.read_messages(&request).await).await?;
            }
            Change::RequestShutdown(handle) => {
                let is_asked = |shutdown: &&coord_protocol::teams::ShutdownView| {
                    shutdown.target.as_deref() == Some(handle.as_str())
                };
                let open = self.server.shutdown.as_ref().filter(is_asked);
                let request = match open {
                    // The plugin has one list for the end of the team and of a member.
                    Some(shutdown) => approval(actor, Some(shutdown.id.clone())),
                    None => ShutdownRequest {
                        caller: actor,
                        step: Some(ShutdownStep::Request),
                        reason: Some(REASON.to_owned()),
                        ..ShutdownRequest::default()
                    },
                };
                let answered = patiently(async || client.shut_down(team, &request).await).await?;
                if open.is_none() {
                    self.shutdown = answered.shutdown_id;
                }
            }
            Change::ApproveShutdown(_) => {
                let request = approval(actor, self.shutdown.clone());
                patiently(async || client.shut_down(team, &request).await).await?;
            }
        }
        Ok(StoreReply::Done(None))
    }

    /// How many messages of this identity the store has already.
    fn stored_count(&self, digest: &str) -> usize {
        let seen = self.kept.state.as_ref().map(|state| &state.seen);
        let in_inbox = |seen: &AgreedState| {
            let inboxes = seen.inboxes.values();
            let counts = inboxes.map(|inbox| inbox.iter().filter(|message| message.digest == digest).count());
            counts.max().unwrap_or_default()
        };
        let done = self.kept.done.iter();
        let since = done.filter(|done| matches!(done, AppliedChange::Sent { digest: other, .. } if other == digest));
        seen.map_or(0, in_inbox) + since.count()
    }

    fn note(&mut self, changes: &[Change], sequence: Option<u64>) -> Result<(), Failure> {
        self.applied.extend(changes.iter().map(sentence));
        let done: Vec<AppliedChange> = changes
            .iter()
            .filter_map(|change| AppliedChange::of(change, sequence))
            .collect();
        match done.is_empty() {
            true => Ok(()),
            false => Ok(self.kept.note(done)?),
        }
    }

    fn refuse(&mut self, change: &Change, refused: RefusedRequest) {
        if let Change::CreateTask { id, .. } | Change::Claim(id, _) = change {
            self.broken.insert(id.clone());
        }
        self.held.extend(self.tasks_of(change));
        if let (Change::Send { digest, .. }, true) = (change, refused.is_final) {
            self.unsendable.push(digest.clone());
        }
        let (entry, field) = self.entry_of(change);
        self.refused.push(Finding {
            kind: Kind::Refused,
            refusal: Refusal {
                file: entry.path(),
                field: field.map(str::to_owned).or(refused.field).unwrap_or_default(),
                message: refused.message,
            },
        });
    }

    /// The tasks whose files contain refused changes: the files stay as they are until the reason has been read. A missing file is
    /// written anew, because it contains nothing.
    fn tasks_of(&self, change: &Change) -> Vec<TaskId> {
        match change {
            Change::DeleteTask(_) => Vec::new(),
            Change::EditDependencies { id, add, remove } => {
                [id].into_iter().chain(add).chain(remove).cloned().collect()
            }
            other => task_of(other).into_iter().cloned().collect(),
        }
    }

    /// The file that a change is of, and the field where it is of one.
    fn entry_of(&self, change: &Change) -> (Entry, Option<&'static str>) {
        let team = self.team_reference.team.clone();
        let task = |id: &TaskId| Entry::Task(team.clone(), id.clone());
        match change {
            Change::Join { .. } => (Entry::Config(team), Some("members")),
            Change::RequestShutdown(_) | Change::ApproveShutdown(_) => (Entry::Config(team), Some("shutdownApprovals")),
            Change::CreateTask { id, .. } | Change::EditTask { id, .. } | Change::DeleteTask(id) => (task(id), None),
            Change::EditDependencies { id, .. } => (task(id), Some("dependencies")),
            Change::Claim(id, _) | Change::Complete(id, _) | Change::Release(id, _) => (task(id), Some("status")),
            Change::Send {
                to: Recipient::One(to), ..
            } => (Entry::Inbox(team, to.clone()), Some("message")),
            Change::Send { from, .. } => (Entry::Inbox(team, from.clone()), Some("broadcast")),
            Change::ReadTo(handle, _) => (Entry::Inbox(team, handle.clone()), Some("read")),
        }
    }
}

enum StoreReply {
    /// The change; the number of a message.
    Done(Option<u64>),
    /// Nothing: it has changed the same meanwhile.
    Left,
}

/// A request that the rules refuse.
struct RefusedRequest {
    message: String,
    field: Option<String>,
    /// Whether it would be refused again.
    is_final: bool,
}

/// The answer, or why the rules refuse the request.
fn refusal<T>(answered: Result<T, ClientError>) -> Result<Result<T, RefusedRequest>, Failure> {
    match answered {
        Ok(answer) => Ok(Ok(answer)),
        Err(ClientError::Refused { status, error, .. })
            if error.error.is_of_team()
                || matches!(status, 400 | 409 | 413)
                || error.error == coord_protocol::ErrorCode::UnknownTask =>
        {
            Ok(Err(RefusedRequest {
                message: error.message.clone(),
                field: error.field.as_ref().map(ToString::to_string),
                is_final: status == 400,
            }))
        }
        Err(error) => Err(error.into()),
    }
}

fn approval(caller: TeamActor, shutdown_id: Option<String>) -> ShutdownRequest {
    ShutdownRequest {
        caller,
        step: Some(ShutdownStep::Approve),
        shutdown_id,
        ..ShutdownRequest::default()
    }
}
