//! Results of the tools of teams as text.

use coord_protocol::messages::{InboxResponse, MessageView};
use coord_protocol::plain_text::{quote_line, quote_lines};
use coord_protocol::tasks::{PassedReason, PassedTask, TaskResponse, TaskView};
use coord_protocol::team_event::MessageType;
use coord_protocol::team_tools::TeamCallResponse;
use coord_protocol::teams::{TeamSummary, TeamView};

/// The text of an answer without its command. Quotes what other agents wrote, below its author.
pub(super) fn lines(answer: &TeamCallResponse) -> Vec<String> {
    match answer {
        TeamCallResponse::Teams(teams) if teams.teams.is_empty() => vec!["PROCEED: there are no teams".to_owned()],
        TeamCallResponse::Teams(teams) => {
            let line = |team: &TeamSummary| {
                let (name, leader, members) = (&team.name, &team.leader, team.member_count);
                format!(
                    "{name}: led by {leader}, {members} members, {} open tasks",
                    team.open_tasks
                )
            };
            let first = format!("PROCEED: {} teams", teams.teams.len());
            std::iter::once(first).chain(teams.teams.iter().map(line)).collect()
        }
        TeamCallResponse::Team(response) => team_lines(&response.team),
        TeamCallResponse::Tasks(page) => {
            let first = format!("PROCEED: {} tasks", page.tasks.len());
            let more = page.next.map(|next| format!("More: after {next}"));
            std::iter::once(first)
                .chain(page.tasks.iter().map(task_line))
                .chain(more)
                .collect()
        }
        TeamCallResponse::NewTasks(response) => response.tasks.iter().map(task_line).collect(),
        TeamCallResponse::Task(response) => task_lines(response),
        TeamCallResponse::Inbox(inbox) => inbox_lines(inbox),
        TeamCallResponse::Change(response) => {
            let tasks = &response.given_back;
            let released = (!tasks.is_empty()).then(|| format!("Released: {}", tasks.join(", ")));
            released
                .into_iter()
                .chain(unnotified_line(&response.not_told))
                .collect()
        }
        TeamCallResponse::History(history) => history.messages.iter().map(message_line).collect(),
        TeamCallResponse::Sent(_) => Vec::new(),
    }
}

fn team_lines(team: &TeamView) -> Vec<String> {
    let mut lines = vec![format!(
        "PROCEED: team {}, led by {}, {} open tasks",
        team.name, team.leader, team.open_tasks
    )];
    lines.extend(team.members.iter().map(|member| {
        let state = if member.is_live { "live" } else { "away" };
        let claims = if member.claims.is_empty() {
            String::new()
        } else {
            format!(", has {}", member.claims.join(", "))
        };
        format!("{} ({}): {state}{claims}", member.agent_id, member.login)
    }));
    lines.extend(team.shutdown.as_ref().map(|shutdown| {
        let target = shutdown.target.as_deref().unwrap_or("everyone");
        format!(
            "Shutdown {} of {target}, requested by {}: {}",
            shutdown.id,
            author(&shutdown.by, shutdown.login.as_deref()),
            quote_line(&shutdown.reason)
        )
    }));
    lines
}

/// The author of a text: a handle, and the login that the server has verified.
pub fn author(handle: &str, login: Option<&str>) -> String {
    let login = login.map(|login| format!(" ({login})"));
    format!("{handle}{}", login.unwrap_or_default())
}

fn task_line(task: &TaskView) -> String {
    let state = match (&task.owner, task.is_ready) {
        (Some(owner), _) => format!("{}, {owner}", task.status.as_str()),
        (None, true) => "ready".to_owned(),
        (None, false) => task.status.as_str().to_owned(),
    };
    let dependencies = if task.dependencies.is_empty() {
        String::new()
    } else {
        format!(", waits for {}", task.dependencies.join(", "))
    };
    let creator = author(&task.created_by, task.created_by_login.as_deref());
    format!(
        "{} [{state}{dependencies}] {creator}: {}",
        task.id,
        quote_line(&task.title)
    )
}

/// ` by ` and the author. Empty without a handle.
fn by_author(handle: Option<&str>, login: Option<&str>) -> String {
    let by = handle.map(|handle| format!(" by {}", author(handle, login)));
    by.unwrap_or_default()
}

fn task_lines(response: &TaskResponse) -> Vec<String> {
    let mut lines = response.warnings.clone();
    if let Some(task) = &response.task {
        lines.extend(task.warning.clone());
        lines.push(task_line(task));
        if !task.files.is_empty() {
            lines.push(format!("Files: {}", task.files.join(", ")));
        }
        let creator = author(&task.created_by, task.created_by_login.as_deref());
        let description = task.description.as_deref();
        lines.extend(description.map(|text| quote(&format!("Description by {creator}"), text)));
        lines.extend(task.notes.iter().map(|note| {
            let by = by_author(note.by.as_deref(), note.login.as_deref());
            quote(&format!("Note{by}"), &note.text)
        }));
        let by = by_author(task.owner.as_deref(), task.owner_login.as_deref());
        let result = task.result.as_deref();
        lines.extend(result.map(|result| quote(&format!("Result{by}"), result)));
    }
    lines.extend(response.dependency_results.iter().map(|dependency| {
        let by = by_author(dependency.by.as_deref(), dependency.login.as_deref());
        quote(&format!("Result of {}{by}", dependency.id), &dependency.result)
    }));
    let held = response.held.iter();
    lines.extend(held.map(|task| format!("{} has {} until {}", task.owner, task.id, task.expires)));
    lines.extend(response.passed_over.iter().map(passed_line));
    lines.extend(unnotified_line(&response.not_told));
    lines
}

/// The line about members with full inboxes.
fn unnotified_line(handles: &[String]) -> Option<String> {
    let line = format!("Not notified, because their inboxes are full: {}", handles.join(", "));
    (!handles.is_empty()).then_some(line)
}

/// Why the caller did not get a ready task.
fn passed_line(task: &PassedTask) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let reason = match task.reason {
        PassedReason::Reserved => format!("kept for {} until {}", text(&task.handle), text(&task.until)),
        PassedReason::Locked => {
            let agent = task.agent_id.as_deref().map(|agent| format!(" (agent {agent})"));
            format!(
                "'{}' is locked by {}{} until {}",
                text(&task.file),
                text(&task.user),
                agent.unwrap_or_default(),
                text(&task.until)
            )
        }
        PassedReason::Branch => format!("its files are on branch {}", text(&task.branch)),
        PassedReason::FilesClaimed => format!("a task that you have has '{}'", text(&task.file)),
        PassedReason::Intent => "intents do not let you write its files".to_owned(),
        PassedReason::TooMuch => "its files have too many locks or neighbors".to_owned(),
    };
    format!("Passed over {}: {reason}", task.id)
}

fn inbox_lines(inbox: &InboxResponse) -> Vec<String> {
    let mut lines: Vec<String> = missed_line(inbox).into_iter().collect();
    lines.extend(inbox.messages.iter().map(message_line));
    lines.extend(inbox.shutdown.as_ref().map(|shutdown| {
        format!(
            "Shutdown {} is open, requested by {}: {}",
            shutdown.id,
            author(&shutdown.by, shutdown.login.as_deref()),
            quote_line(&shutdown.reason)
        )
    }));
    lines
}

/// The line about broadcasts that the team dropped before the caller read them.
pub fn missed_line(inbox: &InboxResponse) -> Option<String> {
    let broadcasts = match inbox.missed {
        0 => return None,
        1 => "1 broadcast".to_owned(),
        count => format!("{count} broadcasts"),
    };
    Some(format!(
        "Missed: {broadcasts} from before these: a team keeps the newest 1,000"
    ))
}

/// A message below its sender's handle and verified login, its type unless it is plain, its task, and the message that
/// it replies to.
pub fn message_line(message: &MessageView) -> String {
    let mut header = match (&message.from, &message.login) {
        (Some(from), Some(login)) => format!("{} {from} ({login})", message.id),
        _ => format!("{} Coord", message.id),
    };
    let kind = Some(message.kind.as_str()).filter(|_| message.kind != MessageType::Plain);
    let task = message.task_id.as_ref().map(|task| format!("about {task}"));
    let reply = message.reply_to.map(|id| format!("in reply to {id}"));
    for part in kind.map(str::to_owned).into_iter().chain(task).chain(reply) {
        header.push_str(", ");
        header.push_str(&part);
    }
    quote(&header, &message.message)
}

/// The quoted text, below `header`.
fn quote(header: &str, text: &str) -> String {
    format!("{header}:\n{}", quote_lines(text))
}
