//! An agent in its worktree: it selects by `coord mcp`, and each of its tools goes through the hooks of Claude Code.

use std::time::{Duration, Instant};

use coord_test_support::git::Repo;
use serde_json::{Value, json};

use crate::eight_agents::pull;
use crate::guard::{git, said};
use crate::hook::{hook, sha256};
use crate::mcp::Agent;
use crate::world::World;

/// Time in which an agent gives up: the test has failed.
const PATIENCE: Duration = Duration::from_secs(120);

const PUSH: &str = "git push origin HEAD:main";
const PULL: &str = "git pull --rebase";

/// A change that was let in: intent, file, hash.
pub type Change = (String, String, String);

pub struct Worker<'a> {
    world: &'a World,
    name: String,
    tree: Repo,
    mcp: Agent,
    intent: String,
    calls: u32,
    deadline: Instant,
    /// The intent of each call that was let in and may change something.
    pub turns: Vec<String>,
    pub changes: Vec<Change>,
}

impl<'a> Worker<'a> {
    pub fn start(world: &'a World, name: &str) -> Worker<'a> {
        let tree = world.worktree(name);
        let mut mcp = world.coord(tree.path());
        mcp.arg("mcp").env("COORD_AGENT", name);
        // One person asks for eight.
        for limit in ["HOLDER", "PERSON", "REPOSITORY"] {
            mcp.env(format!("COORD_LIMIT_{limit}_PER_MINUTE"), "0");
        }
        Worker {
            world,
            name: name.to_owned(),
            tree,
            mcp: Agent::start(mcp),
            intent: String::new(),
            calls: 0,
            deadline: Instant::now() + PATIENCE,
            turns: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// What a tool of `coord mcp` answers.
    pub fn asks(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.mcp.call(tool, arguments);
        assert_eq!(result["isError"], false, "{}: {result}", self.name);
        result["structuredContent"].clone()
    }

    pub fn selects(&mut self, intent: &str) {
        let selected = self.asks("select_active_intent", json!({ "intent_id": intent }));
        assert_eq!(selected["state"], "ACTION", "{}: {selected}", self.name);
        intent.clone_into(&mut self.intent);
    }

    pub fn begins(&self) {
        self.event("SessionStart", json!({ "source": "startup", "model": "m" }));
        self.event("UserPromptSubmit", json!({ "prompt": "Change what is yours" }));
    }

    fn event(&self, name: &str, more: Value) -> Option<String> {
        let mut call = json!({ "session_id": self.name, "cwd": self.tree.path(), "hook_event_name": name });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let args = ["claude-code", name];
        let answer = hook(self.world, self.tree.path(), Some(&self.name), &args, &call.to_string());
        assert_eq!((answer.status, answer.aside.as_str()), (0, ""), "{}: {call}", self.name);
        let output = &answer.body["hookSpecificOutput"];
        let is_denied = output["permissionDecision"] == "deny";
        is_denied.then(|| output["permissionDecisionReason"].as_str().unwrap().to_owned())
    }

    fn tool(&self, event: &str, name: &str, input: &Value) -> Option<String> {
        let id = format!("toolu_{}_{}", self.name, self.calls);
        let call = json!({ "tool_name": name, "tool_input": input, "tool_use_id": id, "tool_response": {} });
        self.event(event, call)
    }

    fn before(&mut self, name: &str, input: &Value) -> Option<String> {
        self.calls += 1;
        self.tool("PreToolUse", name, input)
    }

    fn after(&self, name: &str, input: &Value) {
        assert_eq!(self.tool("PostToolUse", name, input), None);
    }

    /// Reads `file` and writes it anew, or says why it may not. It obeys PULL and WAIT.
    pub fn writes(&mut self, file: &str, content: &str) -> Result<(), String> {
        let path = self.tree.path().join(file);
        let input = json!({ "file_path": path, "content": content });
        loop {
            let read = json!({ "file_path": path });
            assert_eq!(self.before("Read", &read), None);
            self.after("Read", &read);
            let Some(denied) = self.before("Write", &input) else {
                break;
            };
            if denied.starts_with("PULL") {
                self.pulls();
            } else if denied.starts_with("WAIT") {
                std::thread::sleep(Duration::from_millis(50));
            } else {
                return Err(denied);
            }
            assert!(Instant::now() < self.deadline, "{}: {denied}", self.name);
        }
        std::fs::write(&path, content).unwrap();
        self.after("Write", &input);
        self.turns.push(self.intent.clone());
        let hash = format!("sha256:{}", sha256(content));
        self.changes.push((self.intent.clone(), file.to_owned(), hash));
        Ok(())
    }

    /// Commits what it has written, by a command that is a turn.
    pub fn commits(&mut self) {
        let input = json!({ "command": "git commit --quiet --all --message 'Change a part'" });
        assert_eq!(self.before("Bash", &input), None, "{}", self.name);
        self.git(&["commit", "--quiet", "--all", "--message", "Change a part"])
            .unwrap();
        self.after("Bash", &input);
        self.turns.push(self.intent.clone());
    }

    /// Pushes until it lands. The hook gives back what is on the branch then.
    pub fn pushes(&mut self) {
        let input = json!({ "command": PUSH });
        loop {
            assert_eq!(self.before("Bash", &input), None, "{}", self.name);
            match self.git(&["push", "--quiet", "origin", "HEAD:main"]) {
                Ok(()) => break,
                Err(said) => {
                    self.tool("PostToolUseFailure", "Bash", &input);
                    assert!(Instant::now() < self.deadline, "{}: {said}", self.name);
                    self.pulls();
                }
            }
        }
        self.after("Bash", &input);
    }

    fn pulls(&mut self) {
        let input = json!({ "command": PULL });
        assert_eq!(self.before("Bash", &input), None, "{}", self.name);
        pull(&self.tree, self.deadline);
        self.after("Bash", &input);
    }

    /// Git with the hooks that are installed.
    fn git(&self, args: &[&str]) -> Result<(), String> {
        let path = format!("{}:/usr/bin:/bin", self.world.folder("bin").display());
        let settings = [("COORD_AGENT", self.name.as_str()), ("PATH", &path)];
        let output = git(self.world, self.tree.path(), &settings, args);
        if output.status.success() {
            Ok(())
        } else {
            Err(said(&output))
        }
    }

    pub fn ends(self) -> (Vec<String>, Vec<Change>) {
        self.event("SessionEnd", json!({ "reason": "other" }));
        let ended = self.mcp.end();
        assert!(ended.status.success() && ended.said.is_empty(), "{}", ended.said);
        (self.turns, self.changes)
    }
}
