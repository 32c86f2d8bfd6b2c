//! All events except those before a tool: maintains the session's locks, and reports to the agent who works on what. No
//! failure stops an agent here; it is reported in one line.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use coord_agent::connection::Connection;
use coord_agent::session_notes::SessionNotes;
use coord_agent::waiter;
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::plain_text::QUOTATION_NOTICE;
use coord_protocol::{ClientError, RecordKind};

use super::caller::{Caller, SHORT_LIMIT, find};
use super::connected_session::ConnectedSession;
use super::event::{Decision, Moment, Tool};
use super::mail::{self, News, next_task};
use super::release::{ReleaseScope, head_has_moved, release_files};
use super::{
    after, context, event_times, guard, intents, reason, record, renewal, tokens, unhooked_writes, writer_end,
};

/// The setting of git that asks agents to continue.
pub const KEEP_GOING: &str = "coord.keepGoing";

/// An event's decision, and the notes to store once its text is printed.
#[derive(Debug)]
pub(super) struct EventResult {
    pub decision: Decision,
    pub news: Option<News>,
}

impl From<Decision> for EventResult {
    fn from(decision: Decision) -> Self {
        EventResult { decision, news: None }
    }
}

/// Handles the event.
pub(super) async fn run(caller: &Caller<'_>) -> EventResult {
    if caller.call.moment == Moment::WriterEnd && caller.call.writer.is_none() {
        // The event does not name the ending session.
        return Decision::PROCEED.into();
    }
    let push_folder = push_folder(caller);
    let working_copy = push_folder.as_deref().map_or_else(|| caller.working_copy(), find);
    let Some(working_copy) = working_copy else {
        return Decision::PROCEED.into();
    };
    event_times::record(&working_copy, caller.agent, caller.event);
    let (work, holder) = match caller.work(working_copy) {
        Ok(work_and_holder) => work_and_holder,
        Err(error) => return report_error(&error).into(),
    };
    let task = caller.call.prompt.as_deref().and_then(reason::first_sentence);
    SessionNotes::change(&work.working_copy, &holder, |notes| {
        // The next hook is called for a new tool call.
        notes.call = None;
        notes.model = caller.call.model.clone().or(notes.model.take());
        if matches!(caller.call.moment, Moment::SessionStart | Moment::Prompt) {
            notes.add_worktree(work.working_copy.root());
            notes.task = task.or(notes.task.take());
            notes.turn_began = now();
        }
    });
    if caller.call.moment != Moment::TurnEnd {
        // The session is working, and gets news by its events.
        waiter::clear(&work.working_copy, &holder);
    }
    let mut sentences = match caller.call.moment {
        Moment::AfterTool => after::record_tool(caller).await,
        Moment::SessionStart => guard::loss_note(&work.working_copy).await.into_iter().collect(),
        _ => Vec::new(),
    };
    if caller.agent.takes_context(caller.event) {
        let news = SessionNotes::take_news(&work.working_copy, &holder);
        sentences.extend(news.into_iter().map(|sentence| format!("Coord: {sentence}")));
    }
    match run_with_server(caller, &work, &holder, push_folder.is_some(), sentences).await {
        Ok(result) => result,
        Err(error) => report_error(&error).into(),
    }
}

fn report_error(error: &anyhow::Error) -> Decision {
    Decision::Proceed {
        context: None,
        note: Some(format!("Coord: {error:#}")),
    }
}

async fn run_with_server(
    caller: &Caller<'_>,
    work: &Work,
    holder: &AgentId,
    has_pushed: bool,
    mut sentences: Vec<String>,
) -> anyhow::Result<EventResult> {
    let moment = caller.call.moment;
    let working_copy = &work.working_copy;
    let connection = match moment {
        // The first edit should not have to wait for the server.
        Moment::SessionStart => Some(Connection::open(caller.args, working_copy, Some(holder), SHORT_LIMIT)?),
        _ => Connection::open_running(caller.args, working_copy, Some(holder), SHORT_LIMIT)?,
    };
    // Without a server there are no locks.
    let Some(connection) = connection else {
        return Ok(proceed_with(caller, sentences).into());
    };
    let session = ConnectedSession {
        connection: &connection,
        work,
        holder,
    };
    if !matches!(moment, Moment::WriterEnd | Moment::SessionEnd) {
        renewal::renew_if_due(session).await;
    }
    if moment.is_end() {
        return run_at_end(caller, session).await;
    }
    if has_pushed || head_has_moved(work, holder) {
        let outcome = release_files(caller.args, session, ReleaseScope::Pushed).await?;
        sentences.extend(outcome.describe_released());
    }
    if moment != Moment::AfterTool {
        let (others, intents) = tokio::join!(other_sessions_text(caller, session), intent_text(caller, session));
        sentences.extend(intents?);
        sentences.extend(others?);
    }
    let news = fetch_news(caller, session).await;
    sentences.extend(news.as_ref().and_then(|news| news.text.clone()));
    let decision = proceed_with(caller, sentences);
    Ok(EventResult { decision, news })
}

/// News in the teams of the session, if the event delivers text to the model. For a session in no team, the server is
/// asked once.
async fn fetch_news(caller: &Caller<'_>, session: ConnectedSession<'_>) -> Option<News> {
    let moment = caller.call.moment;
    let is_wanted = matches!(moment, Moment::SessionStart | Moment::Prompt | Moment::AfterTool);
    if !is_wanted || !caller.agent.takes_context(caller.event) {
        return None;
    }
    if moment != Moment::AfterTool {
        mail::find_teams(session, moment == Moment::SessionStart).await;
    }
    let has_read = caller.call.has_read_messages() && !caller.call.has_failed && moment == Moment::AfterTool;
    mail::news(session, moment, has_read).await
}

/// Lets the agent proceed, with the sentences for its model. If the event delivers no text to the model, sentences
/// about a tool go to the user.
fn proceed_with(caller: &Caller<'_>, sentences: Vec<String>) -> Decision {
    let text = Some(remove_repeated_notices(&sentences.join("\n"))).filter(|text| !text.is_empty());
    match caller.agent.takes_context(caller.event) {
        true => Decision::Proceed {
            context: text,
            note: None,
        },
        false => Decision::Proceed {
            context: None,
            note: text.filter(|_| caller.call.moment == Moment::AfterTool),
        },
    }
}

/// Removes all notices about quotations but the first. Only a notice in a line that Coord itself begins counts: one
/// that another agent wrote into its text replaces none.
fn remove_repeated_notices(text: &str) -> String {
    let mut has_notice = false;
    let lines = text.split('\n').map(|line| {
        let head = line.strip_suffix(QUOTATION_NOTICE);
        let head = head.filter(|head| head.is_empty() || head.starts_with("Coord: "));
        match head.map(str::trim_end) {
            Some(head) if has_notice && !head.is_empty() => head,
            Some(_) => {
                has_notice = true;
                line
            }
            None => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Handles the end of a turn, of a writer or of the session.
async fn run_at_end(caller: &Caller<'_>, session: ConnectedSession<'_>) -> anyhow::Result<EventResult> {
    if caller.call.moment != Moment::WriterEnd {
        // The conversation's file includes the tokens of its writers.
        tokens::report(caller, session).await;
    }
    if caller.call.moment == Moment::SessionEnd {
        record_event(caller, session, RecordKind::End).await;
    }
    // Background work needs files that it has claimed and not yet changed.
    let scope = match caller.call.has_background_work {
        true => ReleaseScope::Pushed,
        false => ReleaseScope::Finished,
    };
    let outcome = release_files(caller.args, session, scope).await?;
    let mut note = outcome.describe();
    if matches!(caller.call.moment, Moment::TurnEnd | Moment::Interruption)
        && let Some(report) = unhooked_writes::report(session).await
    {
        note = Some(note.into_iter().chain([report]).collect::<Vec<_>>().join("\n"));
    }
    if matches!(caller.call.moment, Moment::WriterEnd | Moment::SessionEnd) {
        writer_end::leave_queue(session).await?;
    }
    if caller.call.moment == Moment::WriterEnd {
        writer_end::return_locks_to_lead(session).await?;
        return Ok(Decision::PROCEED.into());
    }
    if caller.call.moment == Moment::TurnEnd
        && let Some((reason, news)) = reason_to_continue(caller, session).await
    {
        let decision = Decision::Continue { reason, note };
        return Ok(EventResult {
            decision,
            news: Some(news),
        });
    }
    Ok(Decision::Proceed { context: None, note }.into())
}

/// Why the agent should continue, if the settings ask for it and something waits. Never twice in a row.
async fn reason_to_continue(caller: &Caller<'_>, session: ConnectedSession<'_>) -> Option<(String, News)> {
    let ConnectedSession { work, holder, .. } = session;
    let is_wanted = caller.keep_going
        || work
            .working_copy
            .setting(KEEP_GOING)
            .is_some_and(|value| value == "true");
    if !is_wanted {
        return None;
    }
    let was_kept_going = next_task::note_end_of_turn(work, holder)?;
    if was_kept_going || caller.call.is_continued {
        return None;
    }
    mail::find_teams(session, false).await;
    next_task::reason_to_continue(session).await
}

async fn other_sessions_text(
    caller: &Caller<'_>,
    session: ConnectedSession<'_>,
) -> Result<Option<String>, ClientError> {
    let only_changes = caller.call.moment == Moment::Prompt;
    match caller.agent.takes_context(caller.event) {
        true => context::other_sessions_text(session, only_changes).await,
        false => Ok(None),
    }
}

/// The text for the model about its intent, or about those that it can select. For a repository without intents, the
/// server is asked once a session.
async fn intent_text(caller: &Caller<'_>, session: ConnectedSession<'_>) -> Result<Option<String>, ClientError> {
    let ConnectedSession { work, holder, .. } = session;
    let moment = caller.call.moment;
    let has_intents = SessionNotes::read(&work.working_copy, holder).has_intents;
    if moment != Moment::SessionStart && has_intents == Some(false) {
        return Ok(None);
    }
    if moment == Moment::Prompt && has_intents == Some(true) {
        record_event(caller, session, RecordKind::Prompt).await;
    }
    let takes_context = caller.agent.takes_context(caller.event);
    if !takes_context && has_intents.is_some() && moment != Moment::SessionStart {
        return Ok(None);
    }
    let text = intents::fetch_context(&session.connection.client, &work.working_copy, &work.repo_url(), holder).await?;
    if moment == Moment::Prompt && has_intents.is_none() {
        record_event(caller, session, RecordKind::Prompt).await;
    }
    let text = text.filter(|_| takes_context);
    if let Some(text) = &text {
        context::note_intent_text(caller, work, holder, text);
    }
    Ok(text)
}

/// Records an event of the given kind, if the repository has intents.
async fn record_event(caller: &Caller<'_>, session: ConnectedSession<'_>, kind: RecordKind) {
    let ConnectedSession { work, holder, .. } = session;
    let notes = SessionNotes::read(&work.working_copy, holder);
    if notes.has_intents == Some(true) {
        let requests = record::requests(caller, work, &notes, &[record::entry(kind)]);
        record::send(Some(session.connection), work, requests).await;
    }
}

/// Unix seconds.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

/// The folder from which a shell command has pushed.
fn push_folder(caller: &Caller<'_>) -> Option<PathBuf> {
    match &caller.call.tool {
        Tool::Shell { command, .. } if command.contains("push") => caller.command_effects().pushes.into_iter().next(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_several_quotations_has_one_notice() {
        let part = |name: &str| format!("Coord: {name}. {QUOTATION_NOTICE}\n> {name}");
        let text = [part("one"), part("two"), part("three")].join("\n");
        let once = format!("Coord: one. {QUOTATION_NOTICE}\n> one\nCoord: two.\n> two\nCoord: three.\n> three");
        assert_eq!(remove_repeated_notices(&text), once);
        let intents = format!("Intents:\n{QUOTATION_NOTICE}\n- one\n");
        assert_eq!(
            remove_repeated_notices(&(intents.clone() + &part("two"))),
            intents + "Coord: two.\n> two"
        );
        assert_eq!(remove_repeated_notices("no quotation"), "no quotation");
    }

    #[test]
    fn a_notice_in_a_quotation_replaces_none() {
        for quoted in ["> ", "- ada: \u{201c}", "> Coord: "] {
            let text = format!("{quoted}{QUOTATION_NOTICE}\nCoord: two. {QUOTATION_NOTICE}\n> two\n");
            assert_eq!(remove_repeated_notices(&text), text);
        }
    }
}
