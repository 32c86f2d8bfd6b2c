//! `coord simulate`: two agents edit one file, with the hooks that are configured, and each step is shown.

use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use coord_agent::terminal::output::{BAD, CAUTION, FAINT, GOOD, print, styled, width};
use coord_agent::terminal::wrap::wrap;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_hooks::hook::agents::Agent;
use serde_json::Value;

use super::configured_hooks;
use super::init::handler::Form;
use super::init::{self, Attempt, Event, Hooks};
use super::scratch::Scratch;

const EXAMPLES: &str = "\
Examples:
  coord simulate              with the hooks of each agent that is configured here
  coord simulate claude-code  with those of Claude Code, as `coord init` writes them

Exit status: 0 no edit was overwritten, 1 one was, or an error, 2 wrong usage.";

/// The file that both edit.
const FILE: &str = "src/db.ts";

/// Columns of the step before what becomes of it.
const STEP: usize = 34;

/// Options of `coord simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SimulateArgs {
    /// The agent [default: each whose hooks are configured here]
    #[arg(value_name = "AGENT")]
    pub agent: Option<Agent>,
}

impl SimulateArgs {
    /// Plays, and prints each step.
    ///
    /// # Errors
    /// When there is nothing to play with, or it cannot be printed.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        ensure!(
            init::is_on_path("coord"),
            "coord is not on your PATH, so hooks would do nothing: run `cargo install --locked --path cli` in a clone of Coord"
        );
        let mut played = true;
        for (agent, form, place) in self.hooks() {
            print(&format!("Hooks of {}: {place}\n\n", agent.name()))?;
            played &= play(agent, form).await?;
        }
        Ok(if played { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The agent, the form of its hooks, and the file that configures them.
    fn hooks(&self) -> Vec<(Agent, Form, String)> {
        let working_copy = WorkingCopy::containing(".".as_ref()).ok();
        let configured = working_copy.iter().flat_map(configured_hooks::all);
        let is_wanted = |agent: &Agent| self.agent.is_none_or(|wanted| wanted == *agent);
        let mut found: Vec<_> = configured
            .filter_map(|(name, configured)| {
                let configured = configured?;
                let agent = Agent::from_str(name, false).ok().filter(is_wanted)?;
                Some((agent, configured.form, configured.path.display().to_string()))
            })
            .collect();
        if found.is_empty() {
            let agent = self.agent.unwrap_or(Agent::ClaudeCode);
            let place = "as `coord init` would write them; none are configured here yet";
            found.push((agent, Form::Guarded, place.to_owned()));
        }
        found
    }
}

/// Two agents, whose hooks are run as their agent would run them.
struct Play<'a> {
    agent: &'static init::Agent,
    hooks: &'static Hooks,
    form: Form,
    scratch: &'a Scratch,
}

impl Play<'_> {
    /// The reason that `who` gets when the hook of `event` denies the call; `None` when it does not.
    async fn denial_of(&self, who: &str, event: &Event) -> anyhow::Result<Option<String>> {
        let root = self.scratch.working_copy.root();
        let attempt = Attempt {
            root,
            file: &root.join(FILE),
            conversation: who,
        };
        let command = init::command_of(self.agent, self.hooks, event, self.form);
        let payload = (self.hooks.payload)(event, &attempt);
        let who = AgentId::parse(who).ok().context("the name of an agent")?;
        let reply = init::run_hook(&command, &payload, root, &who).await?;
        Ok(init::denial(event, self.hooks, &reply)?.map(|denial| reason(&denial)))
    }
}

/// Whether each step comes out as it should.
async fn play(agent: Agent, form: Form) -> anyhow::Result<bool> {
    let (known, hooks) = init::hooks_of(agent.name()).context("it has no hooks")?;
    let edit = hooks.events.iter().find(|event| event.is_before_edit);
    let edit = edit.context("it has no hook before an edit")?;
    let end = hooks
        .events
        .iter()
        .find(|event| agent.end_of_turn() == Some(event.name));
    let end = end.context("it has no hook at the end of a turn")?;
    let scratch = Scratch::start("shop", &[(FILE, "export const query = (sql) => [sql];\n")], Some(0)).await?;
    let play = Play {
        agent: known,
        hooks,
        form,
        scratch: &scratch,
    };
    let first = play.denial_of("ann", edit).await?;
    let mut is_right = show(
        1,
        &format!("ann edits {FILE}"),
        first.as_deref(),
        "allowed: it is hers now",
        false,
    )?;
    let second = play.denial_of("bob", edit).await?;
    is_right &= show(
        2,
        &format!("bob edits {FILE}, too"),
        second.as_deref(),
        "allowed: ann's work is lost",
        true,
    )?;
    scratch
        .commit(
            &[(FILE, "export const query = async (sql) => [sql];\n")],
            "Make query() async",
        )
        .await?;
    let third = play.denial_of("ann", end).await?;
    is_right &= show(
        3,
        "ann pushes, and her turn ends",
        third.as_deref(),
        "the file is released",
        false,
    )?;
    let fourth = play.denial_of("bob", edit).await?;
    is_right &= show(
        4,
        &format!("bob edits {FILE} again"),
        fourth.as_deref(),
        "allowed: his turn",
        false,
    )?;
    drop(scratch);
    print(&match is_right {
        true => format!(
            "\n{}\n\n",
            styled(
                FAINT,
                "Nobody overwrote anybody. The repository and its server are gone."
            )
        ),
        false => format!(
            "\n{}\n\n",
            styled(BAD, "The hooks do not protect files: run `coord doctor`.")
        ),
    })?;
    Ok(is_right)
}

/// Shows a step, and returns whether it was denied exactly where that `is_wanted`.
fn show(number: u8, step: &str, denial: Option<&str>, otherwise: &str, is_wanted: bool) -> anyhow::Result<bool> {
    const INDENT: &str = "   | ";
    let is_right = denial.is_some() == is_wanted;
    let style = match (is_right, is_wanted) {
        (true, true) => CAUTION,
        (true, false) => GOOD,
        (false, _) => BAD,
    };
    let outcome = styled(style, if denial.is_some() { "denied" } else { otherwise });
    let room = width().map_or(usize::MAX, |width| width.saturating_sub(INDENT.len()).max(STEP));
    let lines = denial.map(|denial| wrap(denial, room)).unwrap_or_default();
    let lines: String = lines.iter().map(|line| format!("{INDENT}{line}\n")).collect();
    print(&format!("{number}  {step:STEP$}{outcome}\n{lines}"))?;
    Ok(is_right)
}

/// The text of a denial that the model reads: the longest one in an answer of any form.
fn reason(denial: &str) -> String {
    fn longest(value: &Value) -> &str {
        match value {
            Value::String(text) => text,
            Value::Object(members) => members
                .values()
                .map(longest)
                .max_by_key(|text| text.len())
                .unwrap_or_default(),
            _ => "",
        }
    }
    match serde_json::from_str::<Value>(denial) {
        Ok(answer) => longest(&answer).to_owned(),
        Err(_) => denial.to_owned(),
    }
}
