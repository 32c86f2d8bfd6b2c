//! Delivers messages of the session's teams to its model, each once.
//!
//! A message counts as delivered once a hook has printed it. The next call reports that to the server by the cursor,
//! which is noted only after the text was printed. So a hook that dies earlier has delivered nothing, and a session
//! that dies has read nothing that it was not given.

pub(super) mod next_task;
mod texts;

use coord_agent::mail_notes::{LockedMailNotes, MailNotes, TeamNotes};
use coord_agent::work::Work;
use coord_protocol::messages::{InboxResponse, ReadMessagesRequest};
use coord_protocol::teams::TeamCaller;
use coord_protocol::{ClientError, ErrorCode};
use futures::future::join_all;

use super::connected_session::ConnectedSession;
use super::event::Moment;

use texts::inbox_text;

/// Maximum text that one call delivers, in bytes: agents truncate longer texts. A message and a shutdown always fit in
/// it.
const MAX_BYTES: usize = 8 * 1024;

/// Maximum number of messages that one call fetches.
const MAX_MESSAGES: u32 = 20;

/// Maximum number of teams whose messages one call fetches. If there are more, the teams take turns.
const MAX_TEAMS: usize = 4;

/// New text, and the notes to store once it is printed.
#[derive(Debug)]
pub(super) struct News {
    /// The text for the model. `None` if only notes change.
    pub text: Option<String>,
    mail: LockedMailNotes,
}

impl News {
    /// Stores the notes. Called after the text was printed.
    pub fn mark_delivered(self) {
        self.mail.save();
    }
}

/// Fetches the teams of the session, if they are unknown or if `is_refresh`.
pub(super) async fn find_teams(session: ConnectedSession<'_>, is_refresh: bool) {
    let ConnectedSession { work, holder, .. } = session;
    if !is_refresh && MailNotes::read(&work.working_copy, holder).teams.is_some() {
        return;
    }
    let teams = match session.connection.client.teams(&work.repo_url()).await {
        Ok(response) => response.your_teams,
        // An old server, which has no teams.
        Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::UnknownRoute => Vec::new(),
        Err(error) => return tracing::debug!(%error, "the teams of the session are not known"),
    };
    if let Some(mut mail) = MailNotes::open(&work.working_copy, holder) {
        mail.notes.set_teams(&teams);
        mail.save();
    }
}

/// Fetches news in the teams of the session. `has_read` if the tool `message_read` has just given its answer to the
/// model. `None` if the session is in no team, or another of its hooks is delivering the news.
pub(super) async fn news(session: ConnectedSession<'_>, moment: Moment, has_read: bool) -> Option<News> {
    let ConnectedSession { work, holder, .. } = session;
    let is_in_teams = |notes: &MailNotes| notes.teams.as_ref().is_some_and(|teams| !teams.is_empty());
    if !is_in_teams(&MailNotes::read(&work.working_copy, holder)) {
        return None;
    }
    let mut mail = MailNotes::open(&work.working_copy, holder)?;
    let before = mail.notes.clone();
    if has_read {
        let teams = mail.notes.teams.iter_mut().flat_map(|teams| teams.values_mut());
        teams.for_each(|notes| notes.cursor = notes.cursor.max(notes.offered.take()));
    }
    let all_notes = mail.notes.teams.clone()?;
    let queried = mail.notes.next_teams(MAX_TEAMS);
    let teams: Vec<(&String, &TeamNotes)> = queried
        .iter()
        .filter_map(|team| all_notes.get_key_value(team))
        .collect();
    let inboxes = join_all(
        teams
            .iter()
            .map(|(team, notes)| fetch_inbox(session, team, notes.cursor, None)),
    );
    let (mut texts, mut room, mut incomplete) = (Vec::new(), MAX_BYTES, Vec::new());
    for ((team, notes), inbox) in teams.iter().copied().zip(inboxes.await) {
        let new_notes = mail.notes.teams.get_or_insert_default();
        match inbox {
            Ok(inbox) => {
                let mut notes = notes.clone();
                texts.extend(inbox_text(&inbox, &mut notes, moment, &mut room));
                if inbox.has_more || notes.cursor != Some(inbox.cursor) {
                    incomplete.push(team);
                }
                new_notes.insert(team.clone(), notes);
            }
            Err(ClientError::Refused { error, .. })
                if matches!(
                    error.error,
                    ErrorCode::NotAMember | ErrorCode::UnknownTeam | ErrorCode::Superseded
                ) =>
            {
                new_notes.remove(team);
                if error.error == ErrorCode::Superseded {
                    texts.push(format!("Coord: SUPERSEDED: {}.", error.message));
                }
            }
            Err(error) => tracing::debug!(%error, team, "the messages cannot be read"),
        }
    }
    // The next call begins with the first team that another team left no room, or else with a team that was not
    // queried. So no team waits forever.
    if let Some(team) = incomplete.into_iter().find(|team| Some(*team) != queried.first()) {
        mail.notes.first = Some(team.clone());
    } else if queried.len() < all_notes.len() {
        mail.notes.first = queried.last().and_then(|last| mail.notes.team_after(last));
    }
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    (text.is_some() || mail.notes != before).then_some(News { text, mail })
}

/// Waits up to `seconds` for a message or a shutdown for the session. Returns whether there is one. Nothing is
/// delivered or noted.
pub(super) async fn wait_for_mail(session: ConnectedSession<'_>, seconds: u32) -> bool {
    let notes = MailNotes::read(&session.work.working_copy, session.holder);
    let all_notes = notes.teams.clone().unwrap_or_default();
    let teams = notes.next_teams(MAX_TEAMS);
    let inboxes = teams.iter().map(|team| {
        let cursor = all_notes.get(team).and_then(|notes| notes.cursor);
        fetch_inbox(session, team, cursor, Some(seconds))
    });
    let mut inboxes = join_all(inboxes).await.into_iter().flatten();
    inboxes.any(|inbox| !inbox.messages.is_empty() || inbox.shutdown.is_some())
}

/// The messages after `cursor`. Without a cursor, the unread messages.
async fn fetch_inbox(
    session: ConnectedSession<'_>,
    team: &str,
    cursor: Option<u64>,
    wait: Option<u32>,
) -> Result<InboxResponse, ClientError> {
    let client = &session.connection.client;
    let mut request = ReadMessagesRequest {
        caller: caller(session.work, team),
        cursor,
        wait,
        limit: Some(MAX_MESSAGES),
        ..ReadMessagesRequest::default()
    };
    match client.read_messages(&request).await {
        // A new team has this name now, and numbers its messages from 1 again.
        Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::CursorAhead => {
            request.cursor = None;
            client.read_messages(&request).await
        }
        result => result,
    }
}

fn caller(work: &Work, team: &str) -> TeamCaller {
    TeamCaller {
        repo_url: Some(work.repo_url()),
        team: Some(team.to_owned()),
        agent_id: work.agent_id.as_ref().map(|agent| agent.as_str().to_owned()),
    }
}
