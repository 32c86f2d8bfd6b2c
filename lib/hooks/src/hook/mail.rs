//! Messages of the session's teams, put before its model, each once.
//!
//! Text that a hook has printed counts as delivered to the model. The next call proves that to the server by the cursor, which is noted
//! only after the text was printed: a hook that dies before has handed over nothing, and a session that dies has read nothing that it
//! was not shown.

pub(super) mod next_task;
mod texts;

use coord_agent::connection::Connection;
use coord_agent::mail_notes::{LockedMailNotes, MailNotes, TeamNotes};
use coord_agent::work::Work;
use coord_domain::AgentId;
use coord_protocol::messages::{InboxResponse, ReadMessagesRequest};
use coord_protocol::teams::TeamCaller;
use coord_protocol::{ClientError, ErrorCode};
use futures::future::join_all;

use super::event::Moment;

use texts::inbox_text;

/// Most bytes that one call hands over; agents cut longer texts off. A message, and a shutdown beside it, always have room in it.
const MOST_BYTES: usize = 8 * 1024;

/// Most messages that one call asks for.
const MOST_MESSAGES: u32 = 20;

/// Most teams that one call asks about; of more, each has its turn.
const MOST_TEAMS: usize = 4;

/// New text, and the notes to store once it is printed.
#[derive(Debug)]
pub(super) struct News {
    /// The text for the model; none where only notes change.
    pub text: Option<String>,
    mail: LockedMailNotes,
}

impl News {
    /// The text was printed.
    pub fn mark_delivered(self) {
        self.mail.save();
    }
}

/// Asks which teams the session is in, where that is not known, or `anew`.
pub(super) async fn find_teams(connection: &Connection, work: &Work, holder: &AgentId, anew: bool) {
    if !anew && MailNotes::read(&work.working_copy, holder).teams.is_some() {
        return;
    }
    let teams = match connection.client.teams(&work.repo_url()).await {
        Ok(listed) => listed.your_teams,
        // A server of before teams.
        Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::UnknownRoute => Vec::new(),
        Err(error) => return tracing::debug!(%error, "the teams of the session are not known"),
    };
    if let Some(mut mail) = MailNotes::open(&work.working_copy, holder) {
        mail.notes.set_teams(&teams);
        mail.save();
    }
}

/// News in the teams of the session; `has_read`: the tool message_read has just given the model its answer. `None` if the session is in
/// no team, or another of its hooks is delivering the news.
pub(super) async fn news(
    connection: &Connection,
    work: &Work,
    holder: &AgentId,
    moment: Moment,
    has_read: bool,
) -> Option<News> {
    let is_in_teams = |notes: &MailNotes| notes.teams.as_ref().is_some_and(|teams| !teams.is_empty());
    if !is_in_teams(&MailNotes::read(&work.working_copy, holder)) {
        return None;
    }
    let mut mail = MailNotes::open(&work.working_copy, holder)?;
    let before = mail.notes.clone();
    if has_read {
        let teams = mail.notes.teams.iter_mut().flat_map(|teams| teams.values_mut());
        teams.for_each(|known| known.cursor = known.cursor.max(known.offered.take()));
    }
    let known = mail.notes.teams.clone()?;
    let turn = mail.notes.in_turn(MOST_TEAMS);
    let teams: Vec<(&String, &TeamNotes)> = turn.iter().filter_map(|team| known.get_key_value(team)).collect();
    let inboxes = join_all(
        teams
            .iter()
            .map(|(team, known)| read(connection, work, team, known.cursor, None)),
    );
    let (mut texts, mut room, mut waiting) = (Vec::new(), MOST_BYTES, Vec::new());
    for ((team, known), inbox) in teams.iter().copied().zip(inboxes.await) {
        let noted = mail.notes.teams.get_or_insert_default();
        match inbox {
            Ok(inbox) => {
                let mut known = known.clone();
                texts.extend(inbox_text(&inbox, &mut known, moment, &mut room));
                if inbox.has_more || known.cursor != Some(inbox.cursor) {
                    waiting.push(team);
                }
                noted.insert(team.clone(), known);
            }
            Err(ClientError::Refused { error, .. })
                if matches!(
                    error.error,
                    ErrorCode::NotAMember | ErrorCode::UnknownTeam | ErrorCode::Superseded
                ) =>
            {
                noted.remove(team);
                if error.error == ErrorCode::Superseded {
                    texts.push(format!("Coord: SUPERSEDED: {}.", error.message));
                }
            }
            Err(error) => tracing::debug!(%error, team, "the messages cannot be read"),
        }
    }
    // The first one that another left no room begins the next call, or else who was not asked: so none waits for ever.
    if let Some(team) = waiting.into_iter().find(|team| Some(*team) != turn.first()) {
        mail.notes.first = Some(team.clone());
    } else if turn.len() < known.len() {
        mail.notes.first = turn.last().and_then(|last| mail.notes.next_after(last));
    }
    let text = (!texts.is_empty()).then(|| texts.join("\n"));
    (text.is_some() || mail.notes != before).then_some(News { text, mail })
}

/// Whether a message or a shutdown is there for the session, within so many seconds. Nothing is handed over or noted.
pub(super) async fn wait_for_mail(connection: &Connection, work: &Work, holder: &AgentId, seconds: u32) -> bool {
    let notes = MailNotes::read(&work.working_copy, holder);
    let known = notes.teams.clone().unwrap_or_default();
    let teams = notes.in_turn(MOST_TEAMS);
    let inboxes = teams.iter().map(|team| {
        let cursor = known.get(team).and_then(|known| known.cursor);
        read(connection, work, team, cursor, Some(seconds))
    });
    let mut inboxes = join_all(inboxes).await.into_iter().flatten();
    inboxes.any(|inbox| !inbox.messages.is_empty() || inbox.shutdown.is_some())
}

/// The messages after `cursor`, or those that are not read.
async fn read(
    connection: &Connection,
    work: &Work,
    team: &str,
    cursor: Option<u64>,
    wait: Option<u32>,
) -> Result<InboxResponse, ClientError> {
    let mut request = ReadMessagesRequest {
        caller: caller(work, team),
        cursor,
        wait,
        limit: Some(MOST_MESSAGES),
        ..ReadMessagesRequest::default()
    };
    match connection.client.read_messages(&request).await {
        // Another team has the name by now, with other numbers.
        Err(ClientError::Refused { error, .. }) if error.error == ErrorCode::CursorAhead => {
            request.cursor = None;
            connection.client.read_messages(&request).await
        }
        answered => answered,
    }
}

fn caller(work: &Work, team: &str) -> TeamCaller {
    TeamCaller {
        repo_url: Some(work.repo_url()),
        team: Some(team.to_owned()),
        agent_id: work.agent_id.as_ref().map(|agent| agent.as_str().to_owned()),
    }
}
