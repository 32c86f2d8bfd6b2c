//! Teams, tasks and messages on the wire. Times are ISO 8601.

use coord_protocol::messages::MessageView;
use coord_protocol::tasks::{self as wire, DependencyResult, Lease, LeaseState, TaskStatus, TaskView};
use coord_protocol::teams::{MemberView, ShutdownView, TeamSummary, TeamView};

use coord_domain::format_instant;
use coord_teams_state::messages::StoredMessage;
use coord_teams_state::tasks::{self as stored, FullTask, Note};
use coord_teams_state::teams::{self, EVERYBODY, MemberRecord, ShutdownRecord, TeamRecord};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

pub(super) fn summary(team: teams::TeamSummary) -> TeamSummary {
    TeamSummary {
        name: team.name,
        leader: team.leader,
        member_count: team.members,
        created: format_instant(team.created),
        closed_at: team.closed.map(format_instant),
        open_tasks: team.open_tasks,
        done_tasks: team.done_tasks,
    }
}

/// The team as `login` sees it.
pub(super) fn team(record: TeamRecord, login: &str) -> TeamView {
    let team_shutdown = record.shutdown.as_ref().filter(|shutdown| shutdown.target == EVERYBODY);
    let shutdown_approvals = team_shutdown.map(|shutdown| answered_by(shutdown, "approved", Some(&record)));
    let shutdown = record
        .shutdown
        .as_ref()
        .map(|shutdown| shutdown_view(shutdown, Some(&record)));
    TeamView {
        shutdown_approvals: shutdown_approvals.unwrap_or_default(),
        shutdown,
        name: record.name,
        created: format_instant(record.created),
        leader: record.leader,
        members: record
            .members
            .into_values()
            .map(|record| member(record, login))
            .collect(),
        description: record.description,
        created_by: record.by,
        is_strict: record.strict,
        closed_at: record.closed.map(format_instant),
        open_tasks: record.open_tasks,
        done_tasks: record.done_tasks,
    }
}

fn member(record: MemberRecord, login: &str) -> MemberView {
    MemberView {
        is_yours: record.login == login,
        joined_after: record.from,
        read_to: record.read,
        agent_id: record.handle,
        agent_name: record.name,
        agent_type: record.kind,
        joined_at: format_instant(record.joined),
        login: record.login,
        agent: record.agent,
        last_seen: record.seen.map(format_instant),
        is_live: record.is_live,
        ended_at: record.ended.map(format_instant),
        claims: words(&record.claims),
        unread: record.unread,
    }
}

/// A shutdown. With its team, handles have the case in which their members joined.
pub(super) fn shutdown_view(shutdown: &ShutdownRecord, team: Option<&TeamRecord>) -> ShutdownView {
    let target = Some(shutdown.target.as_str()).filter(|target| *target != EVERYBODY);
    ShutdownView {
        id: shutdown.id.clone(),
        target: target.map(|key| member_handle(key, team)),
        by: shutdown.by.clone(),
        login: shutdown.login.clone(),
        reason: shutdown.reason.clone(),
        requested_at: format_instant(shutdown.requested),
        respond_by: format_instant(shutdown.respond_by),
        approved: answered_by(shutdown, "approved", team),
        rejected: answered_by(shutdown, "rejected", team),
    }
}

fn answered_by(shutdown: &ShutdownRecord, answer: &str, team: Option<&TeamRecord>) -> Vec<String> {
    let answers = shutdown.answers.iter().filter(|(_, given)| *given == answer);
    answers.map(|(key, _)| member_handle(key, team)).collect()
}

fn member_handle(key: &str, team: Option<&TeamRecord>) -> String {
    let member = team.and_then(|team| team.members.get(key));
    member.map_or(key, |member| &member.handle).to_owned()
}

/// A task without its texts.
pub(super) fn task(task: stored::TaskView) -> TaskView {
    let now = task.read_at;
    let lease = task.lease(now);
    let owner = task.owner(now).map(str::to_owned);
    let owner_login = owner.as_ref().and(task.record.login.clone());
    let (warning, lapses, is_ready) = (task.warning(), task.lapses(now), task.is_ready(now));
    let record = task.record;
    let is_held = lease == LeaseState::Held;
    let previous_owner = match (&owner, record.status) {
        (None, TaskStatus::InProgress) => record.owner.or(record.had),
        _ => None,
    };
    TaskView {
        id: task.id,
        title: record.title,
        description: None,
        priority: record.priority,
        status: record.status,
        created_at: format_instant(record.created),
        updated_at: record.updated.map(format_instant),
        owner,
        owner_login,
        claimed_at: record.claimed.map(format_instant),
        completed_at: record.completed.map(format_instant),
        dependencies: task.dependencies,
        blocks: task.blocks,
        warning,
        files: record.files,
        branch: record.branch,
        files_claimed_on: record.locked,
        reserved_until: record
            .reserved
            .filter(|until| record.assignee.is_some() && *until > now)
            .map(format_instant),
        assignee: record.assignee,
        created_by: record.by,
        created_by_login: record.by_login,
        lease: Lease {
            state: lease,
            expires: record.expires.filter(|_| is_held).map(format_instant),
            token: record.token.filter(|_| lease != LeaseState::None),
        },
        lapses,
        previous_owner,
        notes: Vec::new(),
        result: None,
        met_dependencies: task.met_dependencies,
        block_count: task.block_count,
        is_ready,
        intent_id: record.intent_id,
    }
}

/// A task with its texts, and the results of its dependencies.
pub(super) fn full_task(full: FullTask) -> (TaskView, Vec<DependencyResult>) {
    let mut view = task(full.task);
    view.description = full.description;
    view.notes = full.notes.into_iter().map(note).collect();
    view.result = full.result;
    (view, full.results)
}

fn note(note: Note) -> wire::Note {
    wire::Note {
        by: note.by,
        login: note.login,
        time: format_instant(note.time),
        text: note.text,
    }
}

/// Most recipients that a message lists as not having read it.
const MAX_UNREAD_LISTED: usize = 20;

/// A message that `unread_by` have not confirmed.
pub(super) fn message(message: StoredMessage, is_read: bool, mut unread_by: Vec<String>) -> MessageView {
    let unread_count = unread_by.len() as u64;
    unread_by.truncate(MAX_UNREAD_LISTED);
    MessageView {
        unread_count,
        id: message.id,
        from: message.from,
        login: message.login,
        to: message.to,
        recipients: message.recipients,
        message: message.message,
        kind: message.kind,
        timestamp: format_instant(message.time),
        read: is_read,
        summary: message.summary,
        task_id: message.task_id,
        reply_to: message.reply_to,
        unread_by,
    }
}
