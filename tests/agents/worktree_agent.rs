//! An agent in a separate worktree: it calls tools by `coord mcp`, and its file operations go through the hooks of
//! Claude Code and those of git.

use std::process::Command;
use std::time::{Duration, Instant};

use coord_test_support::git::Repo;
use serde_json::{Value, json};

use crate::guard::{git, stderr_of};
use crate::hook::hook;
use crate::mcp::Agent;
use coord_test_worlds::world::World;

/// Time in which an agent gives up: the test has failed.
const PATIENCE: Duration = Duration::from_secs(300);

const PUSH: &str = "git push origin HEAD:main";
const PULL: &str = "git pull --rebase";

/// A world with these files, whose git hooks are those of `coord init`.
pub fn world_with_guards(files: &[(&str, &str)]) -> World {
    let world = World::with(files);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_coord"), world.folder("bin").join("coord")).unwrap();
    let mut init = world.coord(world.clone.path());
    let output = init
        .env("PATH", path(&world))
        .args(["init", "vscode", "--yes", "--no-check"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr_of(&output));
    world
}

/// Where the git hooks find `coord`.
pub fn path(world: &World) -> String {
    format!("{}:/usr/bin:/bin", world.folder("bin").display())
}

/// Without the limits of requests: one person asks for all agents.
pub fn without_limits(command: &mut Command) {
    for limit in ["HOLDER", "PERSON", "REPOSITORY"] {
        command.env(format!("COORD_LIMIT_{limit}_PER_MINUTE"), "0");
    }
}

/// `git pull --rebase`, again where another worktree has just updated the remote-tracking branch that all share.
pub fn pull(tree: &Repo, deadline: Instant) {
    while let Err(error) = tree.try_git(&["pull", "--quiet", "--rebase"]) {
        let place = tree.path().display();
        assert!(
            error.contains("cannot lock ref") || error.contains("Unable to create"),
            "{place}: {error}"
        );
        assert!(Instant::now() < deadline, "{place}: {error}");
    }
}

pub struct WorktreeAgent<'a> {
    world: &'a World,
    /// Its `agent_id`.
    pub name: String,
    pub tree: Repo,
    pub deadline: Instant,
    mcp: Agent,
    calls: u32,
    /// The texts that the hooks have put before its model.
    pub contexts: Vec<String>,
}

impl<'a> WorktreeAgent<'a> {
    /// Starts the agent in `tree`. Where no server runs, its `coord mcp` starts one with `settings`.
    pub fn start(world: &'a World, name: &str, tree: Repo, settings: &[(&str, &str)]) -> WorktreeAgent<'a> {
        let mut mcp = world.coord(tree.path());
        mcp.arg("mcp").env("COORD_AGENT", name).envs(settings.iter().copied());
        without_limits(&mut mcp);
        WorktreeAgent {
            world,
            name: name.to_owned(),
            tree,
            deadline: Instant::now() + PATIENCE,
            mcp: Agent::start(mcp),
            calls: 0,
            contexts: Vec::new(),
        }
    }

    /// Ends the test where it has gone on for too long.
    pub fn assert_in_time(&self, with: &str) {
        assert!(Instant::now() < self.deadline, "{} is never done: {with}", self.name);
    }

    /// Returns the answer of a tool of `coord mcp`.
    pub fn calls_tool(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.mcp.call(tool, arguments);
        assert_eq!(result["isError"], false, "{}: {result}", self.name);
        result["structuredContent"].clone()
    }

    /// Returns the content of a resource of `coord mcp`.
    pub fn looks_at(&mut self, uri: &str) -> Value {
        self.mcp.read(uri)
    }

    pub fn begins(&mut self) {
        self.event("SessionStart", json!({ "source": "startup", "model": "m" }));
        self.event("UserPromptSubmit", json!({ "prompt": "Change what is yours" }));
    }

    /// The reason for which a hook denies what the event is about.
    fn event(&mut self, name: &str, more: Value) -> Option<String> {
        let mut call = json!({ "session_id": self.name, "cwd": self.tree.path(), "hook_event_name": name });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let args = ["claude-code", name];
        let answer = hook(self.world, self.tree.path(), Some(&self.name), &args, &call.to_string());
        assert_eq!((answer.status, answer.aside.as_str()), (0, ""), "{}: {call}", self.name);
        let output = &answer.body["hookSpecificOutput"];
        self.contexts
            .extend(output["additionalContext"].as_str().map(str::to_owned));
        let is_denied = output["permissionDecision"] == "deny";
        is_denied.then(|| output["permissionDecisionReason"].as_str().unwrap().to_owned())
    }

    fn tool(&mut self, event: &str, name: &str, input: &Value) -> Option<String> {
        let id = format!("toolu_{}_{}", self.name, self.calls);
        let call = json!({ "tool_name": name, "tool_input": input, "tool_use_id": id, "tool_response": {} });
        self.event(event, call)
    }

    fn before(&mut self, name: &str, input: &Value) -> Option<String> {
        self.calls += 1;
        self.tool("PreToolUse", name, input)
    }

    /// After a tool that did what it was to do.
    pub fn after(&mut self, name: &str, input: &Value) {
        assert_eq!(self.tool("PostToolUse", name, input), None);
    }

    /// Reads `file`, and writes what `change` makes of its content, which this returns; or the reason why it may not. It obeys PULL
    /// and WAIT.
    pub fn writes(&mut self, file: &str, change: impl Fn(String) -> String) -> Result<String, String> {
        let path = self.tree.path().join(file);
        loop {
            let read = json!({ "file_path": path });
            assert_eq!(self.before("Read", &read), None);
            let content = change(std::fs::read_to_string(&path).unwrap());
            self.after("Read", &read);
            let input = json!({ "file_path": path, "content": content });
            let Some(denied) = self.before("Write", &input) else {
                std::fs::write(&path, &content).unwrap();
                self.after("Write", &input);
                return Ok(content);
            };
            if denied.starts_with("PULL") {
                self.pulls();
            } else if denied.starts_with("WAIT") {
                // time: an agent that has to wait pauses.
                std::thread::sleep(Duration::from_millis(50));
            } else {
                return Err(denied);
            }
            self.assert_in_time(&denied);
        }
    }

    /// Commits what it has written.
    pub fn commits(&mut self, message: &str) {
        let input = json!({ "command": format!("git commit --quiet --all --message '{message}'") });
        assert_eq!(self.before("Bash", &input), None, "{}", self.name);
        self.git(&["commit", "--quiet", "--all", "--message", message]).unwrap();
        self.after("Bash", &input);
    }

    /// Pushes until it lands. Then the hook releases the files that are on the branch.
    pub fn pushes(&mut self) {
        let input = json!({ "command": PUSH });
        loop {
            assert_eq!(self.before("Bash", &input), None, "{}", self.name);
            match self.git(&["push", "--quiet", "origin", "HEAD:main"]) {
                Ok(()) => break,
                Err(error) => {
                    self.tool("PostToolUseFailure", "Bash", &input);
                    self.assert_in_time(&error);
                    self.pulls();
                }
            }
        }
        self.after("Bash", &input);
    }

    pub fn pulls(&mut self) {
        let input = json!({ "command": PULL });
        assert_eq!(self.before("Bash", &input), None, "{}", self.name);
        pull(&self.tree, self.deadline);
        self.after("Bash", &input);
    }

    /// Git with the hooks that are installed.
    fn git(&self, args: &[&str]) -> Result<(), String> {
        let path = path(self.world);
        let settings = [("COORD_AGENT", self.name.as_str()), ("PATH", &path)];
        let output = git(self.world, self.tree.path(), &settings, args);
        if output.status.success() {
            Ok(())
        } else {
            Err(stderr_of(&output))
        }
    }

    /// Dies without a word.
    pub fn dies(self) {
        self.mcp.signal("KILL");
        let ended = self.mcp.wait();
        assert!(!ended.status.success(), "{}", ended.log);
    }

    pub fn ends(mut self) {
        self.event("SessionEnd", json!({ "reason": "other" }));
        let ended = self.mcp.end();
        assert!(ended.status.success() && ended.log.is_empty(), "{}", ended.log);
    }
}
