//! Actions that only a person may take: no agent is named, and the person confirms in a terminal.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail, ensure};
use clap::Args;
use coord_git::WorkingCopy;

use super::options::AgentArgs;
use super::session::Session;
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
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    ensure!(is_terminal, "this takes a person: run it in a terminal");
    if person.yes {
        return Ok(());
    }
    let mut out = std::io::stderr();
    write!(out, "{question} [y/N] ")
        .and_then(|()| out.flush())
        .context("the terminal")?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).context("the terminal")?;
    ensure!(is_yes(&answer), "nothing was done");
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

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for answer in ["y\n", "Y\r\n", " yes \n"] {
            assert!(is_yes(answer), "{answer:?}");
        }
        for answer in ["", "\n", "n\n", "yes please\n", "ja\n"] {
            assert!(!is_yes(answer), "{answer:?}");
        }
    }
}
