//! Why an agent should go on at the end of its turn.

use coord_agent::connection::Connection;
use coord_agent::mail_notes::MailNotes;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::plain_text::{QUOTATION_NOTICE, quoted_lines, shown_line};
use coord_protocol::tasks::TaskView;
use coord_protocol::teams::{MemberView, TeamView};
use coord_protocol::{HeldLock, LocksFilter, TaskFilter};

use super::super::event::Moment;
use super::texts::asks;
use super::{MOST_TEAMS, News, caller, news};

/// Ready tasks that are looked at: some would not be given.
const MOST_TASKS: u32 = 16;

/// The claims that a member may have.
const MOST_CLAIMS: usize = 50;

/// Notes that a turn ends. Whether it was begun by [`go_on`]; `None` where another process has the notes.
pub(in super::super) fn note_end_of_turn(work: &Work, holder: &AgentId) -> Option<bool> {
    let was_kept_going = MailNotes::read(&work.working_copy, holder).was_kept_going;
    if was_kept_going {
        let mut mail = MailNotes::open(&work.working_copy, holder)?;
        mail.notes.was_kept_going = false;
        mail.save();
    }
    Some(was_kept_going)
}

/// Why the agent should go on at the end of its turn: messages wait, or a task is ready.
pub(in super::super) async fn reason_to_continue(
    connection: &Connection,
    work: &Work,
    holder: &AgentId,
) -> Option<(String, News)> {
    let news = news(connection, work, holder, Moment::TurnEnd, false).await;
    let (reason, mut news) = match news {
        Some(News {
            text: Some(text), mail, ..
        }) => (text, mail),
        news => {
            // The notes are dropped, so that the next call finds the news again.
            drop(news);
            (
                ready_task(connection, work, holder).await?,
                MailNotes::open(&work.working_copy, holder)?,
            )
        }
    };
    news.notes.was_kept_going = true;
    let text = None;
    Some((reason, News { text, mail: news }))
}

/// Why the agent should go on where no message waits: one of its teams would give it a task.
async fn ready_task(connection: &Connection, work: &Work, holder: &AgentId) -> Option<String> {
    let notes = MailNotes::read(&work.working_copy, holder);
    for team in &notes.in_turn(MOST_TEAMS) {
        let repo_url = work.repo_url();
        let (about, tasks) = tokio::join!(
            connection.client.team(&repo_url, team),
            tasks(
                connection,
                work,
                team,
                TaskFilter {
                    readiness: Some("ready".to_owned()),
                    ..TaskFilter::default()
                }
            )
        );
        let Some(about) = about.ok().map(|answer| answer.team) else {
            continue;
        };
        let Some(member) = may_claim(&about, holder) else {
            continue;
        };
        if let Some(task) = free_task(connection, work, team, member, &tasks).await {
            return Some(format!(
                "Coord: task {} of team \"{team}\" is ready, and you, \"{}\", may take it: task_claim, or `coord task next --team {team}`. \
                 If you cannot, notify the leader (message_send with type idle). {QUOTATION_NOTICE} Its title:\n{}",
                shown_line(&task.id),
                member.agent_id,
                quoted_lines(&task.title)
            ));
        }
    }
    None
}

/// The first of `tasks` that the team would give the member: not reserved for another member, for the branch of the work, and with
/// free files.
async fn free_task<'t>(
    connection: &Connection,
    work: &Work,
    team: &str,
    member: &MemberView,
    tasks: &'t [TaskView],
) -> Option<&'t TaskView> {
    let branch = work.branch.as_str();
    let is_kept = |task: &TaskView| {
        let is_own = |name: &String| name.eq_ignore_ascii_case(&member.agent_id);
        task.reserved_until.is_some() && !task.assignee.as_ref().is_none_or(is_own)
    };
    let is_elsewhere = |task: &TaskView| task.branch.as_deref().is_some_and(|named| named != branch);
    let mut tasks = tasks
        .iter()
        .filter(|task| !is_kept(task) && (task.files.is_empty() || !is_elsewhere(task)))
        .peekable();
    // If the first one has no files, locks are irrelevant.
    if tasks.peek()?.files.is_empty() {
        return tasks.next();
    }
    let of_branch = LocksFilter {
        branch: Some(branch.to_owned()),
        ..LocksFilter::default()
    };
    let locks = connection.client.locks(&work.repo_url(), &of_branch).await.ok()?.locks;
    let own = match member.claims.is_empty() {
        true => Vec::new(),
        false => {
            let of_member = TaskFilter {
                owner: Some(member.agent_id.clone()),
                limit: Some(MOST_CLAIMS as u32),
                ..TaskFilter::default()
            };
            self::tasks(connection, work, team, of_member).await
        }
    };
    let is_others = |lock: &HeldLock| lock.user != member.login || lock.agent_id != member.agent;
    tasks.find(|task| {
        task.files.iter().all(|file| {
            let is_locked = locks.iter().any(|lock| lock.file_path == *file && is_others(lock));
            // Another task of the member has the file: both are never out at once.
            !is_locked && !own.iter().any(|task| task.files.contains(file))
        })
    })
}

async fn tasks(connection: &Connection, work: &Work, team: &str, mut filter: TaskFilter) -> Vec<TaskView> {
    filter.limit.get_or_insert(MOST_TASKS);
    let listed = connection.client.tasks(&caller(work, team), &filter).await;
    listed.map(|page| page.tasks).unwrap_or_default()
}

/// The session as a member, where the team would give it a task.
fn may_claim<'t>(team: &'t TeamView, holder: &AgentId) -> Option<&'t MemberView> {
    let member = team
        .members
        .iter()
        .find(|member| member.is_yours && member.agent.as_deref() == Some(holder.as_str()))?;
    let is_asked = team
        .shutdown
        .as_ref()
        .is_some_and(|shutdown| asks(shutdown, &member.agent_id));
    let has_room = member.claims.len() < MOST_CLAIMS;
    (has_room && team.closed_at.is_none() && member.ended_at.is_none() && !is_asked).then_some(member)
}
