//! `coord simulate`: lets two agents edit one file with the configured hooks, and prints each step.

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
use super::init::{self, Attempt};
use super::scratch::Scratch;

const EXAMPLES: &str = "\
Examples:
  coord simulate              with the hooks of each agent that is configured here
  coord simulate claude-code  with those of Claude Code, as `coord init` writes them

Exit status: 0 no edit was overwritten, 1 one was, or an error, 2 wrong usage.";

/// The file that both agents edit.
const FILE: &str = "src/db.ts";

/// Columns of a step, which its outcome follows.
const STEP_COLUMNS: usize = 34;

/// Options of `coord simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SimulateArgs {
    /// The agent [default: each whose hooks are configured here]
    #[arg(value_name = "AGENT")]
    pub agent: Option<Agent>,
}

impl SimulateArgs {
    /// Plays the steps with each configured agent, and prints them.
    ///
    /// # Errors
    /// When coord is not on the PATH, a hook or the repository fails, or a step cannot be printed.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        ensure!(
            init::is_on_path("coord"),
            "coord is not on your PATH, so hooks would do nothing: run `cargo install --locked --path cli` in a clone of Coord"
        );
        let mut is_right = true;
        for (agent, form, origin) in self.hooks() {
            print(&format!("Hooks of {}: {origin}\n\n", agent.name()))?;
            is_right &= play(agent, form).await?;
        }
        Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The agents, each with the form of its hooks and the file that configures them.
    fn hooks(&self) -> Vec<(Agent, Form, String)> {
        let working_copy = WorkingCopy::containing(".".as_ref()).ok();
        let configured = working_copy.iter().flat_map(configured_hooks::find);
        let is_selected = |agent: &Agent| self.agent.is_none_or(|selected| selected == *agent);
        let mut hooks: Vec<_> = configured
            .filter_map(|(name, hook)| {
                let hook = hook?;
                let agent = Agent::from_str(name, false).ok().filter(is_selected)?;
                Some((agent, hook.form, hook.path.display().to_string()))
            })
            .collect();
        if hooks.is_empty() {
            let agent = self.agent.unwrap_or(Agent::ClaudeCode);
            let origin = "as `coord init` would write them; none are configured here yet";
            hooks.push((agent, Form::Guarded, origin.to_owned()));
        }
        hooks
    }
}

/// Plays the steps, and returns whether each had the right outcome.
async fn play(agent: Agent, form: Form) -> anyhow::Result<bool> {
    let (description, hooks) = init::hooks_of(agent.name()).context("it has no hooks")?;
    let edit = hooks.events.iter().find(|event| event.is_before_edit);
    let edit = edit.context("it has no hook before an edit")?;
    let end = hooks
        .events
        .iter()
        .find(|event| agent.end_of_turn() == Some(event.name));
    let end = end.context("it has no hook at the end of a turn")?;
    let scratch = Scratch::start("shop", &[(FILE, "export const query = (sql) => [sql];\n")], Some(0)).await?;
    let root = scratch.working_copy.root();
    // Each step with its agent and event, its outcome without a denial, and whether a denial is right.
    let steps = [
        (
            format!("ann edits {FILE}"),
            "ann",
            edit,
            "allowed: it is hers now",
            false,
        ),
        (
            format!("bob edits {FILE}, too"),
            "bob",
            edit,
            "allowed: ann's work is lost",
            true,
        ),
        (
            "ann pushes, and her turn ends".to_owned(),
            "ann",
            end,
            "the file is released",
            false,
        ),
        (
            format!("bob edits {FILE} again"),
            "bob",
            edit,
            "allowed: his turn",
            false,
        ),
    ];
    let mut is_right = true;
    for (number, (step, name, event, allowed, is_denial_right)) in (1..).zip(steps) {
        // Before a turn ends, its change is pushed.
        if event.name == end.name {
            let files = [(FILE, "export const query = async (sql) => [sql];\n")];
            scratch.commit(&files, "Make query() async").await?;
        }
        let attempt = Attempt {
            root,
            file: &root.join(FILE),
            conversation: name,
        };
        let command = init::command_of(description, hooks, event, form);
        let payload = (hooks.payload)(event, &attempt);
        let agent_id = AgentId::parse(name).ok().context("the name of an agent")?;
        let reply = init::run_hook(&command, &payload, root, &agent_id).await?;
        let denial = init::denial(event, hooks, &reply)?.map(|denial| reason(&denial));
        is_right &= print_step(number, &step, denial.as_deref(), allowed, is_denial_right)?;
    }
    drop(scratch);
    print(&match is_right {
        true => format!(
            "\n{}\n\n",
            styled(
                FAINT,
                "No agent overwrote another. The repository and its server are gone."
            )
        ),
        false => format!(
            "\n{}\n\n",
            styled(BAD, "The hooks do not protect files: run `coord doctor`.")
        ),
    })?;
    Ok(is_right)
}

/// Prints a step, and returns whether it has the right outcome: a denial exactly where `is_denial_right`. `allowed` is
/// the outcome without a denial.
fn print_step(
    number: u8,
    step: &str,
    denial: Option<&str>,
    allowed: &str,
    is_denial_right: bool,
) -> anyhow::Result<bool> {
    const INDENT: &str = "   | ";
    let is_right = denial.is_some() == is_denial_right;
    let style = match (is_right, is_denial_right) {
        (true, true) => CAUTION,
        (true, false) => GOOD,
        (false, _) => BAD,
    };
    let outcome = styled(style, if denial.is_some() { "denied" } else { allowed });
    let columns = width().map_or(usize::MAX, |width| width.saturating_sub(INDENT.len()).max(STEP_COLUMNS));
    let lines = denial.map(|denial| wrap(denial, columns)).unwrap_or_default();
    let lines: String = lines.iter().map(|line| format!("{INDENT}{line}\n")).collect();
    print(&format!("{number}  {step:STEP_COLUMNS$}{outcome}\n{lines}"))?;
    Ok(is_right)
}

/// The text of a denial for the model. Agents put it in different fields; it is always the longest.
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
