//! Wakes a session that has ended its turn when a file that it was refused is free, or when it gets a message. So no
//! agent has to ask again and again. The hook runs in the background, as long as the agent lets it, and its text begins
//! the next turn.

use std::time::Duration;

use coord_agent::connection::Connection;
use coord_agent::mail_notes::MailNotes;
use coord_agent::next_command::{self, RepeatedRequest};
use coord_agent::session_notes::SessionNotes;
use coord_agent::{ancestors, waiter};
use coord_git::WorkingCopy;
use coord_protocol::{Action, LockMode, PostRequest, PostResponse};
use tokio::time::{Instant, sleep, sleep_until};

use super::agents::Agent;
use super::caller::Caller;
use super::connected_session::ConnectedSession;
use super::event::{Decision, Moment};
use super::upkeep::EventResult;
use super::{event_times, mail, reason};

/// How long the hook waits. Agents are configured to give it an hour.
const LIMIT: Duration = Duration::from_secs(3540);

/// How long a request waits at the server, in seconds: less than the limit of servers.
const SERVER_SECONDS: u32 = 15;

/// Time limit of a request.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Minimum time between two rounds.
const PAUSE: Duration = Duration::from_secs(5);

/// The variable in which Claude Code names the program that runs it.
const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";

/// Waits for the session's files. The result has no text if the session works again, or if its agent has ended.
pub(super) async fn run(caller: &Caller<'_>) -> EventResult {
    let entrypoint = std::env::var(ENTRYPOINT);
    let is_wanted = match caller.agent {
        // Only there the hook runs in the background: other programs that read its configuration wait for each hook.
        Agent::ClaudeCode => entrypoint.is_ok_and(|entrypoint| entrypoint == "cli"),
        _ => caller.call.notification.as_deref() == Some("agent_idle"),
    };
    let Some(working_copy) = caller
        .working_copy()
        .filter(|_| is_wanted && caller.call.writer.is_none())
    else {
        return Decision::PROCEED.into();
    };
    event_times::record(&working_copy, caller.agent, caller.event);
    match wait(caller, working_copy).await {
        Ok(result) => result.unwrap_or(Decision::PROCEED.into()),
        Err(error) => {
            tracing::debug!(%error, "the session is not woken");
            Decision::PROCEED.into()
        }
    }
}

async fn wait(caller: &Caller<'_>, working_copy: WorkingCopy) -> anyhow::Result<Option<EventResult>> {
    let (work, holder) = caller.work(working_copy)?;
    let (working_copy, own_process) = (&work.working_copy, std::process::id());
    let agent = ancestors::candidates().first().copied();
    let end = Instant::now() + LIMIT;
    let mut is_first = true;
    while Instant::now() < end {
        let notes = SessionNotes::read(working_copy, &holder);
        let is_in_team = MailNotes::read(working_copy, &holder)
            .teams
            .is_some_and(|teams| !teams.is_empty());
        if notes.waits.is_empty() && !is_in_team {
            return Ok(None);
        }
        if is_first {
            // If several processes wait, only the newest continues.
            waiter::set(working_copy, &holder, own_process);
        } else if waiter::get(working_copy, &holder) != Some(own_process)
            || agent.is_some_and(|agent| !agent.is_running())
        {
            return Ok(None);
        }
        is_first = false;
        let round_start = Instant::now();
        if let Some(connection) = Connection::open_running(caller.args, working_copy, Some(&holder), REQUEST_LIMIT)? {
            let seconds = (!is_in_team).then_some(SERVER_SECONDS);
            let session = ConnectedSession {
                connection: &connection,
                work: &work,
                holder: &holder,
            };
            if let Some(text) = claim_free_files(session, &notes, seconds).await {
                return Ok(Some(wake_with(text).into()));
            }
            if is_in_team && mail::wait_for_mail(session, SERVER_SECONDS).await {
                let mut news = mail::news(session, Moment::AfterTool, false).await;
                if let Some(text) = news.as_mut().and_then(|news| news.text.take()) {
                    let decision = wake_with(text);
                    return Ok(Some(EventResult { decision, news }));
                }
            }
        }
        sleep_until((round_start + PAUSE).min(end)).await;
    }
    Ok(None)
}

fn wake_with(text: String) -> Decision {
    Decision::Proceed {
        context: Some(text),
        note: None,
    }
}

/// Claims the files that the session waits for. Returns text for the model if it holds them now, or if they are free
/// but every waiting session must pull first.
async fn claim_free_files(session: ConnectedSession<'_>, notes: &SessionNotes, seconds: Option<u32>) -> Option<String> {
    let ConnectedSession { work, holder, .. } = session;
    for (branch, files) in &notes.waits {
        let files: Vec<String> = files.iter().cloned().collect();
        let request = PostRequest {
            branch: Some(branch.clone()),
            wait_seconds: seconds,
            ..work.claim(files.clone(), LockMode::Writing, reason::claim_message(notes, &files))
        };
        let mut response: PostResponse = match session.connection.client.post_status(&request).await {
            Ok(response) => response,
            Err(error) => {
                tracing::debug!(%error, "the files are not claimed");
                sleep(PAUSE).await;
                continue;
            }
        };
        if matches!(response.orchestration.action, Action::Wait | Action::SwitchTask) {
            continue;
        }
        SessionNotes::change(&work.working_copy, holder, |notes| {
            notes.note_wait(branch, &files, false);
        });
        if response.success {
            return Some(format!(
                "Coord: you hold {} now, which was locked before. Read it again and continue. If you no longer need \
                 it, release it.",
                reason::list_files(&files)
            ));
        }
        if matches!(response.orchestration.action, Action::Pull | Action::Push) {
            next_command::adapt_command(work, &mut response.orchestration, RepeatedRequest::default()).await;
            let why = reason::refusal(&response);
            return Some(format!("Coord: {} is free now. {why}", reason::list_files(&files)));
        }
    }
    None
}
