//! `coord message`.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use coord_agent::exit_status::ExitStatus;
use coord_agent::terminal::output::{note, print_as, print_while_read};
use coord_agent::workplace::Workplace;
use coord_mcp::Outcome;
use coord_protocol::messages::{InboxResponse, MessageView, ReadMessagesRequest, SendMessageRequest};
use coord_protocol::{ClientError, HistoryFilter};

use super::common::Common;

const EXAMPLES: &str = "\
Examples:
  coord message send --to worker-1 'query() is async now'
  coord message send --to broadcast 'The build is broken'
  coord message read
  coord message watch

Exit status: 0 done, 1 an error, 2 wrong usage, 3 refused by the rules, 4 no answer.";

/// Seconds that the server holds a request of `watch` open until a message arrives.
const WATCH_WAIT_SECONDS: u32 = 20;

/// Pause of `watch` after an empty response for which the server did not wait.
const WATCH_PAUSE: Duration = Duration::from_secs(2);

/// Options of `coord message`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MessageArgs {
    /// Subcommand
    #[command(subcommand)]
    command: MessageCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum MessageCommand {
    /// Send a message to members, or to all others
    Send(SendArgs),
    /// Print your unread messages, and mark them as read
    Read(ReadArgs),
    /// Print messages as they arrive
    Watch(Common),
    /// List the messages of the team, the newest first, and the members that have not read them
    List(ListArgs),
}

impl MessageArgs {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// When the subcommand fails, with a sentence for the terminal.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        match self.command {
            MessageCommand::Send(args) => args.run().await,
            MessageCommand::Read(args) => args.run().await,
            MessageCommand::Watch(common) => watch(&common).await,
            MessageCommand::List(args) => args.run().await,
        }
    }
}

/// Options of `coord message send`.
#[derive(Clone, Debug, Args)]
struct SendArgs {
    /// The text
    #[arg(value_name = "TEXT")]
    text: String,
    /// A handle, or broadcast; may be repeated
    #[arg(long, value_name = "HANDLE", required_unless_present = "idle")]
    to: Vec<String>,
    /// Tell the leader that you have nothing to do
    #[arg(long, conflicts_with = "to")]
    idle: bool,
    /// The task that it is about
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The message that it replies to
    #[arg(long, value_name = "NUMBER")]
    reply_to: Option<u64>,
    #[command(flatten)]
    common: Common,
}

impl SendArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let request = SendMessageRequest {
            caller: self.common.caller(&workplace),
            request_key: Some(uuid::Uuid::now_v7().hyphenated().to_string()),
            to: (!self.idle).then_some(self.to),
            kind: self.idle.then(|| "idle".to_owned()),
            message: Some(self.text),
            task_id: self.task,
            reply_to: self.reply_to,
            ..SendMessageRequest::default()
        };
        let result = workplace.connection.client.send_message(&request).await;
        self.common.print(&workplace, result)
    }
}

/// Options of `coord message read`.
#[derive(Clone, Debug, Args)]
struct ReadArgs {
    /// Seconds to wait for a message, 0 to 20
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u32,
    /// Do not mark the messages as read
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    common: Common,
}

impl ReadArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let spinner = workplace.start_spinner();
        let inbox = read(&workplace, &self.common, None, self.wait).await;
        drop(spinner);
        let unread = inbox.as_ref().ok().filter(|inbox| !inbox.messages.is_empty());
        let cursor = unread.map(|inbox| inbox.cursor);
        let status = self.common.print(&workplace, inbox)?;
        // Messages count as read only once they are printed.
        if let (Some(cursor), false) = (cursor, self.keep) {
            workplace.ask(read(&workplace, &self.common, Some(cursor), 0)).await?;
        }
        Ok(status)
    }
}

async fn read(
    workplace: &Workplace,
    common: &Common,
    cursor: Option<u64>,
    wait: u32,
) -> Result<InboxResponse, ClientError> {
    let request = ReadMessagesRequest {
        caller: common.caller(workplace),
        cursor,
        wait: Some(wait),
        ..ReadMessagesRequest::default()
    };
    workplace.connection.client.read_messages(&request).await
}

/// Prints messages until Ctrl-C, until the output is closed, or until the server refuses a request.
async fn watch(common: &Common) -> anyhow::Result<ExitCode> {
    let workplace = common.open()?;
    let mut cursor = None;
    loop {
        let inbox = read(&workplace, common, cursor, WATCH_WAIT_SECONDS).await;
        let inbox = inbox.map_err(|error| workplace.command_error(error))?;
        let mut missed = coord_mcp::missed_line(&inbox);
        if let Some(line) = missed.take_if(|_| common.json) {
            // Each line of the JSON output is a message, so this one goes elsewhere.
            note(&line);
        }
        let line = |message: &MessageView| match common.json {
            true => serde_json::to_string(message).ok(),
            false => Some(coord_mcp::message_line(message)),
        };
        let lines = missed.into_iter().chain(inbox.messages.iter().filter_map(line));
        let text: String = lines.map(|line| line + "\n").collect();
        if !text.is_empty() && !print_while_read(&text)? {
            return Ok(ExitStatus::Done.into());
        }
        if inbox.messages.is_empty() && !inbox.timed_out {
            // A shutdown has changed, or the server does not let requests wait.
            tokio::time::sleep(WATCH_PAUSE).await;
        }
        cursor = Some(inbox.cursor);
        workplace.note_answer_shown(&Outcome::Team(Box::new(inbox.into())));
    }
}

/// Options of `coord message list`.
#[derive(Clone, Debug, Args)]
struct ListArgs {
    /// Only messages from or to this member
    #[arg(long, value_name = "HANDLE")]
    member: Option<String>,
    /// Only messages about this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Only messages before this one
    #[arg(long, value_name = "NUMBER")]
    before: Option<u64>,
    /// Maximum number of messages
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    common: Common,
}

impl ListArgs {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let workplace = self.common.open()?;
        let filter = HistoryFilter {
            member: self.member,
            task: self.task,
            before: self.before,
            limit: Some(self.limit),
        };
        let caller = workplace.ask(self.common.reading_caller(&workplace)).await?;
        let request = workplace.connection.client.messages(&caller, &filter);
        let history = workplace.ask(request).await?;
        print_as(self.common.json, &history, |history| {
            let line = |message: &MessageView| {
                let unread = match message.unread_by.as_slice() {
                    [] => String::new(),
                    handles => format!("\n(not read by {})", handles.join(", ")),
                };
                format!("{}{unread}\n", coord_mcp::message_line(message))
            };
            let mut text: String = history.messages.iter().map(line).collect();
            if let Some(earlier) = history.earlier {
                text.push_str(&format!("and earlier ones; --before {earlier} shows them\n"));
            }
            text
        })?;
        Ok(ExitStatus::Done.into())
    }
}
