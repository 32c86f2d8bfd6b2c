//! Messages, and the inbox that holds them.

use crate::bounds::{INBOX_BYTES, INBOX_MESSAGES};
use crate::json::{self, Json, Object};
use crate::layout::Entry;
use crate::names::{Handle, TeamName};
use crate::refusal::Refusal;
use crate::shape::{MemberError, Record, Shape, text, texts, time};
use crate::time::Time;

/// `MessageTypeSchema`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageType {
    #[default]
    Plain,
    /// The sender has nothing to do.
    Idle,
    /// The recipient should take a task.
    TaskAssignment,
    /// The recipient should approve a shutdown.
    ShutdownRequest,
    /// The sender approves the shutdown.
    ShutdownApproved,
}

impl MessageType {
    pub const ALL: [MessageType; 5] = [
        MessageType::Plain,
        MessageType::Idle,
        MessageType::TaskAssignment,
        MessageType::ShutdownRequest,
        MessageType::ShutdownApproved,
    ];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            MessageType::Plain => "plain",
            MessageType::Idle => "idle",
            MessageType::TaskAssignment => "task_assignment",
            MessageType::ShutdownRequest => "shutdown_request",
            MessageType::ShutdownApproved => "shutdown_approved",
        }
    }

    /// Whether it belongs to a shutdown, which has its own calls.
    pub fn is_of_shutdown(self) -> bool {
        matches!(self, MessageType::ShutdownRequest | MessageType::ShutdownApproved)
    }
}

/// `MessageSchema`, to the letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender's handle; not empty.
    pub from: String,
    /// The recipient's handle, or [`crate::texts::BROADCAST`]; not empty.
    pub to: String,
    /// The text; it may be empty.
    pub message: String,
    /// Plain if the file has none.
    pub kind: MessageType,
    /// When it was sent.
    pub timestamp: Time,
    /// Whether the owner of the inbox has read it; false if the file does not say.
    pub read: bool,
    pub summary: Option<String>,
    pub recipients: Option<Vec<String>>,
}

impl Record for Message {
    fn members(&self) -> Vec<(&'static str, Option<Json>)> {
        vec![
            ("from", text(&self.from)),
            ("to", text(&self.to)),
            ("message", text(&self.message)),
            ("type", text(self.kind.as_str())),
            ("timestamp", time(&self.timestamp)),
            ("read", Some(Json::Bool(self.read))),
            ("summary", self.summary.as_deref().and_then(text)),
            ("recipients", self.recipients.as_deref().and_then(texts)),
        ]
    }
}

impl Message {
    fn of(value: &Json, index: usize) -> Result<Self, MemberError> {
        let shape = Shape::of(value, format!("[{index}]"))?;
        Ok(Self {
            from: shape.text_not_empty("from")?,
            to: shape.text_not_empty("to")?,
            message: shape.text("message")?,
            kind: shape
                .optional_word("type", &MessageType::ALL, MessageType::as_str)?
                .unwrap_or_default(),
            timestamp: shape.time("timestamp")?,
            read: shape.optional_flag("read")?.unwrap_or(false),
            summary: shape.optional_text("summary")?,
            recipients: shape.optional_texts("recipients")?,
        })
    }
}

/// `teams/TEAM/inboxes/HANDLE.json`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InboxFile {
    messages: Vec<Message>,
    objects: Vec<Object>,
}

impl InboxFile {
    pub fn parse(team: &TeamName, handle: &Handle, bytes: &[u8]) -> Result<Self, Refusal> {
        let path = Entry::Inbox(team.clone(), handle.clone()).path();
        let refuse = |message| Refusal::of_file(&path, message);
        let value = json::parse(bytes, INBOX_BYTES).map_err(refuse)?;
        let Json::Array(items) = value else {
            return Err(refuse(format!("Expected array, received {}", value.kind())));
        };
        if items.len() > INBOX_MESSAGES {
            let count = items.len();
            return Err(refuse(format!("{count} messages; at most {INBOX_MESSAGES} are read")));
        }
        let messages = items.iter().enumerate().map(|(index, item)| Message::of(item, index));
        let messages = messages
            .collect::<Result<_, _>>()
            .map_err(|error| error.in_file(&path))?;
        let object = |item| match item {
            Json::Object(object) => object,
            _ => unreachable!("a message is an object"),
        };
        let objects = items.into_iter().map(object).collect();
        Ok(Self { messages, objects })
    }

    /// The messages, the oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn push(&mut self, message: Message) {
        self.objects.push(message.object());
        self.messages.push(message);
    }

    /// Marks a message as read. Unknown members stay.
    pub fn mark_read(&mut self, index: usize) {
        let mut message = self.messages[index].clone();
        message.read = true;
        self.objects[index] = message.edit(&self.messages[index], &self.objects[index]);
        self.messages[index] = message;
    }

    pub fn render(&self) -> String {
        json::render(&Json::Array(self.objects.iter().cloned().map(Json::Object).collect()))
    }
}
