//! Sends, reads and lists messages.

use coord_protocol::bounds::RECIPIENTS;
use coord_protocol::messages::{
    HistoryResponse, InboxResponse, ReadMessagesRequest, SendMessageRequest, SendMessageResponse,
};
use coord_protocol::team_event::{MessageSent, MessageType};
use coord_protocol::teams::TeamCaller;
use coord_protocol::{Action, Event, Orchestration};

use super::caller::{CallerContext, TeamAgent};
use super::calls::{ListMessages, MAX_PARTS, PRICE_OF_LIST, ReadMessages, SendMessage, run, run_part};
use super::team_selection::SelectedTeam;
use super::texts::{content, long_text, number, page_limit, request_key};
use super::view;
use coord_domain::team::{Handle, TaskId, TeamName};
use coord_server::admission::Right;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, line, parse_optional, require};
use coord_server::operations::wait::{LongPoll, Urgency, wait_seconds};
use coord_teams_state::messages::{MessageFilter, MessagePage, NewMessage, Reader, StoredMessage};

/// Addresses a message to all other members.
const BROADCAST: &str = "broadcast";

const MAX_SUMMARY_CHARS: usize = 500;

/// Most bytes of the messages of a response.
const MAX_BYTES: usize = 256 * 1024;

/// Sends a message.
///
/// # Errors
/// When a field is not valid, the caller is denied or may not push, the rules refuse it, or the store does not respond.
pub async fn send_message(
    app: &App,
    request: &SendMessageRequest,
    context: CallerContext<'_>,
) -> Result<SendMessageResponse, ApiError> {
    let agent = TeamAgent::of(&request.caller, context)?;
    let kind = message_type(request.kind.as_deref())?;
    let to = recipients(kind, request.to.as_deref())?;
    let summary = request
        .summary
        .as_deref()
        .map(|text| line("summary", text, MAX_SUMMARY_CHARS));
    let summary = summary.transpose()?.unwrap_or_default();
    let task = parse_optional("task_id", request.task_id.as_deref(), TaskId::parse)?;
    let message = NewMessage {
        kind,
        text: long_text("message", Some(require("message", &request.message)?))?,
        summary: &summary,
        task: task.as_ref(),
        reply_to: number("reply_to", request.reply_to)?,
        to: &to,
    };
    let content = content(request);
    let key = request_key(request.request_key.as_deref(), &content)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let mut call = SendMessage {
        team,
        key,
        message: &message,
    };
    let (accepted, waiting) = run(&mut admission, &mut call).await?;
    let reason = match accepted.ready.as_slice() {
        [] => format!("Message {} is sent", accepted.id),
        ready => format!(
            "Message {} is sent; ready to be claimed: {}",
            accepted.id,
            ready.join(", ")
        ),
    };
    Ok(SendMessageResponse {
        id: accepted.id,
        ready: accepted.ready,
        waiting,
        orchestration: Orchestration::new(Action::Proceed, reason),
    })
}

fn message_type(name: Option<&str>) -> Result<MessageType, ApiError> {
    let problem = match name {
        None | Some("plain") => return Ok(MessageType::Plain),
        Some("idle") => return Ok(MessageType::Idle),
        Some("task_assignment" | "shutdown_request" | "shutdown_approved" | "shutdown_rejected") => {
            "is that of messages which follow from an assignment or a shutdown: send plain or idle"
        }
        Some(_) => "is not known: Invalid message type",
    };
    Err(ApiError::invalid_field("type", problem))
}

/// The recipients. Empty for a broadcast and for an idle message, which goes to the leader.
fn recipients(kind: MessageType, to: Option<&[String]>) -> Result<Vec<Handle>, ApiError> {
    let invalid = |problem: String| ApiError::invalid_field("to", problem);
    match (kind, to) {
        (MessageType::Idle, None) => Ok(Vec::new()),
        (MessageType::Idle, Some(_)) => Err(invalid(
            "must be left out with type idle, which goes to the leader".to_owned(),
        )),
        (_, None | Some([])) => Err(invalid("is required: handles, or broadcast alone".to_owned())),
        (_, Some([handle])) if handle == BROADCAST => Ok(Vec::new()),
        (_, Some(handles)) if handles.len() > RECIPIENTS => Err(invalid(format!(
            "has {} recipients; send {RECIPIENTS} at most, or broadcast alone",
            handles.len()
        ))),
        (_, Some(handles)) => handles
            .iter()
            .map(|handle| Handle::parse(handle).map_err(in_field("to")))
            .collect(),
    }
}

/// Returns the caller's messages. Waits for one if the request says so.
///
/// # Errors
/// Those of [`send_message`].
pub async fn read_messages(
    app: &App,
    request: &ReadMessagesRequest,
    context: CallerContext<'_>,
) -> Result<InboxResponse, ApiError> {
    let is_caller = |header| request.caller.agent_id.as_deref().is_none_or(|id| id == header);
    let is_own = !request.for_another && context.agent.is_none_or(is_caller);
    let agent = TeamAgent::of(&request.caller, context)?;
    let most = page_limit(request.limit.map(|limit| limit as usize))?;
    let wait = wait_seconds(app, "wait", request.wait)?;
    let cursor = number("cursor", request.cursor)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let mut call = ReadMessages {
        team,
        cursor,
        most,
        most_bytes: MAX_BYTES,
        is_own,
    };
    let mut long_poll = LongPoll::begin(&app.events, &agent.repo, &admission.holder().user_id, wait).await?;
    let mut shutdown_before: Option<Option<String>> = None;
    loop {
        let (inbox, _) = run(&mut admission, &mut call).await?;
        let shutdown = inbox.shutdown.as_ref().map(|shutdown| shutdown.id.clone());
        let is_news = !inbox.messages.is_empty()
            || inbox.has_more
            || shutdown_before.as_ref().is_some_and(|before| *before != shutdown);
        shutdown_before = Some(shutdown);
        let team = call.team.name();
        let is_relevant = |event: &Event| match event {
            Event::MessageSent(message) => is_in_team(event, team) && is_to(message, &inbox.handle),
            Event::ShutdownChanged(_) => is_in_team(event, team),
            _ => false,
        };
        if !is_news
            && long_poll
                .wait_for_event(|event| is_relevant(event).then_some(Urgency::Soon), None)
                .await
        {
            continue;
        }
        let reason = match inbox.messages.len() {
            0 => "There are no new messages".to_owned(),
            count => format!(
                "{count} of {} unread messages; send cursor {} to mark them read",
                inbox.unread, inbox.cursor
            ),
        };
        return Ok(InboxResponse {
            team: team.as_str().to_owned(),
            handle: inbox.handle,
            timed_out: wait > 0 && !is_news,
            messages: inbox
                .messages
                .into_iter()
                .map(|message| view::message(message, false, Vec::new()))
                .collect(),
            cursor: inbox.cursor,
            unread: inbox.unread,
            missed: inbox.missed,
            has_more: inbox.has_more,
            shutdown: inbox
                .shutdown
                .as_ref()
                .map(|shutdown| view::shutdown_view(shutdown, None)),
            orchestration: Orchestration::new(Action::Proceed, reason),
        });
    }
}

/// Whether a message may be for `handle`. An event lists only some of very many recipients.
fn is_to(message: &MessageSent, handle: &str) -> bool {
    let is_handle = |name: &String| name.eq_ignore_ascii_case(handle);
    let listed = message.recipients.as_deref().unwrap_or_default();
    message.to == BROADCAST
        || is_handle(&message.to)
        || listed.iter().any(is_handle)
        || (message.recipient_count as usize) > listed.len().max(1)
}

/// A request for the messages of a team. Its texts are not yet parsed.
#[derive(Debug)]
pub struct HistoryRequest<'a> {
    pub caller: &'a TeamCaller,
    /// Only messages from or to this member.
    pub member: Option<&'a str>,
    /// Only messages about this task.
    pub task: Option<&'a str>,
    /// Only messages before this one.
    pub before: Option<u64>,
    pub limit: Option<usize>,
}

/// Lists the messages of a team, the newest first, and the members that have not read them.
///
/// # Errors
/// When a field is not valid, the caller is denied, there is no such team, or the store does not respond.
pub async fn message_history(
    app: &App,
    request: HistoryRequest<'_>,
    context: CallerContext<'_>,
) -> Result<HistoryResponse, ApiError> {
    let agent = TeamAgent::of(request.caller, context)?;
    let member = parse_optional("member", request.member, Handle::parse)?;
    let task = parse_optional("task", request.task, TaskId::parse)?;
    let most = page_limit(request.limit)?;
    let before = number("before", request.before)?;
    let mut admission = agent.begin(app, Right::Read).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let mut call = ListMessages {
        team,
        most,
        most_bytes: MAX_BYTES,
        filter: MessageFilter {
            before,
            member: member.as_ref(),
            task: task.as_ref(),
        },
    };
    let mut parts = 0;
    let mut last_page: Option<(MessagePage, _)> = None;
    let (page, waiting) = loop {
        let (page, waiting) = match (run_part(&mut admission, &mut call, PRICE_OF_LIST).await, last_page) {
            // The empty page says where the next request continues.
            (Err(ApiError::RateLimited { .. }), Some(last_page)) => break last_page,
            (part, _) => part?,
        };
        parts += 1;
        call.filter.before = page.earlier;
        if !page.messages.is_empty() || page.earlier.is_none() || parts == MAX_PARTS {
            break (page, waiting);
        }
        last_page = Some((page, waiting));
    };
    let to_view = |message: StoredMessage| {
        let unread_by = unread_by(&message, &page.readers);
        view::message(message, unread_by.is_empty(), unread_by)
    };
    Ok(HistoryResponse {
        messages: page.messages.into_iter().map(to_view).collect(),
        earlier: page.earlier,
        waiting,
    })
}

/// The recipients that have not confirmed the message, including those that have left the team since.
fn unread_by(message: &StoredMessage, readers: &[Reader]) -> Vec<String> {
    let is_sender = |reader: &Reader| {
        message
            .from
            .as_deref()
            .is_some_and(|from| from.eq_ignore_ascii_case(&reader.handle))
    };
    let is_recipient = |reader: &Reader| match (&message.recipients, message.to.as_str()) {
        (_, BROADCAST) => !is_sender(reader) && reader.from < message.id,
        (Some(handles), _) => handles.iter().any(|handle| handle.eq_ignore_ascii_case(&reader.handle)),
        (None, to) => to.eq_ignore_ascii_case(&reader.handle),
    };
    let unread = readers
        .iter()
        .filter(|reader| is_recipient(reader) && reader.read < message.id);
    let mut names: Vec<String> = unread.map(|reader| reader.handle.clone()).collect();
    for handle in &message.left {
        if !names.iter().any(|name| name.eq_ignore_ascii_case(handle)) {
            names.push(handle.clone());
        }
    }
    names
}

/// Whether an event happened in the team.
pub(super) fn is_in_team(event: &Event, team: &TeamName) -> bool {
    event.team().is_some_and(|name| name.eq_ignore_ascii_case(team.key()))
}
