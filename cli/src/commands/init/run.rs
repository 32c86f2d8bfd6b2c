//! The order of things: plan, show, ask, write, check.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use coord_files::Inside;
use coord_git::WorkingCopy;

use super::agents::handler::{Form, REQUIRED_MARKS};
use super::agents::{AGENTS, Agent, Places};
use super::args::InitArgs;
use super::change::Change;
use super::check::{self, Verdict};
use super::detect::{detect, is_on_path};
use super::plan::Plan;
use super::record::Record;
use super::settings::{self, Setting};
use super::{diff, files, guard, texts};
use crate::agent::confirmed::user_folder;
use crate::agent::local_server;
use crate::stdout;
use crate::terminal::output;

/// The file of the record, in Coord's folder of the repository or of the user.
const RECORD: &str = "init.json";

impl InitArgs {
    /// # Errors
    /// When a file cannot be read as what it should be or cannot be written, or nobody can be asked.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let home = std::env::home_dir().context("you have no home folder")?;
        let here = std::env::current_dir().context("the current folder")?;
        let working_copy = match WorkingCopy::containing(&here) {
            Ok(working_copy) => Some(working_copy),
            Err(_) if self.user => None,
            Err(error) => return Err(error.into()),
        };
        let project = working_copy.as_ref().filter(|_| !self.user);
        let places = Places {
            home: home.canonicalize().unwrap_or(home),
            project: project.map(|project| project.root().to_owned()),
            git_folder: project.map(|project| real(project.shared_folder())),
        };
        let record_path = match project {
            Some(project) => local_server::file(project, RECORD),
            None => Inside::new(user_folder(&places.home), RECORD),
        };
        let run = Run {
            plan: Plan::new(&places, Record::read(&record_path)?),
            args: &self,
            places: &places,
            project,
            record_path: &record_path,
        };
        match self.undo {
            true => run.undo().await,
            false => run.init(&here).await,
        }
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// One run of the command.
struct Run<'a> {
    args: &'a InitArgs,
    places: &'a Places,
    project: Option<&'a WorkingCopy>,
    record_path: &'a Inside,
    plan: Plan<'a>,
}

impl Run<'_> {
    async fn init(mut self, here: &Path) -> anyhow::Result<ExitCode> {
        let agents = self.agents()?;
        let form = self.form(&agents);
        for agent in &agents {
            for target in (agent.files)(agent, self.places, form)
                .iter()
                .chain(&texts::targets(agent, self.places))
            {
                self.plan.add(target)?;
            }
        }
        let mut settings = Vec::new();
        if let Some(working_copy) = self.project {
            settings = settings::changed(self.args, working_copy)?;
            if !self.args.no_guard {
                let hooks = guard::hooks(working_copy).await?;
                self.plan.notes.extend(hooks.notes);
                self.plan.has_refused |= hooks.is_refused;
                for target in &hooks.targets {
                    self.plan.add(target)?;
                }
            }
        }
        if let Some(status) = self.write(&settings, "Write").await? {
            return Ok(status);
        }
        if let Some(working_copy) = self.project {
            settings::confirm(self.args, working_copy)?;
        }
        if !is_on_path("coord") {
            say("coord is not on your PATH. Your agents start it by its name: put it there.\n")?;
        }
        let status = self.check(&agents, form, here).await?;
        let next = agents.iter().filter_map(|agent| Some((agent.name, agent.next?)));
        let next: String = next.map(|(name, next)| format!("  {name:<12} {next}\n")).collect();
        say(&format!("\nIn each agent, the next time it starts:\n{next}"))?;
        if self.plan.has_refused {
            say("\nNot everything was written: the notes above say what was refused, and how to fix it.\n")?;
            return Ok(ExitCode::FAILURE);
        }
        Ok(status)
    }

    async fn undo(mut self) -> anyhow::Result<ExitCode> {
        let mut targets = Vec::new();
        for agent in AGENTS {
            targets.extend((agent.files)(agent, self.places, Form::Guarded));
            targets.extend(texts::targets(agent, self.places));
        }
        let mut settings = Vec::new();
        if let Some(working_copy) = self.project {
            targets.extend(guard::hooks(working_copy).await?.targets);
            settings = settings::recorded(&self.plan.record, working_copy);
        }
        for target in &targets {
            self.plan.remove(target)?;
        }
        Ok(self.write(&settings, "Take away").await?.unwrap_or(ExitCode::SUCCESS))
    }

    /// Strict hooks stay strict: a team has decided so, and one of its members does not undo it by an update.
    fn form(&mut self, agents: &[&'static Agent]) -> Form {
        if self.args.strict {
            return Form::Strict;
        }
        let targets = agents
            .iter()
            .flat_map(|agent| (agent.files)(agent, self.places, Form::Guarded));
        let is_strict = targets
            .into_iter()
            .any(|target| self.plan.says(&target, REQUIRED_MARKS));
        if is_strict {
            let note = "the hooks here are strict, and stay so; `coord init --undo` before `coord init` makes them let tools run where \
                        coord is not installed";
            self.plan.notes.push(note.to_owned());
        }
        if is_strict { Form::Strict } else { Form::Guarded }
    }

    /// The agents that are named, or else those that are found.
    fn agents(&self) -> anyhow::Result<Vec<&'static Agent>> {
        if !self.args.agents.is_empty() {
            let named = AGENTS
                .into_iter()
                .filter(|agent| self.args.agents.iter().any(|name| name == agent.name));
            return Ok(named.collect());
        }
        let found = detect(self.places);
        if found.is_empty() {
            let names = AGENTS.map(|agent| agent.name).join(", ");
            bail!("no agent was found here; name those that you use: {names}");
        }
        let mut text = "Agents that are used here:\n".to_owned();
        for (agent, trace) in &found {
            text.push_str(&format!("  {:<12} {trace}\n", agent.name));
        }
        say(&(text + "\n"))?;
        Ok(found.into_iter().map(|(agent, _)| agent).collect())
    }

    /// Shows the changes, asks, and writes them. Returns a status where the command ends with that.
    async fn write(&mut self, settings: &[Setting], verb: &str) -> anyhow::Result<Option<ExitCode>> {
        let changes = self.plan.changes();
        output::print(&diff::colored(&changes))?;
        let commands: String = settings
            .iter()
            .map(|setting| format!("git {}\n", setting.arguments().join(" ")))
            .collect();
        let notes: String = self.plan.notes.iter().map(|note| format!("Note: {note}.\n")).collect();
        say(&format!("{commands}{notes}"))?;
        if changes.is_empty() && settings.is_empty() {
            let already = match (self.args.undo, self.plan.has_refused) {
                (true, _) => "Nothing of coord init is here",
                (false, true) => "Everything that is not refused is written already",
                (false, false) => "Everything is written already",
            };
            say(&format!("{already}: nothing to change.\n"))?;
            return Ok(self.args.dry_run.then_some(ExitCode::SUCCESS));
        }
        let number = counted(&changes, settings);
        if self.args.dry_run {
            say(&format!("{number} would change. Nothing was written.\n"))?;
            return Ok(Some(ExitCode::SUCCESS));
        }
        if !self.args.yes && !self.is_confirmed(&format!("{verb} this ({number})?"))? {
            say("Nothing was written.\n")?;
            return Ok(Some(ExitCode::FAILURE));
        }
        let folders = files::write(&changes, self.places)?;
        let mut record = self.plan.record.clone();
        record.folders.extend(folders);
        if self.args.undo {
            self.forget(&mut record);
        }
        let is_written = match self.project {
            Some(working_copy) => settings::write(settings, working_copy, &mut record).await,
            None => Ok(()),
        };
        if self.project.is_none()
            && let Some(folder) = self.record_path.full().parent()
        {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        record.write(self.record_path)?;
        is_written?;
        say(&match self.args.undo {
            true => format!("{number} changed: what coord init wrote is gone.\n"),
            false => format!("{number} changed. `{}` takes it away again.\n", self.undo_line()),
        })?;
        Ok(None)
    }

    /// Forgets the files, which have nothing of ours any more, and removes folders that were made for them.
    fn forget(&self, record: &mut Record) {
        record.files.retain(|path, _| !self.plan.has(path));
        for folder in files::remove_empty(record.folders.clone().iter(), self.places) {
            record.folders.remove(&folder);
        }
        let is_needed = !record.files.is_empty();
        record.folders.retain(|folder| is_needed && folder.exists());
    }

    fn undo_line(&self) -> &'static str {
        match self.args.user {
            true => "coord init --user --undo",
            false => "coord init --undo",
        }
    }

    fn is_confirmed(&self, question: &str) -> anyhow::Result<bool> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            let line: Vec<String> = std::env::args().skip(1).collect();
            bail!(
                "nothing was written: there is no terminal to ask; run `coord {} --yes`",
                line.join(" ")
            );
        }
        let mut output = std::io::stdout();
        write!(output, "{question} [y/N] ")
            .and_then(|()| output.flush())
            .context("standard output")?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).context("standard input")?;
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    async fn check(&self, agents: &[&'static Agent], form: Form, here: &Path) -> anyhow::Result<ExitCode> {
        if self.args.no_check {
            return Ok(ExitCode::SUCCESS);
        }
        say("\nHooks, each run with an edit of a file that another holds:\n")?;
        let verdicts = match check::check(agents, form, here).await {
            Ok(verdicts) => verdicts,
            Err(error) => {
                say(&format!("  not checked: {error:#}\n"))?;
                return Ok(ExitCode::SUCCESS);
            }
        };
        let mut status = ExitCode::SUCCESS;
        for Verdict { agent, result } in verdicts {
            let name = agent.name;
            match result {
                None => say(&format!("  {name:<12} has none from coord: the MCP server alone\n"))?,
                Some(Ok(())) => say(&format!("  {name:<12} ok, the edit is denied\n"))?,
                Some(Err(wrong)) => {
                    say(&format!("  {name:<12} wrong: {wrong}\n"))?;
                    status = ExitCode::FAILURE;
                }
            }
        }
        Ok(status)
    }
}

fn counted(changes: &[&Change], settings: &[Setting]) -> String {
    let several = |number: usize, one: &str, more: &str| match number {
        0 => None,
        1 => Some(one.to_owned()),
        _ => Some(format!("{number} {more}")),
    };
    let parts = [
        several(changes.len(), "1 file", "files"),
        several(settings.len(), "1 setting of git", "settings of git"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

fn say(text: &str) -> anyhow::Result<()> {
    stdout::print(text.as_bytes())
}
