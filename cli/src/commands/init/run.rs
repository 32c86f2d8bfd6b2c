//! The steps of the command: plan, show, ask, write, check.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use coord_agent::confirmed::user_folder;
use coord_agent::terminal::{output, question};
use coord_agent::{local_server, stdout};
use coord_files::RootedPath;
use coord_git::WorkingCopy;

use super::agents::handler::{Form, REQUIRED_MARKS};
use super::agents::{AGENTS, Agent, TargetFolders};
use super::args::InitArgs;
use super::check;
use super::detect::{detect, display_path, is_on_path};
use super::files::{self, Change};
use super::next_steps::next_steps;
use super::plan::Plan;
use super::record::Record;
use super::settings::{self, Setting};
use super::shared::SharedFiles;
use super::target::Target;
use super::{diff, guard, texts};

/// The file of the record, in Coord's folder of the repository or of the user.
const RECORD: &str = "init.json";

impl InitArgs {
    /// # Errors
    /// When a file has an unexpected form or cannot be written, or there is no terminal for the question.
    pub async fn run(self, _: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
        let home = std::env::home_dir().context("you have no home folder")?;
        let current_folder = std::env::current_dir().context("the current folder")?;
        let working_copy = match WorkingCopy::containing(&current_folder) {
            Ok(working_copy) => Some(working_copy),
            Err(_) if self.user => None,
            Err(error) => return Err(error.into()),
        };
        let project = working_copy.as_ref().filter(|_| !self.user);
        let target_folders = TargetFolders {
            home: home.canonicalize().unwrap_or(home),
            project: project.map(|project| project.root().to_owned()),
            git_folder: project.map(|project| canonical(project.shared_folder())),
            main_checkout: project.and_then(main_checkout),
        };
        let record_path = match project {
            Some(project) => local_server::file(project, RECORD),
            None => RootedPath::new(user_folder(&target_folders.home), RECORD),
        };
        let run = Run {
            plan: Plan::new(&target_folders, Record::read(&record_path)?),
            args: &self,
            target_folders: &target_folders,
            project,
            record_path: &record_path,
        };
        match self.undo {
            true => run.undo().await,
            false => run.init().await,
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The root of the main checkout, if `working_copy` is a worktree beside it. A bare repository has none.
fn main_checkout(working_copy: &WorkingCopy) -> Option<PathBuf> {
    let shared = canonical(working_copy.shared_folder());
    let is_worktree = canonical(working_copy.git_folder()) != shared;
    let main = shared.parent().filter(|_| shared.ends_with(".git"))?;
    is_worktree.then(|| main.to_owned())
}

/// One run of the command.
struct Run<'a> {
    args: &'a InitArgs,
    target_folders: &'a TargetFolders,
    project: Option<&'a WorkingCopy>,
    record_path: &'a RootedPath,
    plan: Plan<'a>,
}

impl Run<'_> {
    async fn init(mut self) -> anyhow::Result<ExitCode> {
        let agents = self.select_agents()?;
        let form = self.select_form(&agents);
        for agent in &agents {
            for target in (agent.files)(agent, self.target_folders, form)
                .iter()
                .chain(&texts::targets(agent, self.target_folders))
            {
                self.plan.add(target)?;
            }
        }
        let mut settings = Vec::new();
        if let Some(working_copy) = self.project {
            settings = settings::to_change(self.args, working_copy)?;
            if !self.args.no_guard {
                let hooks = guard::hooks(working_copy).await?;
                self.plan.notes.extend(hooks.notes);
                self.plan.has_refused |= hooks.is_refused;
                for target in &hooks.targets {
                    self.plan.add(target)?;
                }
            }
        }
        let shared = self
            .project
            .map(|working_copy| SharedFiles::of(&self.plan, self.target_folders, working_copy));
        self.plan.notes.extend(shared.as_ref().and_then(SharedFiles::note));
        self.plan.notes.extend(self.main_checkout_note(&agents));
        if let Some(status) = self.write(&settings, "Write").await? {
            return Ok(status);
        }
        if let Some(working_copy) = self.project {
            settings::confirm(self.args, working_copy)?;
        }
        if !is_on_path("coord") {
            print_text("coord is not on your PATH. Your agents start it by its name: put it there.\n")?;
        }
        let status = self.check(&agents, form).await?;
        print_text(&next_steps(self.project, &agents, form, shared.as_ref()).await)?;
        if self.plan.has_refused {
            print_text("\nNot everything was written: see the notes above for the refused files and the fixes.\n")?;
            return Ok(ExitCode::FAILURE);
        }
        Ok(status)
    }

    async fn undo(mut self) -> anyhow::Result<ExitCode> {
        let mut targets = Vec::new();
        for agent in AGENTS {
            targets.extend((agent.files)(agent, self.target_folders, Form::Guarded));
            targets.extend(texts::targets(agent, self.target_folders));
        }
        let mut settings = Vec::new();
        if let Some(working_copy) = self.project {
            targets.extend(guard::hooks(working_copy).await?.targets);
            settings = settings::to_remove(&self.plan.record, working_copy);
        }
        for target in &targets {
            if self.target_folders.is_of_main(&target.path) {
                self.note_unremoved(target);
            } else {
                self.plan.remove(target)?;
            }
        }
        Ok(self.write(&settings, "Remove").await?.unwrap_or(ExitCode::SUCCESS))
    }

    /// A note about changes of the main checkout, if this is a worktree.
    fn main_checkout_note(&self, agents: &[&'static Agent]) -> Option<String> {
        let codex = agents.iter().find(|agent| agent.name == "codex")?;
        let main = self.target_folders.main_checkout.as_ref()?;
        let targets = (codex.files)(codex, self.target_folders, Form::Guarded);
        let hooks = targets
            .iter()
            .find(|target| self.target_folders.is_of_main(&target.path))?;
        Some(format!(
            "this is a worktree, and Codex reads its hooks from the main checkout alone: {} is for all worktrees of {}",
            display_path(&hooks.path, self.target_folders),
            main.display()
        ))
    }

    /// Notes that hooks in the main checkout are left, because they serve it and all other worktrees.
    fn note_unremoved(&mut self, target: &Target) {
        if self.plan.contains_any(target, &["coord hook"]) {
            let name = display_path(&target.path, self.target_folders);
            let note =
                format!("{name} is for all worktrees, and was left: run `coord init --undo` in the main checkout");
            self.plan.notes.push(note);
        }
    }

    /// The form of the hooks. Strict hooks stay strict: an update by one member must not undo the decision of a team.
    fn select_form(&mut self, agents: &[&'static Agent]) -> Form {
        if self.args.strict {
            return Form::Strict;
        }
        let mut targets = agents
            .iter()
            .flat_map(|agent| (agent.files)(agent, self.target_folders, Form::Guarded));
        if !targets.any(|target| self.plan.contains_any(&target, &REQUIRED_MARKS)) {
            return Form::Guarded;
        }
        let note = "the hooks here are strict, and stay so; `coord init --undo` before `coord init` makes them let tools run where \
                    coord is not installed";
        self.plan.notes.push(note.to_owned());
        Form::Strict
    }

    /// The agents that the user names, or else the detected ones.
    fn select_agents(&self) -> anyhow::Result<Vec<&'static Agent>> {
        if !self.args.agents.is_empty() {
            let named = AGENTS
                .into_iter()
                .filter(|agent| self.args.agents.iter().any(|name| name == agent.name));
            return Ok(named.collect());
        }
        let detected = detect(self.target_folders);
        if detected.is_empty() {
            let names = AGENTS.map(|agent| agent.name).join(", ");
            bail!("no agent was found here; name those that you use: {names}");
        }
        let mut text = "Detected agents:\n".to_owned();
        for (agent, evidence) in &detected {
            text.push_str(&format!("  {:<12} {evidence}\n", agent.name));
        }
        print_text(&(text + "\n"))?;
        Ok(detected.into_iter().map(|(agent, _)| agent).collect())
    }

    /// Shows the changes, asks, and writes them. Returns a status if the command ends there.
    async fn write(&mut self, settings: &[Setting], verb: &str) -> anyhow::Result<Option<ExitCode>> {
        let changes = self.plan.changes();
        self.show(&changes, settings)?;
        if changes.is_empty() && settings.is_empty() {
            let already = match (self.args.undo, self.plan.has_refused) {
                (true, _) => "Nothing of coord init is here",
                (false, true) => "Everything that is not refused is written already",
                (false, false) => "Everything is written already",
            };
            print_text(&format!("{already}: nothing to change.\n"))?;
            return Ok(self.args.dry_run.then_some(ExitCode::SUCCESS));
        }
        let number = count_changes(&changes, settings);
        if self.args.dry_run {
            print_text(&format!("{number} would change. Nothing was written.\n"))?;
            return Ok(Some(ExitCode::SUCCESS));
        }
        if !self.args.yes && !self.is_confirmed(&format!("{verb} {number}?"), &changes)? {
            print_text("Nothing was written.\n")?;
            return Ok(Some(ExitCode::FAILURE));
        }
        let folders = files::write(&changes, self.target_folders)?;
        let mut record = self.plan.record.clone();
        record.folders.extend(folders);
        if self.args.undo {
            self.forget(&mut record);
        }
        // The record is written even if a setting failed, so that `--undo` knows the rest.
        let settings_result = match self.project {
            Some(working_copy) => settings::write(settings, working_copy, &mut record).await,
            None => Ok(()),
        };
        if self.project.is_none()
            && let Some(folder) = self.record_path.full().parent()
        {
            std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        record.write(self.record_path)?;
        settings_result?;
        print_text(&match (self.args.undo, self.args.user) {
            (true, _) => format!("{number} changed: coord init's changes are removed.\n"),
            (false, true) => format!("{number} changed. To undo: `coord init --user --undo`.\n"),
            (false, false) => format!("{number} changed. To undo: `coord init --undo`.\n"),
        })?;
        Ok(None)
    }

    fn show(&self, changes: &[&Change], settings: &[Setting]) -> anyhow::Result<()> {
        output::print(&match self.args.dry_run {
            true => diff::colorize(changes),
            false => diff::summary(changes),
        })?;
        let commands: String = settings
            .iter()
            .map(|setting| format!("git {}\n", setting.arguments().join(" ")))
            .collect();
        let notes: String = self.plan.notes.iter().map(|note| format!("Note: {note}.\n")).collect();
        print_text(&format!("{commands}{notes}"))
    }

    /// Removes the files from the record, because they contain nothing of ours any more, and deletes the folders that
    /// were created for them.
    fn forget(&self, record: &mut Record) {
        record.files.retain(|path, _| !self.plan.has_read(path));
        for folder in files::remove_empty(record.folders.clone().iter(), self.target_folders) {
            record.folders.remove(&folder);
        }
        let has_files = !record.files.is_empty();
        record.folders.retain(|folder| has_files && folder.exists());
    }

    /// Asks the user at the terminal, who may see every line first.
    fn is_confirmed(&self, question: &str, changes: &[&Change]) -> anyhow::Result<bool> {
        if !question::has_person(&std::io::stdout()) {
            let arguments: Vec<String> = std::env::args().skip(1).collect();
            bail!(
                "nothing was written: there is no terminal to ask; run `coord {0} --yes`, or `coord {0} --dry-run` to see every line",
                arguments.join(" ")
            );
        }
        loop {
            match question::ask(std::io::stdout(), question, "y/N, d: show every line")?.as_str() {
                "d" => output::print(&diff::colorize(changes))?,
                answer => return Ok(question::is_yes(answer)),
            }
        }
    }

    /// Runs the hooks of `agents` once, and prints whether each denies an edit of a locked file.
    async fn check(&self, agents: &[&'static Agent], form: Form) -> anyhow::Result<ExitCode> {
        if self.args.no_check {
            return Ok(ExitCode::SUCCESS);
        }
        print_text("\nSelf-test (an edit of a file that another agent has locked):\n")?;
        let names: Vec<_> = agents.iter().map(|agent| (agent.name, form)).collect();
        let tests = match check::test_hooks(&names).await {
            Ok(tests) => tests,
            Err(error) => {
                print_text(&format!("  not checked: {error:#}\n"))?;
                return Ok(ExitCode::SUCCESS);
            }
        };
        let mut status = ExitCode::SUCCESS;
        for agent in agents {
            let name = agent.name;
            let test = tests.iter().find(|test| test.agent == name);
            match test.map(|test| &test.result) {
                None => print_text(&format!("  {name:<12} has no hooks from coord: the MCP server alone\n"))?,
                Some(Ok(())) => print_text(&format!("  {name:<12} ok, the hook denied it\n"))?,
                Some(Err(problem)) => {
                    print_text(&format!("  {name:<12} wrong: {problem}\n"))?;
                    status = ExitCode::FAILURE;
                }
            }
        }
        Ok(status)
    }
}

fn count_changes(changes: &[&Change], settings: &[Setting]) -> String {
    let count = |number: usize, singular: &str, plural: &str| match number {
        0 => None,
        1 => Some(format!("1 {singular}")),
        _ => Some(format!("{number} {plural}")),
    };
    let counts = [
        count(changes.len(), "file", "files"),
        count(settings.len(), "setting of git", "settings of git"),
    ];
    counts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}

fn print_text(text: &str) -> anyhow::Result<()> {
    stdout::print(text.as_bytes())
}
