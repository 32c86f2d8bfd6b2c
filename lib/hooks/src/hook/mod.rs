//! `coord hook AGENT EVENT`: agents run it when they start, receive a prompt, use a tool, and stop. It claims files
//! before they are edited, releases them when they are pushed, and reports who works on what. So the rules are enforced
//! even if a model forgets them.
//!
//! - `agents`: the forms of the agents' JSON, one file each, and the table of their events and tools
//! - `before`: claims the files of a tool before it runs, grouped by `working_copy_files`. `shell` finds the files of a
//!   shell command. `shared_tree` refuses changes of a whole working copy. `handshake`, `tool_settings`, `ignored` and
//!   `stale` refuse calls without a server. `usage` counts a call for the budget of its intent
//! - `interfaces`: the effect of a call on interfaces, by `edits`: a file's content after the call
//! - `after`: changes by a tool. `session_working_copy` and `lock_check` compare the working copy before and after a
//!   command. `log` and `record` send records to the ledger, without the `local_paths`
//! - `holder_handoff`: passes the name of the holder to Coord's tools and commands
//! - `mail`: messages of the session's teams
//! - `release`, `writer_end`, `renewal`, `context`, `unhooked_writes`: the session's locks at other times. `warnings`:
//!   those of claims. `idle` wakes a session that has ended its turn
//! - `intents`, `tokens`: the intents that the session knows, and the tokens that it reports

mod after;
pub mod agents;
mod before;
mod caller;
mod connected_session;
mod context;
mod edits;
mod event;
mod event_times;
mod guard;
mod handshake;
mod holder_handoff;
mod idle;
pub(super) mod ignored;
mod input;
mod intents;
mod interfaces;
mod local_paths;
mod lock_check;
mod log;
mod mail;
mod reason;
mod record;
mod release;
mod renewal;
mod session_working_copy;
mod shared_tree;
mod shell;
mod stale;
mod tokens;
mod tool_settings;
mod unhooked_writes;
mod upkeep;
mod usage;
mod warnings;
mod working_copy_files;
mod writer_end;

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use coord_agent::options::AgentArgs;
use coord_agent::terminal::output::print_while_read;
use parking_lot::Mutex;

use agents::Agent;
use caller::{Caller, Trace};
use event::{Answer, Decision, Moment};
use input::InvalidInput;
use upkeep::EventResult;
pub use upkeep::KEEP_GOING;

/// Whether a tool runs if the hook fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// The tool must not run
    Deny,
    /// The tool runs
    Allow,
}

/// The options of `coord hook`.
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The agent that calls
    agent: Agent,
    /// The event, by the agent's own name
    event: String,
    /// Whether a tool that writes files may run when the server does not answer or the hook fails
    #[arg(long, value_name = "WHAT", default_value = "deny")]
    on_error: OnError,
    /// Which tool calls are recorded in the ledger, where the repository has intents: those that may change something,
    /// or those that read too
    #[arg(long, value_name = "WHICH", default_value = "changes")]
    trace: Trace,
    /// At the end of a turn, ask the agent to continue while messages or a ready task of its teams wait, never twice in
    /// a row (`git config coord.keepGoing true` does the same)
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    agent_args: AgentArgs,
}

impl HookArgs {
    /// The exit status follows the agent's protocol: the meaning of a failure differs from agent to agent.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let (answer, news) = match self.decide().await {
            Ok(EventResult { decision, news }) => (self.agent.answer(&self.event, &decision), news),
            Err(failure) => {
                let answer = Answer {
                    body: None,
                    status: self
                        .agent
                        .status_of_failure(&self.event, self.on_error == OnError::Deny),
                    stderr: Some(format!("coord hook: {failure}")),
                };
                (answer, None)
            }
        };
        if let Some(text) = &answer.stderr {
            // The agent may have closed standard error.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
        let has_reader = match &answer.body {
            Some(body) => print_while_read(&format!("{body}\n"))?,
            None => true,
        };
        if let Some(news) = news.filter(|_| has_reader) {
            news.mark_delivered();
        }
        Ok(ExitCode::from(answer.status))
    }

    /// The decision. The error is a sentence, if the input does not have the agent's form.
    async fn decide(&self) -> Result<EventResult, String> {
        if self.agent.moment(&self.event).is_none() {
            // An unknown event is refused without reading the input.
            self.agent.parse(&self.event, &serde_json::Value::Null)?;
        }
        let call = match input::read().await {
            Ok(input) => self.agent.parse(&self.event, &input)?,
            Err(InvalidInput { why, fields }) if self.agent.changes_nothing(&self.event, &fields) => {
                let note = Some(format!("Coord: {why}"));
                return Ok(Decision::Proceed { context: None, note }.into());
            }
            Err(InvalidInput { why, .. }) => return Err(why),
        };
        let has_no_folder = caller::leave_removed_folder() && call.folder.is_none();
        let caller = Caller {
            has_no_folder,
            agent: self.agent,
            event: &self.event,
            args: &self.agent_args,
            trace: self.trace,
            keep_going: self.keep_going,
            call,
            leads: Mutex::default(),
        };
        if caller.call.moment == Moment::Environment {
            let arguments = holder_handoff::environment(&caller);
            let rewrite = arguments.map(|arguments| Decision::Rewrite { arguments, note: None });
            return Ok(rewrite.unwrap_or(Decision::PROCEED).into());
        }
        if caller.call.moment == Moment::Idle {
            return Ok(idle::run(&caller).await);
        }
        if caller.call.moment != Moment::BeforeTool {
            return Ok(upkeep::run(&caller).await);
        }
        let decision = match (before::decide(&caller).await, self.on_error) {
            (Ok(decision), _) => decision,
            (Err(reason), OnError::Deny) => Decision::Deny { reason },
            (Err(reason), OnError::Allow) => Decision::Proceed {
                context: None,
                note: Some(format!("Coord: not claimed: {reason}")),
            },
        };
        Ok(decision.into())
    }
}
