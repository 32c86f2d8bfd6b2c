//! A member of a team, and what it asks.

use coord_domain::team::{Handle, TaskId, TeamName};
use coord_domain::{AgentId, Branch, Holder, UserId};
use coord_protocol::team_event::MessageType;
use coord_settings::Rates;
use coord_state::admission::{AdmissionTerms, Admitted, HeadTerms, USES_EVERYTHING};
use coord_teams_state::departures::{self, ShutdownStep};
use coord_teams_state::messages::{
    Inbox, MessageFilter, MessagePage, NewMessage, SentMessage, list_messages, read_messages, send_message,
};
use coord_teams_state::tasks::{
    self, ClaimedFiles, ClaimedTask, CompletedTask, FullTask, NewTask, NothingReady, ReleasedFiles, ReleasedTask,
    TaskChanges, TaskClaim, TaskEnd, TaskFilter, TaskPage, TaskView,
};
use coord_teams_state::teams::{
    self, JoinKind, NewMember, RequestKey, TeamCallResponse, TeamRecord, TeamRefusal, TeamTerms, Waiting, create_team,
    hand_over, join_team, show_team,
};
use serde_json::{Value as Json, json};

use super::{World, answered};

/// An agent that acts in a team.
#[derive(Clone)]
pub struct Mate<'w> {
    pub world: &'w World,
    pub holder: Holder,
    pub team: TeamName,
    branch: Branch,
}

pub type Answer<T> = Result<T, TeamRefusal>;

pub fn task_id(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

pub fn handle(text: &str) -> Handle {
    Handle::parse(text).unwrap()
}

pub fn titled(title: &str) -> NewTask {
    NewTask {
        title: title.to_owned(),
        ..NewTask::default()
    }
}

/// The key of a request, and the content that it stands for.
pub fn key<'a>(key: &'a str, content: &'a str) -> RequestKey<'a> {
    RequestKey { key, content }
}

impl World {
    /// Changes the JSON that a field of a hash has.
    pub async fn edit_json(&self, key: &str, field: &str, edit: impl FnOnce(&mut Json)) {
        let mut value = self.stored_json(key, field).await;
        edit(&mut value);
        self.command(["HSET", key, field, &value.to_string()]).await;
    }

    /// The JSON that a field of a hash has.
    pub async fn stored_json(&self, key: &str, field: &str) -> Json {
        let stored = self.command(["HGET", key, field]).await;
        serde_json::from_str(stored.as_str().unwrap()).unwrap()
    }

    /// The events of one type, the oldest first.
    pub async fn events_of_type(&self, kind: &str) -> Vec<Json> {
        let events = self.events().await.into_iter().map(|(_, event)| event);
        events.filter(|event| event["type"] == kind).collect()
    }

    /// `ann` or `ann/agent`, who asks about `team`.
    pub fn mate(&self, name: &str, team: &str) -> Mate<'_> {
        let (user, agent) = match name.split_once('/') {
            Some((user, agent)) => (user, Some(AgentId::parse(agent).unwrap())),
            None => (name, None),
        };
        Mate {
            world: self,
            holder: Holder {
                user_id: UserId::parse(user).unwrap(),
                user_name: user.to_owned(),
                agent_id: agent,
            },
            team: TeamName::parse(team).unwrap(),
            branch: Branch::parse("main").unwrap(),
        }
    }

    /// The team `alpha`, which `lead` leads, and members with the others as logins and handles.
    pub async fn team_of<'w, const N: usize>(&'w self, others: [&str; N]) -> (Mate<'w>, [Mate<'w>; N]) {
        let lead = self.mate("lead", "alpha");
        lead.creates("lead").await.unwrap();
        let mates = others.map(|name| self.mate(name, "alpha"));
        for (mate, name) in mates.iter().zip(others) {
            mate.joins(name).await.unwrap();
        }
        (lead, mates)
    }
}

/// The task of a claim that must be granted.
pub fn claimed(claim: TaskClaim) -> ClaimedTask {
    match claim {
        TaskClaim::Claimed(claimed) => *claimed,
        claim => panic!("{claim:?}"),
    }
}

/// Why there is no next task, which must be so.
pub fn nothing(claim: TaskClaim) -> NothingReady {
    match claim {
        TaskClaim::Nothing(nothing) => *nothing,
        claim => panic!("{claim:?}"),
    }
}

/// A task that must be completed.
pub fn completed(end: TaskEnd) -> CompletedTask {
    match end {
        TaskEnd::Completed(completed) => *completed,
        end => panic!("{end:?}"),
    }
}

/// Returns a task that must have been released.
pub fn released_task(end: TaskEnd) -> ReleasedTask {
    match end {
        TaskEnd::Released(released) => *released,
        end => panic!("{end:?}"),
    }
}

/// The outcome, or the refusal by the rules of the team.
pub fn refused_or<T>(admitted: Admitted<TeamCallResponse<T>>) -> Admitted<Answer<T>> {
    admitted.map(|answer| match answer {
        Ok((outcome, _)) => Ok(outcome),
        Err(refused) => Err(refused.refusal),
    })
}

/// Returns the items that wait for the caller, whatever the rules of the team say.
fn waiting<T: std::fmt::Debug>(admitted: Admitted<TeamCallResponse<T>>) -> Waiting {
    match admitted {
        Admitted::Outcome(Ok((_, waiting))) => waiting,
        Admitted::Outcome(Err(refused)) => refused.waiting,
        Admitted::Denied(denial) => panic!("{denial:?}"),
    }
}

fn member<'a>(handle: &'a Handle, name: &'a str) -> NewMember<'a> {
    NewMember {
        handle,
        name,
        kind: "agent",
    }
}

/// Runs a call of the state with the terms of `$self`.
macro_rules! ask {
    ($self:ident, $call:path $(, $argument:expr)*) => {{
        let terms = $self.terms();
        answered(refused_or($call(&*$self.world.store, &terms $(, $argument)*).await.unwrap()))
    }};
}

impl Mate<'_> {
    pub fn terms(&self) -> TeamTerms<'_> {
        TeamTerms {
            admission: AdmissionTerms {
                work_branch: None,
                repo: &self.world.repo,
                branch: &self.branch,
                holder: &self.holder,
                rates: Rates::NONE,
                head: HeadTerms::Any,
                known_commits: &[],
                uses: &USES_EVERYTHING,
            },
            team: &self.team,
            is_assumed: false,
        }
    }

    pub async fn creates(&self, name: &str) -> Answer<()> {
        self.creates_as(name, false).await
    }

    pub async fn creates_as(&self, name: &str, is_strict: bool) -> Answer<()> {
        ask!(self, create_team, &member(&handle(name), name), is_strict, "")
    }

    pub async fn joins(&self, name: &str) -> Answer<JoinKind> {
        ask!(self, join_team, &member(&handle(name), name))
    }

    pub async fn hands_over(&self, to: &str) -> Answer<String> {
        ask!(self, hand_over, &handle(to))
    }

    pub async fn leaves(&self) -> Answer<Vec<String>> {
        ask!(self, departures::leave_team)
    }

    pub async fn deletes_team(&self) -> Answer<()> {
        ask!(self, departures::delete_team)
    }

    pub async fn shows_team(&self) -> Answer<TeamRecord> {
        ask!(self, show_team)
    }

    pub async fn adds(&self, tasks: &[NewTask]) -> Answer<Vec<String>> {
        self.adds_with_key(RequestKey::NONE, tasks).await
    }

    pub async fn adds_with_key(&self, key: RequestKey<'_>, tasks: &[NewTask]) -> Answer<Vec<String>> {
        ask!(self, tasks::create_tasks, key, tasks).map(|created| created.ids)
    }

    pub async fn updates(&self, id: &str, changes: &TaskChanges) -> Answer<tasks::UpdateOutcome> {
        ask!(self, tasks::update_task, &task_id(id), changes)
    }

    pub async fn claims(&self, id: &str) -> Answer<ClaimedTask> {
        self.claims_for(id, 900).await
    }

    pub async fn claims_for(&self, id: &str, seconds: u32) -> Answer<ClaimedTask> {
        ask!(self, tasks::claim_task, &task_id(id), seconds, &ClaimedFiles::Unchanged).map(claimed)
    }

    pub async fn takes_next(&self) -> Answer<TaskClaim> {
        self.takes_next_with_key(RequestKey::NONE).await
    }

    pub async fn takes_next_with_key(&self, key: RequestKey<'_>) -> Answer<TaskClaim> {
        ask!(self, tasks::next_task, key, 900, &[], &ClaimedFiles::Unchanged)
    }

    pub async fn completes(&self, id: &str) -> Answer<CompletedTask> {
        self.completes_with(id, None, "").await
    }

    pub async fn completes_with(&self, id: &str, token: Option<i64>, result: &str) -> Answer<CompletedTask> {
        let files = ReleasedFiles::Unchanged;
        ask!(self, tasks::complete_task, &task_id(id), token, result, &files).map(completed)
    }

    pub async fn releases(&self, id: &str, note: &str) -> Answer<FullTask> {
        self.releases_with(id, None, note).await
    }

    pub async fn releases_with(&self, id: &str, token: Option<i64>, note: &str) -> Answer<FullTask> {
        let files = ReleasedFiles::Unchanged;
        ask!(self, tasks::release_task, &task_id(id), token, note, &files).map(|end| released_task(end).task)
    }

    pub async fn assigns(&self, id: &str, to: Option<&str>) -> Answer<FullTask> {
        ask!(self, tasks::assign_task, &task_id(id), to.map(handle).as_ref())
    }

    pub async fn deletes(&self, id: &str, is_unlinked: bool) -> Answer<tasks::Unblocked> {
        ask!(self, tasks::delete_task, &task_id(id), is_unlinked)
    }

    pub async fn shows(&self, id: &str) -> Answer<FullTask> {
        ask!(self, tasks::show_task, &task_id(id))
    }

    /// The task as the team shows it.
    pub async fn task(&self, id: &str) -> TaskView {
        self.shows(id).await.unwrap().task
    }

    pub async fn lists(&self, after: u64, most: usize, filter: &TaskFilter<'_>) -> Answer<TaskPage> {
        ask!(self, tasks::list_tasks, after, most, filter)
    }

    /// Sends a plain text to members, or to all others.
    pub async fn sends_text(&self, to: &[&str], text: &str) -> Answer<SentMessage> {
        self.sends(MessageType::Plain, to, text, RequestKey::NONE).await
    }

    pub async fn sends(&self, kind: MessageType, to: &[&str], text: &str, key: RequestKey<'_>) -> Answer<SentMessage> {
        let to: Vec<Handle> = to.iter().map(|name| handle(name)).collect();
        let message = NewMessage {
            kind,
            text,
            summary: "",
            task: None,
            reply_to: None,
            to: &to,
        };
        ask!(self, send_message, key, &message)
    }

    pub async fn history(&self, most: usize, filter: &MessageFilter<'_>) -> Answer<MessagePage> {
        ask!(self, list_messages, most, 256 * 1024, *filter)
    }

    /// Reads on from the last cursor that it has sent.
    pub async fn inbox(&self) -> Inbox {
        self.reads(None).await.unwrap()
    }

    pub async fn reads(&self, cursor: Option<u64>) -> Answer<Inbox> {
        self.reads_most(cursor, 200).await
    }

    pub async fn reads_most(&self, cursor: Option<u64>, most: usize) -> Answer<Inbox> {
        ask!(self, read_messages, cursor, most, 256 * 1024, true)
    }

    /// Another agent reads the mate's inbox.
    pub async fn is_read_for(&self, cursor: Option<u64>) -> Answer<Inbox> {
        ask!(self, read_messages, cursor, 200, 256 * 1024, false)
    }

    pub async fn requests_shutdown(&self, target: Option<&str>, seconds: u32) -> Answer<ShutdownStep> {
        ask!(
            self,
            departures::request_shutdown,
            target.map(handle).as_ref(),
            "All is done",
            seconds
        )
    }

    pub async fn answers_shutdown(&self, id: &str, rejection: Option<&str>) -> Answer<ShutdownStep> {
        ask!(self, departures::answer_shutdown, id, rejection)
    }

    pub async fn forces_shutdown(&self, id: &str) -> Answer<ShutdownStep> {
        ask!(self, departures::force_shutdown, id)
    }

    /// Asserts that answers about locks find the head of the queue as it is.
    pub async fn assert_offers_are_exact(&self) {
        let (repo, world) = (&self.world.repo, self.world);
        let ready = tasks::keys::ready(repo, &self.team);
        let head = world.command(["ZRANGE", &ready, "0", "7"]).await;
        let mut expected = Vec::new();
        for id in head.as_array().unwrap().iter().filter_map(|id| id.as_str()) {
            let task = world.stored_json(&tasks::keys::tasks(repo, &self.team), id).await;
            expected.push(json!([id, self.team.as_str(), task]));
        }
        let field = format!("{}/+", self.team.key());
        let offers = world.command(["HGET", &teams::keys::members(repo), &field]).await;
        let offers = offers.as_str().unwrap_or("[]");
        assert_eq!(serde_json::from_str::<Vec<Json>>(offers).unwrap(), expected);
    }

    /// Returns the items that wait for the mate, according to a list of tasks.
    pub async fn waits(&self) -> Waiting {
        let terms = self.terms();
        let listed = tasks::list_tasks(&*self.world.store, &terms, 0, 1, &TaskFilter::default()).await;
        waiting(listed.unwrap())
    }

    /// Returns the items that wait for the mate, according to the answer to its claim of a task, which may be a
    /// refusal.
    pub async fn waits_after_claim(&self, id: &str) -> Waiting {
        let terms = self.terms();
        let claimed = tasks::claim_task(&*self.world.store, &terms, &task_id(id), 900, &ClaimedFiles::Unchanged).await;
        waiting(claimed.unwrap())
    }

    /// Lets the claim of a task, which is the caller's, be as if half of its time were gone.
    pub async fn uses_up_half(&self, id: &str) {
        let (world, mut member) = (self.world, String::new());
        let edit = |task: &mut Json| {
            let expires = task["expires"].as_i64().unwrap() - 500 * task["seconds"].as_i64().unwrap() - 1000;
            task["expires"] = expires.into();
            member = format!("={}", task["owner"].as_str().unwrap().to_lowercase());
        };
        let tasks = tasks::keys::tasks(&world.repo, &self.team);
        world.edit_json(&tasks, id, edit).await;
        let team = teams::keys::team(&world.repo, &self.team);
        let edit = |member: &mut Json| member["renew_at"] = 0.into();
        world.edit_json(&team, &member, edit).await;
    }

    /// Expires the claim of a task, as if its time had passed.
    pub async fn expire_claim(&self, id: &str) {
        let (world, team) = (self.world, &self.team);
        let edit = |task: &mut Json| {
            assert!(task["owner"].is_string(), "{task} is claimed");
            task["expires"] = 1_000_000_000_000_i64.into();
        };
        world.edit_json(&tasks::keys::tasks(&world.repo, team), id, edit).await;
        let leases = tasks::keys::leases(&world.repo, team);
        world.command(["ZADD", &leases, "1000000000000", id]).await;
        let lapses = tasks::keys::lapses(&world.repo);
        world.command(["ZADD", &lapses, "1000000000", team.key()]).await;
    }
}
