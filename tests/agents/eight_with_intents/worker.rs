//! An agent that works for intents.

use serde_json::json;

use crate::hook::sha256;
use crate::worktree_agent::WorktreeAgent;
use coord_test_worlds::world::World;

/// A change that was allowed: intent, file, hash.
pub type Change = (String, String, String);

pub struct Worker<'a> {
    pub agent: WorktreeAgent<'a>,
    intent: String,
    /// The intent of each allowed call that may change something.
    turns: Vec<String>,
    changes: Vec<Change>,
}

impl<'a> Worker<'a> {
    pub fn start(world: &'a World, name: &str) -> Worker<'a> {
        Worker {
            agent: WorktreeAgent::start(world, name, world.worktree(name), &[]),
            intent: String::new(),
            turns: Vec::new(),
            changes: Vec::new(),
        }
    }

    pub fn selects(&mut self, intent: &str) {
        let selected = self
            .agent
            .calls_tool("select_active_intent", json!({ "intent_id": intent }));
        assert_eq!(selected["state"], "ACTION", "{}: {selected}", self.agent.name);
        intent.clone_into(&mut self.intent);
    }

    /// Reads `file` and writes it anew, or says why it may not.
    pub fn writes(&mut self, file: &str, content: &str) -> Result<(), String> {
        self.agent.writes(file, |_| content.to_owned())?;
        self.turns.push(self.intent.clone());
        let hash = format!("sha256:{}", sha256(content));
        self.changes.push((self.intent.clone(), file.to_owned(), hash));
        Ok(())
    }

    /// Commits what it has written, by a command that is a turn.
    pub fn commits(&mut self) {
        self.agent.commits("Change a part");
        self.turns.push(self.intent.clone());
    }

    pub fn ends(self) -> (Vec<String>, Vec<Change>) {
        self.agent.ends();
        (self.turns, self.changes)
    }
}
