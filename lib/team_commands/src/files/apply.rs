//! Applies the changes in the files, as requests of the agents of the handles, under the same rules as all others.

use std::collections::{BTreeMap, BTreeSet};

use coord_agent::workplace::Failure;
use coord_protocol::messages::{ReadMessagesRequest, SendMessageRequest};
use coord_protocol::tasks::{ClaimTaskRequest, CompleteTaskRequest, NewTasksRequest, ReleaseTaskRequest, TaskWork};
use coord_protocol::teams::{JoinTeamRequest, MemberFields, ShutdownRequest, ShutdownStep, ShutdownView, TeamActor};
use coord_protocol::{ClientError, ErrorCode};
use coord_teams::compare::{AgreedState, AppliedChange, Change, Finding, FindingKind, Recipient};
use coord_teams::layout::Entry;
use coord_teams::message::MessageType;
use coord_teams::names::{Handle, TaskId};
use coord_teams::refusal::Refusal;
use coord_teams::texts::BROADCAST;

use super::change::{batch_size, new_task, sentence, task_id};
use super::edit::edit;
use super::server::{LEASE_SECONDS, ServerTeam, TeamReference, retry_rate_limited};
use super::sync_state::LockedSyncState;

/// Work on a task without locks for its files: the plugin's files do not say where the work takes place.
pub(super) fn without_files() -> TaskWork {
    TaskWork {
        claim_files: Some(false),
        ..TaskWork::default()
    }
}

/// The note on a task that a file releases.
const RELEASE_NOTE: &str = "Released in its file";

/// The reason of a shutdown that a file requests.
const SHUTDOWN_REASON: &str = "Requested in config.json";

/// Applies changes, and collects the results.
pub(super) struct ChangeApplier<'a> {
    pub team_reference: &'a TeamReference,
    pub server: &'a ServerTeam,
    pub sync_state: &'a mut LockedSyncState,
    /// The agents of the handles, including those that this sync joins.
    agents: BTreeMap<Handle, Option<String>>,
    shutdown: Option<String>,
    /// Tasks with a refused change. Their next changes are not tried.
    failed_tasks: BTreeSet<TaskId>,
    /// Claims of tasks that a file marks as in progress.
    pub claims: BTreeMap<String, i64>,
    /// Applied changes, as sentences.
    pub applied: Vec<String>,
    /// Changes that the rules refused.
    pub refused: Vec<Finding>,
    /// Tasks whose files stay as they are.
    pub held: BTreeSet<TaskId>,
    /// Files whose changes wait for the next sync, because the store has changed the same since it was read.
    pub changed_meanwhile: BTreeSet<Entry>,
    /// Digests of messages that no store will ever accept.
    pub unsendable: Vec<String>,
}

impl<'a> ChangeApplier<'a> {
    pub fn new(
        team_reference: &'a TeamReference,
        server: &'a ServerTeam,
        sync_state: &'a mut LockedSyncState,
        claims: BTreeMap<String, i64>,
    ) -> Self {
        ChangeApplier {
            claims,
            agents: server.agents.clone(),
            shutdown: server.shutdown.as_ref().map(|shutdown| shutdown.id.clone()),
            team_reference,
            server,
            sync_state,
            failed_tasks: BTreeSet::new(),
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
    pub async fn apply_all(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let mut rest = changes;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_size(rest).max(1));
            if batch.len() == 1 || !self.create_tasks(batch).await? {
                for change in batch {
                    self.apply(change).await?;
                }
            }
            rest = after;
        }
        Ok(())
    }

    /// Creates several tasks at once. Returns false if the rules refuse one of them.
    async fn create_tasks(&mut self, changes: &[Change]) -> Result<bool, Failure> {
        let Some(agent) = self.any_agent() else {
            return Ok(false);
        };
        let request = NewTasksRequest {
            caller: self.team_reference.caller(agent.as_deref()),
            tasks: Some(changes.iter().filter_map(new_task).collect()),
            request_key: None,
        };
        let client = &self.team_reference.client;
        match separate_refusal(retry_rate_limited(async || client.new_tasks(&request).await).await)? {
            Err(_) => Ok(false),
            Ok(_) => {
                self.note_applied(changes, None)?;
                Ok(true)
            }
        }
    }

    async fn apply(&mut self, change: &Change) -> Result<(), Failure> {
        if task_id(change).is_some_and(|id| self.failed_tasks.contains(id)) {
            return Ok(());
        }
        let result = match self.agent_for(change) {
            Some(agent) => separate_refusal(self.send(change, agent).await)?,
            None => Err(RefusedRequest {
                message: "this login has no handle in the team; join with coord team join".to_owned(),
                field: None,
                is_final: false,
            }),
        };
        match result {
            Ok(StoreReply::Applied(sequence)) => self.note_applied(std::slice::from_ref(change), sequence)?,
            Ok(StoreReply::Skipped) => {}
            Err(refused) => self.note_refused(change, refused),
        }
        Ok(())
    }

    /// The agent that sends the change: that of its handle, if it has one. `None` without such a member.
    fn agent_for(&self, change: &Change) -> Option<Option<String>> {
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
            | Change::DeleteTask(_) => self.any_agent(),
        }
    }

    /// The agent for a change without a handle: the leader's if the leader is of this login, or else that of any member
    /// of this login.
    fn any_agent(&self) -> Option<Option<String>> {
        let members = &self.server.team.members;
        let is_ours = |handle: &&Handle| members.get(*handle).is_none_or(|member| member.ours);
        let leader = [&self.server.team.leader]
            .into_iter()
            .filter(|handle| members.contains_key(*handle));
        let mut handles = leader.chain(self.agents.keys()).filter(is_ours);
        handles.next().and_then(|handle| self.agents.get(handle)).cloned()
    }

    async fn send(&mut self, change: &Change, agent: Option<String>) -> Result<StoreReply, ClientError> {
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
                retry_rate_limited(async || client.join_team(team, &request).await).await?;
                self.agents.insert(handle.clone(), agent);
            }
            Change::CreateTask { .. } => {
                let request = NewTasksRequest {
                    caller,
                    tasks: new_task(change).map(|task| vec![task]),
                    request_key: None,
                };
                retry_rate_limited(async || client.new_tasks(&request).await).await?;
            }
            Change::EditTask { id, .. } | Change::EditDependencies { id, .. } | Change::DeleteTask(id) => {
                let before = self.server.team.tasks.get(id);
                if !edit(self.team_reference, &caller, change, id, before).await? {
                    self.changed_meanwhile.insert(self.entry_and_field(change).0);
                    self.held.insert(id.clone());
                    return Ok(StoreReply::Skipped);
                }
            }
            Change::Claim(id, _) => {
                let request = ClaimTaskRequest {
                    caller,
                    lease_seconds: Some(LEASE_SECONDS),
                    work: without_files(),
                };
                let response = retry_rate_limited(async || client.claim_task(id.as_str(), &request).await).await?;
                if let Some(token) = response.task.and_then(|task| task.lease.token) {
                    self.claims.insert(id.to_string(), token);
                }
            }
            Change::Complete(id, _) => {
                let request = CompleteTaskRequest {
                    caller,
                    work: without_files(),
                    ..CompleteTaskRequest::default()
                };
                retry_rate_limited(async || client.complete_task(id.as_str(), &request).await).await?;
            }
            Change::Release(id, _) => {
                let request = ReleaseTaskRequest {
                    caller,
                    note: Some(RELEASE_NOTE.to_owned()),
                    work: without_files(),
                    ..ReleaseTaskRequest::default()
                };
                retry_rate_limited(async || client.release_task(id.as_str(), &request).await).await?;
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
                    // An idle member notifies the leader, whatever inbox has the message.
                    to: (*kind != MessageType::Idle).then(|| match to {
                        Recipient::One(handle) => vec![handle.to_string()],
                        Recipient::All => vec![BROADCAST.to_owned()],
                    }),
                    kind: (*kind == MessageType::Idle).then(|| kind.as_str().to_owned()),
                    message: Some(message.clone()),
                    summary: summary.clone(),
                    ..SendMessageRequest::default()
                };
                let response = retry_rate_limited(async || client.send_message(&request).await).await?;
                return Ok(StoreReply::Applied(Some(response.id)));
            }
            Change::ReadTo(_, sequence) => {
                let request = ReadMessagesRequest {
                    caller,
                    cursor: Some(*sequence),
                    wait: None,
                    limit: Some(1),
                    // The agent's program has changed the file, or ended long ago.
                    for_another: true,
                };
                retry_rate_limited(async || client.read_messages(&request).await).await?;
            }
            Change::RequestShutdown(handle) => {
                let is_target = |shutdown: &&ShutdownView| shutdown.target.as_deref() == Some(handle.as_str());
                let open = self.server.shutdown.as_ref().filter(is_target);
                let request = match open {
                    // The plugin has one list for the shutdown of the team and of a member.
                    Some(shutdown) => approval(actor, Some(shutdown.id.clone())),
                    None => ShutdownRequest {
                        caller: actor,
                        step: Some(ShutdownStep::Request),
                        reason: Some(SHUTDOWN_REASON.to_owned()),
                        ..ShutdownRequest::default()
                    },
                };
                let response = retry_rate_limited(async || client.shut_down(team, &request).await).await?;
                if open.is_none() {
                    self.shutdown = response.shutdown_id;
                }
            }
            Change::ApproveShutdown(_) => {
                let request = approval(actor, self.shutdown.clone());
                retry_rate_limited(async || client.shut_down(team, &request).await).await?;
            }
        }
        Ok(StoreReply::Applied(None))
    }

    /// The number of messages with this digest that the store already has.
    fn stored_count(&self, digest: &str) -> usize {
        let seen = self.sync_state.state.as_ref().map(|state| &state.seen);
        let seen_count = |seen: &AgreedState| {
            let inboxes = seen.inboxes.values();
            let counts = inboxes.map(|inbox| inbox.iter().filter(|message| message.digest == digest).count());
            counts.max().unwrap_or_default()
        };
        let applied = self.sync_state.applied.iter();
        let sent =
            applied.filter(|change| matches!(change, AppliedChange::Sent { digest: other, .. } if other == digest));
        seen.map_or(0, seen_count) + sent.count()
    }

    fn note_applied(&mut self, changes: &[Change], sequence: Option<u64>) -> Result<(), Failure> {
        self.applied.extend(changes.iter().map(sentence));
        let applied: Vec<AppliedChange> = changes
            .iter()
            .filter_map(|change| AppliedChange::of(change, sequence))
            .collect();
        match applied.is_empty() {
            true => Ok(()),
            false => Ok(self.sync_state.append(applied)?),
        }
    }

    fn note_refused(&mut self, change: &Change, refused: RefusedRequest) {
        if let Change::CreateTask { id, .. } | Change::Claim(id, _) = change {
            self.failed_tasks.insert(id.clone());
        }
        self.held.extend(tasks_to_hold(change));
        if let (Change::Send { digest, .. }, true) = (change, refused.is_final) {
            self.unsendable.push(digest.clone());
        }
        let (entry, field) = self.entry_and_field(change);
        self.refused.push(Finding {
            kind: FindingKind::Refused,
            refusal: Refusal {
                file: entry.path(),
                field: field.map(str::to_owned).or(refused.field).unwrap_or_default(),
                message: refused.message,
            },
        });
    }

    /// The file with the change, and the field if the change is of only one.
    fn entry_and_field(&self, change: &Change) -> (Entry, Option<&'static str>) {
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

/// The tasks whose files stay as they are after the refusal of `change`, until the user has read the reason. A sync
/// writes a missing file again, because it has no change to lose.
fn tasks_to_hold(change: &Change) -> Vec<TaskId> {
    match change {
        Change::DeleteTask(_) => Vec::new(),
        Change::EditDependencies { id, add, remove } => [id].into_iter().chain(add).chain(remove).cloned().collect(),
        other => task_id(other).into_iter().cloned().collect(),
    }
}

enum StoreReply {
    /// The store has applied the change, which has this number if it is a message.
    Applied(Option<u64>),
    /// The change was not sent, because the store has changed the same fields.
    Skipped,
}

/// A request that the rules refuse.
struct RefusedRequest {
    message: String,
    field: Option<String>,
    /// Whether the rules would refuse it again.
    is_final: bool,
}

/// Separates refusals by the rules from errors that end the sync.
fn separate_refusal<T>(result: Result<T, ClientError>) -> Result<Result<T, RefusedRequest>, Failure> {
    match result {
        Ok(response) => Ok(Ok(response)),
        Err(ClientError::Refused { status, error, .. })
            if error.error.is_team_rule()
                || matches!(status, 400 | 409 | 413)
                || error.error == ErrorCode::UnknownTask =>
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
