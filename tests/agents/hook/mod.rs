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

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use coord_protocol::{Client, HeldLock, LocksFilter};
use serde_json::Value;

use coord_test_worlds::hook_forms::{self as forms, Answer, Form};
use coord_test_worlds::world::{REPO_URL, World};

/// Runs `coord hook ARGS` in `folder` with `input`, as the session `holder`, or as the one of this process.
pub fn hook(world: &World, folder: &Path, holder: Option<&str>, args: &[&str], input: &str) -> Answer {
    let mut command = world.coord(folder);
    if let Some(holder) = holder {
        command.env("COORD_AGENT", holder);
    }
    let pipes = command
        .arg("hook")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut running = pipes.stderr(Stdio::piped()).spawn().unwrap();
    // A hook that refuses its event reads no input.
    let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
    Answer::of(&running.wait_with_output().unwrap())
}

/// A session of an agent in a working copy.
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

impl Session<'_> {
    fn call(&self, (event, call): (&str, Value)) -> Answer {
        let args = [self.form.agent, event];
        hook(self.world, self.folder, self.holder, &args, &call.to_string())
    }

    pub fn starts(&self) -> Answer {
        self.call((self.form.start)(self.folder))
    }

    pub fn gets_prompt(&self, prompt: &str) -> Answer {
        self.call((self.form.prompt)(self.folder, prompt))
    }

    pub fn edits(&self, file: &str) -> Answer {
        self.call((self.form.edit)(self.folder, &self.folder.join(file)))
    }

    /// After an edit of `file`.
    pub fn has_edited(&self, file: &str) -> Answer {
        self.call(forms::after(
            self.form,
            (self.form.edit)(self.folder, &self.folder.join(file)),
        ))
    }

    /// Before `file` is read.
    pub fn reads(&self, file: &str) -> Answer {
        self.call(self.read_call(file, false))
    }

    /// After `file` was read.
    pub fn has_read(&self, file: &str) -> Answer {
        self.call(self.read_call(file, true))
    }

    pub fn read_call(&self, file: &str, is_after: bool) -> (&'static str, Value) {
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
