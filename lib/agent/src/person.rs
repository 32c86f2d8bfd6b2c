//! Actions that only a person may take: no agent is named, and the person confirms in a terminal.

use std::io::stderr;

use anyhow::{bail, ensure};
use clap::Args;
use coord_git::WorkingCopy;

use super::options::AgentArgs;
use super::session::Session;
use super::terminal::question::{has_person, is_confirmed};
use super::workplace::Workplace;

/// The option of commands that only a person may run.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct PersonArgs {
    /// Skip the question; still requires a terminal
    #[arg(long)]
    pub yes: bool,
}

/// Opens the working copy and its server for a person, after the person at the terminal has confirmed `question`.
///
/// # Errors
/// When this is not a terminal, an agent is named, or the answer is no; and as [`Workplace::open`].
pub fn confirm(args: &AgentArgs, person: PersonArgs, question: &str) -> anyhow::Result<Workplace> {
    ensure_confirmed(args, person, question)?;
    Workplace::for_person(args)
}

/// Asks the person at the terminal.
///
/// # Errors
/// When this is not a terminal, an agent is named, or the answer is no.
pub fn ensure_confirmed(args: &AgentArgs, person: PersonArgs, question: &str) -> anyhow::Result<()> {
    ensure_no_agent(args)?;
    ensure!(has_person(&stderr()), "this takes a person: run it in a terminal");
    ensure!(person.yes || is_confirmed(stderr(), question)?, "nothing was done");
    Ok(())
}

/// Fails if an agent runs the command: an agent is named, or the command runs in an agent's session.
///
/// # Errors
/// A sentence that names the agent.
pub fn ensure_no_agent(args: &AgentArgs) -> anyhow::Result<()> {
    let session_agent = || {
        let working_copy = WorkingCopy::find(".".as_ref()).ok()??;
        Session::existing(&working_copy).map(|session| session.agent_id)
    };
    if let Some(agent) = args.agent_id()?.or_else(session_agent) {
        bail!(
            "this takes a person, and {} is an agent: ask your user to run it in their own terminal",
            agent.as_str()
        );
    }
    Ok(())
}
