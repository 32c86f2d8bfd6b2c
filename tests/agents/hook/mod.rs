//! `coord hook`: each agent's documented payloads against a real server.

mod day;
mod defects;
mod edits;
mod failures;
mod holders;
pub mod idle;
mod intents;
mod interfaces;
pub mod looks;
mod mail;
mod moments;
mod opencode_plugin;
mod real_commands;
mod recording;
mod release;
mod results;
mod shared_tree;
mod stale;
mod unseen;
mod vscode;
mod warned;

use std::path::Path;
use std::time::Duration;

use coord_protocol::{Client, HeldLock, LocksFilter};
use serde_json::Value;

use crate::processes::output_with;
use coord_test_worlds::hook_forms::{self as forms, Answer, CLAUDE_CODE, Form};
use coord_test_worlds::world::{REPO_URL, World};

/// Runs `coord hook ARGS` in `folder` with `input`, as the session `holder`, or as the one of this process.
pub fn hook(world: &World, folder: &Path, holder: Option<&str>, args: &[&str], input: &str) -> Answer {
    let mut command = world.coord(folder);
    if let Some(holder) = holder {
        command.env("COORD_AGENT", holder);
    }
    command.arg("hook").args(args);
    Answer::of(&output_with(command, input))
}

/// A session of an agent in a working copy.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    pub world: &'a World,
    pub form: &'a Form,
    pub folder: &'a Path,
    /// Its holder; `None` for the session of this process.
    pub holder: Option<&'a str>,
}

/// A session in the clone.
pub fn session<'a>(world: &'a World, form: &'a Form, holder: Option<&'a str>) -> Session<'a> {
    Session {
        world,
        form,
        folder: world.clone.path(),
        holder,
    }
}

/// A session of Claude Code in the clone.
pub fn claude<'a>(world: &'a World, holder: &'a str) -> Session<'a> {
    session(world, &CLAUDE_CODE, Some(holder))
}

impl<'a> Session<'a> {
    /// The same session in another folder.
    pub fn at(self, folder: &'a Path) -> Session<'a> {
        Session { folder, ..self }
    }
}

impl Session<'_> {
    fn call(&self, call: (&str, Value)) -> Answer {
        self.call_with(call, &[])
    }

    /// With options of `coord hook`.
    fn call_with(&self, (event, call): (&str, Value), options: &[&str]) -> Answer {
        let args = [&[self.form.agent, event], options].concat();
        hook(self.world, self.folder, self.holder, &args, &call.to_string())
    }

    pub fn starts(&self) -> Answer {
        self.call((self.form.start)(self.folder))
    }

    pub fn gets_prompt(&self, prompt: &str) -> Answer {
        self.call((self.form.prompt)(self.folder, prompt))
    }

    fn edit_call(&self, file: &str) -> (&'static str, Value) {
        (self.form.edit)(self.folder, &self.folder.join(file))
    }

    pub fn edits(&self, file: &str) -> Answer {
        self.call(self.edit_call(file))
    }

    /// After an edit of `file`.
    pub fn has_edited(&self, file: &str) -> Answer {
        self.call(forms::after(self.form, self.edit_call(file)))
    }

    /// Before `file` is read.
    pub fn reads(&self, file: &str) -> Answer {
        self.call(self.read_call(file, false))
    }

    /// After `file` was read.
    pub fn has_read(&self, file: &str) -> Answer {
        self.call(self.read_call(file, true))
    }

    fn read_call(&self, file: &str, is_after: bool) -> (&'static str, Value) {
        forms::read(self.form, self.folder, &self.folder.join(file), is_after)
    }

    pub fn runs(&self, command: &str) -> Answer {
        self.call((self.form.shell)(self.folder, command))
    }

    pub fn has_run(&self, command: &str) -> Answer {
        self.call((self.form.after_shell)(self.folder, command))
    }

    pub fn ends_turn(&self) -> Answer {
        self.call((self.form.turn_end)(self.folder))
    }

    pub fn ends(&self) -> Answer {
        self.call((self.form.end)(self.folder))
    }

    /// Why `answer` denies the tool, in the agent's form. `None` where the tool runs.
    pub fn denial(&self, answer: &Answer) -> Option<String> {
        (self.form.denial)(answer)
    }

    /// The text for the model in `answer`, in the agent's form.
    fn text(&self, answer: &Answer) -> Option<String> {
        looks::context(self.form, &answer.body)
    }

    #[track_caller]
    pub fn assert_allowed(&self, answer: &Answer, case: &str) {
        let outcome = (answer.status, self.denial(answer));
        assert_eq!(outcome, (0, None), "{} {case}: {answer:?}", self.form.agent);
    }

    /// Returns why `answer` denies the tool.
    #[track_caller]
    pub fn assert_denied(&self, answer: &Answer, case: &str) -> String {
        match self.denial(answer) {
            Some(reason) => reason,
            None => panic!("{} {case}: {answer:?}", self.form.agent),
        }
    }

    #[track_caller]
    pub fn may_edit(&self, file: &str) {
        self.assert_allowed(&self.edits(file), file);
    }

    #[track_caller]
    pub fn may_run(&self, command: &str) {
        self.assert_allowed(&self.runs(command), command);
    }

    #[track_caller]
    pub fn may_read(&self, file: &str) {
        self.assert_allowed(&self.reads(file), file);
    }

    /// Returns why an edit of `file` is denied.
    #[track_caller]
    pub fn may_not_edit(&self, file: &str) -> String {
        self.assert_denied(&self.edits(file), file)
    }

    /// Returns why `command` is denied.
    #[track_caller]
    pub fn may_not_run(&self, command: &str) -> String {
        self.assert_denied(&self.runs(command), command)
    }
}

/// All that an answer says, to the model and beside it.
fn output_of(answer: &Answer) -> String {
    format!("{} {}", answer.body, answer.aside)
}

/// Writes a file of the clone, without a hook.
fn write(world: &World, file: &str, content: &str) {
    std::fs::write(world.clone.path().join(file), content).unwrap();
}

/// SHA-256 of `content`, by the crate that the ledger has for it.
pub fn sha256(content: &str) -> String {
    let hash = coord_intents::ledger::ContentHash::of(content.as_bytes()).to_string();
    hash.trim_start_matches("sha256:").to_owned()
}

/// The address of the server, where one runs.
fn address(world: &World) -> Option<String> {
    let text = std::fs::read_to_string(world.clone.path().join(".git/coord/listening")).ok()?;
    text.split(' ').next().map(str::to_owned)
}

/// A client of the server that runs, as the agent `who`.
fn client(world: &World, who: &str) -> Client {
    Client::new(&address(world).unwrap(), None, Some(who)).unwrap()
}

/// All locks, by file.
pub fn locks(world: &World) -> Vec<HeldLock> {
    let Some(address) = address(world) else {
        return Vec::new();
    };
    let client = Client::new(&address, None, None).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let filter = LocksFilter::default();
    let found = runtime.block_on(async {
        let limit = Duration::from_secs(20);
        tokio::time::timeout(limit, client.locks(REPO_URL, &filter))
            .await
            .unwrap()
    });
    found.unwrap().locks
}

/// The files that are held, with their holders.
pub fn held(world: &World) -> Vec<String> {
    let shown = |lock: HeldLock| format!("{} {}", lock.file_path, lock.agent_id.unwrap_or_default());
    locks(world).into_iter().map(shown).collect()
}

pub fn held_files(world: &World) -> Vec<String> {
    locks(world).into_iter().map(|lock| lock.file_path).collect()
}
