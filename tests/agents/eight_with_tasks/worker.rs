//! A member of the team: it takes the next task, works on it, tells the others, and stops when it is asked to.

use std::collections::BTreeSet;
use std::time::Duration;

use coord_test_support::git::Repo;
use serde_json::{Value, json};

use super::plan::Planned;
use super::{LEADER, TEAM};
use crate::mcp::action;
use crate::worktree_agent::WorktreeAgent;
use coord_test_worlds::world::World;

/// Claims and locks expire after this time.
const SETTINGS: [(&str, &str); 2] = [("COORD_TASK_LEASE_SECONDS", "30"), ("COORD_LOCK_TTL_SECONDS", "30")];

/// Seconds that it waits for a task.
const WAIT: u32 = 2;

/// Why there is no task when there is nothing left to do.
const ALL_DONE: &str = "All tasks of the team are completed";

/// Before it looks again whether it is to stop, or whether something has happened.
const PAUSE: Duration = Duration::from_millis(200);

/// Where an agent dies, in its first task: on a busy machine one agent may get no second one of the sixty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// It has written a file.
    AfterAnEdit,
    /// It has committed its work, and has not pushed.
    BeforeThePush,
}

/// How an agent has ended.
pub enum End {
    /// It has approved the shutdown, and has these messages.
    Stopped { handle: String, received: BTreeSet<u64> },
    /// It was killed with this task.
    Killed(Remains),
}

/// The state that a killed agent leaves behind.
pub struct Remains {
    handle: String,
    tree: Repo,
    task: String,
    how: Death,
    received: BTreeSet<u64>,
}

pub struct Worker<'a> {
    plan: &'a [Planned],
    agent: WorktreeAgent<'a>,
    handle: String,
    cursor: Option<u64>,
    received: BTreeSet<u64>,
    tasks: usize,
    death: Option<Death>,
}

impl<'a> Worker<'a> {
    pub fn start(world: &'a World, plan: &'a [Planned], name: &str, death: Option<Death>) -> Worker<'a> {
        Worker {
            death,
            ..Worker::new(world, plan, name, name, world.worktree(name))
        }
    }

    fn new(world: &'a World, plan: &'a [Planned], name: &str, handle: &str, tree: Repo) -> Worker<'a> {
        Worker {
            plan,
            agent: WorktreeAgent::start(world, name, tree, &SETTINGS),
            handle: handle.to_owned(),
            cursor: None,
            received: BTreeSet::new(),
            tasks: 0,
            death: None,
        }
    }

    /// The leader's first acts.
    pub fn leads(&mut self) {
        let created = json!({ "action": "create", "team": TEAM, "handle": self.handle });
        self.must("team", created);
        let tasks: Vec<Value> = self.plan.iter().map(Planned::as_new).collect();
        let added = self.must("task_create", json!({ "tasks": tasks }));
        let ids: Vec<&str> = self.plan.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(added["ids"], json!(ids));
    }

    pub fn joins(&mut self) -> Value {
        self.must("team", json!({ "action": "join", "team": TEAM, "handle": self.handle }))
    }

    /// An agent of another `agent_id` that goes on in the working copy of a killed one, under its handle.
    pub fn succeeds(world: &'a World, plan: &'a [Planned], remains: Remains) -> Worker<'a> {
        let name = format!("{}-again", remains.handle);
        let mut worker = Worker {
            received: remains.received,
            ..Worker::new(world, plan, &name, &remains.handle, remains.tree)
        };
        match remains.how {
            // At once, so that its task is still its own.
            Death::AfterAnEdit => {
                worker.takes_over();
                assert_eq!(worker.has(), [remains.task.as_str()]);
                let again = worker.must("task_claim", json!({ "id": remains.task }));
                worker.does(&again);
            }
            // After its claim has expired and another agent has done the task.
            Death::BeforeThePush => {
                worker.waits_for_another_to_do(&remains.task);
                worker.agent.tree.git(&["reset", "--quiet", "--hard", "origin/main"]);
                worker.takes_over();
                assert_eq!(worker.has(), [""; 0]);
            }
        }
        worker
    }

    fn takes_over(&mut self) {
        self.agent.begins();
        let joined = self.joins();
        assert_eq!(joined["taken_over_from"], self.handle, "{joined}");
    }

    fn waits_for_another_to_do(&mut self, task: &str) {
        loop {
            let found = self.agent.looks_at(&format!("coord://tasks/{task}?team={TEAM}"))["task"].clone();
            if found["status"] == "completed" {
                assert_ne!(found["owner"], self.handle, "{found}");
                return;
            }
            self.agent.assert_in_time(task);
            // time: an agent that has to wait pauses.
            std::thread::sleep(PAUSE);
        }
    }

    /// The tasks that it has a claim of.
    fn has(&mut self) -> Vec<String> {
        let team = self.team();
        let members = team["members"].as_array().unwrap();
        let own = members.iter().find(|member| member["agentId"] == self.handle).unwrap();
        let claims = own["claims"].as_array().unwrap().iter();
        claims.map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    fn team(&mut self) -> Value {
        self.agent.looks_at(&format!("coord://team/{TEAM}"))["team"].clone()
    }

    /// Returns the answer of a tool whose call must succeed.
    fn must(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.agent.calls_tool(tool, arguments);
        assert_eq!(action(&answer), "PROCEED", "{}: {answer}", self.agent.name);
        answer
    }

    /// Works until it is asked to stop; the leader asks for that when all is done.
    pub fn works(mut self) -> End {
        self.agent.begins();
        let is_leader = self.handle == LEADER;
        loop {
            self.agent.assert_in_time("tasks");
            let next = self.agent.calls_tool("task_claim", json!({ "wait": WAIT }));
            match action(&next) {
                "PROCEED" if next["task"].is_object() => {
                    self.tasks += 1;
                    if let Some(how) = self.does(&next) {
                        return self.dies(&next, how);
                    }
                }
                "WAIT" if is_leader && next["orchestration"]["reason"] == ALL_DONE => {
                    self.ends_it();
                    break;
                }
                "WAIT" => self.reads(),
                "PULL" => self.agent.pulls(),
                "STOP" => {
                    let id = &next["shutdown"]["id"];
                    assert!(id.is_string(), "{}: {next}", self.agent.name);
                    self.reads();
                    self.must("team", json!({ "action": "approve", "team": TEAM, "shutdown_id": id }));
                    break;
                }
                _ => panic!("{}: {next}", self.agent.name),
            }
        }
        self.collects_messages();
        self.agent.ends();
        End::Stopped {
            handle: self.handle,
            received: self.received,
        }
    }

    /// Works on a task that it has got; or how it dies over that.
    fn does(&mut self, claimed: &Value) -> Option<Death> {
        let plan = self.plan;
        let is_it = |task: &&Planned| claimed["task"]["id"] == task.id.as_str();
        let task = plan.iter().find(is_it).unwrap();
        let locked = claimed["locks"].as_object().unwrap_or_else(|| panic!("{claimed}"));
        assert!(locked.keys().eq(&task.files), "{claimed}");
        let results = claimed["dependency_results"].as_array().into_iter().flatten();
        let results: BTreeSet<_> = results.map(|of| of["result"].as_str().unwrap().to_owned()).collect();
        let needed = plan.iter().filter(|other| task.dependencies.contains(&other.id));
        assert_eq!(results, needed.map(Planned::result).collect(), "{claimed}");

        let death = self.death.filter(|_| self.tasks == 1);
        for file in &task.files {
            let line = task.line();
            // A predecessor may have written it.
            let add = |text: String| if text.contains(&line) { text } else { text + &line };
            self.agent.writes(file, add).unwrap();
            if death == Some(Death::AfterAnEdit) {
                return death;
            }
        }
        self.agent.commits(&task.subject());
        if death.is_some() {
            return death;
        }
        self.agent.pushes();
        let complete = json!({ "id": task.id, "action": "complete", "result": task.result() });
        self.must("task_update", complete);
        let to = match self.tasks % 3 {
            0 => "broadcast",
            _ => LEADER,
        };
        if to != self.handle {
            let message = json!({ "to": [to], "message": task.result(), "task_id": task.id });
            self.must("message_send", message);
        }
        self.collects_messages();
        None
    }

    fn dies(mut self, claimed: &Value, how: Death) -> End {
        self.collects_messages();
        let tree = Repo::at(self.agent.tree.path());
        self.agent.dies();
        End::Killed(Remains {
            handle: self.handle,
            tree,
            task: claimed["task"]["id"].as_str().unwrap().to_owned(),
            how,
            received: self.received,
        })
    }

    /// Reads its messages until none is left, which proves that it has them.
    fn reads(&mut self) {
        loop {
            let inbox = self.must("message_read", json!({ "cursor": self.cursor }));
            self.agent.after("mcp__coord__message_read", &json!({}));
            self.cursor = inbox["cursor"].as_u64();
            let messages = inbox["messages"].as_array().unwrap();
            self.received
                .extend(messages.iter().map(|message| message["id"].as_u64().unwrap()));
            if messages.is_empty() {
                return;
            }
        }
    }

    /// The messages that hooks have put before its model.
    fn collects_messages(&mut self) {
        for text in std::mem::take(&mut self.agent.contexts) {
            let numbers = text.lines().filter_map(|line| line.strip_prefix("Message "));
            self.received
                .extend(numbers.filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok()));
        }
    }

    /// Asks all to stop, and waits until they have.
    fn ends_it(&mut self) {
        let request = json!({ "action": "request", "team": TEAM, "reason": "All is done" });
        self.must("team", request);
        while self.team()["closedAt"].is_null() {
            self.agent.assert_in_time("the shutdown");
            self.must("message_read", json!({ "cursor": self.cursor, "wait": WAIT }));
        }
        self.reads();
    }
}
