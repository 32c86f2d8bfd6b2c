//! Why an agent should continue at the end of its turn.

use coord_agent::mail_notes::MailNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::plain_text::{QUOTATION_NOTICE, quote_lines, visible_line};
use coord_protocol::tasks::TaskView;
use coord_protocol::teams::{MemberView, TeamView};
use coord_protocol::{HeldLock, LocksFilter, TaskFilter};

use super::super::connected_session::ConnectedSession;
use super::super::event::Moment;
use super::texts::must_answer;
use super::{MAX_TEAMS, News, caller, news};

/// Maximum number of checked ready tasks: the team would not give some of them to the member.
const MAX_TASKS: u32 = 16;

/// Maximum number of claims of a member.
const MAX_CLAIMS: usize = 50;

/// Notes that a turn ends. Returns whether [`reason_to_continue`] has started it. `None` if another process has locked
/// the notes.
pub(in super::super) fn note_end_of_turn(work: &Work, holder: &AgentId) -> Option<bool> {
    let was_kept_going = MailNotes::read(&work.working_copy, holder).was_kept_going;
    if was_kept_going {
        let mut mail = MailNotes::open(&work.working_copy, holder)?;
        mail.notes.was_kept_going = false;
        mail.save();
    }
    Some(was_kept_going)
}

/// Why the agent should continue at the end of its turn: messages wait, or a task is ready.
pub(in super::super) async fn reason_to_continue(session: ConnectedSession<'_>) -> Option<(String, News)> {
    let news = news(session, Moment::TurnEnd, false).await;
    let (reason, mut mail) = match news {
        Some(News {
            text: Some(text), mail, ..
        }) => (text, mail),
        news => {
            // Dropping the notes unlocks them without saving. The next call finds the news again.
            drop(news);
            (
                ready_task(session).await?,
                MailNotes::open(&session.work.working_copy, session.holder)?,
            )
        }
    };
    mail.notes.was_kept_going = true;
    Some((reason, News { text: None, mail }))
}

/// Why the agent should continue if no message waits: one of its teams would give it a task.
async fn ready_task(session: ConnectedSession<'_>) -> Option<String> {
    let ConnectedSession { work, holder, .. } = session;
    let notes = MailNotes::read(&work.working_copy, holder);
    for team in &notes.next_teams(MAX_TEAMS) {
        let repo_url = work.repo_url();
        let ready = TaskFilter {
            readiness: Some("ready".to_owned()),
            ..TaskFilter::default()
        };
        let (response, tasks) = tokio::join!(
            session.connection.client.team(&repo_url, team),
            list_tasks(session, team, ready)
        );
        let Some(view) = response.ok().map(|response| response.team) else {
            continue;
        };
        let Some(member) = eligible_member(&view, holder) else {
            continue;
        };
        if let Some(task) = free_task(session, team, member, &tasks).await {
            return Some(format!(
                "Coord: task {} of team \"{team}\" is ready, and you, \"{}\", may take it: task_claim, or \
                 `coord task next --team {team}`. If you cannot, notify the leader (message_send with type idle). \
                 {QUOTATION_NOTICE} Its title:\n{}",
                visible_line(&task.id),
                member.agent_id,
                quote_lines(&task.title)
            ));
        }
    }
    None
}

/// The first of `tasks` that the team would give to the member: not reserved for another member, for the branch of the
/// work, and with free files.
async fn free_task<'t>(
    session: ConnectedSession<'_>,
    team: &str,
    member: &MemberView,
    tasks: &'t [TaskView],
) -> Option<&'t TaskView> {
    let ConnectedSession { connection, work, .. } = session;
    let branch = work.branch.as_str();
    let is_reserved_for_other = |task: &TaskView| {
        let is_own = |name: &String| name.eq_ignore_ascii_case(&member.agent_id);
        task.reserved_until.is_some() && !task.assignee.as_ref().is_none_or(is_own)
    };
    let is_for_other_branch = |task: &TaskView| task.branch.as_deref().is_some_and(|other| other != branch);
    let mut tasks = tasks
        .iter()
        .filter(|task| !is_reserved_for_other(task) && (task.files.is_empty() || !is_for_other_branch(task)))
        .peekable();
    // If the first task has no files, locks are irrelevant.
    if tasks.peek()?.files.is_empty() {
        return tasks.next();
    }
    let of_branch = LocksFilter {
        branch: Some(branch.to_owned()),
        ..LocksFilter::default()
    };
    let locks = connection.client.locks(&work.repo_url(), &of_branch).await.ok()?.locks;
    let own_tasks = match member.claims.is_empty() {
        true => Vec::new(),
        false => {
            let of_member = TaskFilter {
                owner: Some(member.agent_id.clone()),
                limit: Some(MAX_CLAIMS as u32),
                ..TaskFilter::default()
            };
            list_tasks(session, team, of_member).await
        }
    };
    let is_others = |lock: &HeldLock| lock.user != member.login || lock.agent_id != member.agent;
    tasks.find(|task| {
        task.files.iter().all(|file| {
            let is_locked = locks.iter().any(|lock| lock.file_path == *file && is_others(lock));
            // The team gives a file to a member only for one task at a time.
            !is_locked && !own_tasks.iter().any(|task| task.files.contains(file))
        })
    })
}

async fn list_tasks(session: ConnectedSession<'_>, team: &str, mut filter: TaskFilter) -> Vec<TaskView> {
    filter.limit.get_or_insert(MAX_TASKS);
    let page = session
        .connection
        .client
        .tasks(&caller(session.work, team), &filter)
        .await;
    page.map(|page| page.tasks).unwrap_or_default()
}

/// The session as a member, if the team would give it a task.
fn eligible_member<'t>(team: &'t TeamView, holder: &AgentId) -> Option<&'t MemberView> {
    let member = team
        .members
        .iter()
        .find(|member| member.is_yours && member.agent.as_deref() == Some(holder.as_str()))?;
    let must_answer_shutdown = team
        .shutdown
        .as_ref()
        .is_some_and(|shutdown| must_answer(shutdown, &member.agent_id));
    let can_claim = member.claims.len() < MAX_CLAIMS && !must_answer_shutdown;
    (can_claim && team.closed_at.is_none() && member.ended_at.is_none()).then_some(member)
}
