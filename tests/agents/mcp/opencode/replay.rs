//! The recorded programs of the plugin, replayed through its tools: equal but for the differences that are meant, each of which is
//! looked for, and what is expected in its place.
//!
//! All agents but `ghost` are handles of one login. `stand-in` does what `ghost`, no member, did there once it was refused here (D1).
//! Two of the plugin's operations have no tool, and are requests of HTTP: a deletion is the leader's, a reassignment releases tasks
//! as their owner.

use std::collections::{BTreeMap, BTreeSet};

use coord_protocol::tasks::{ReleaseTaskRequest, TaskStatus};
use serde_json::{Value as Json, json};

use super::board::{Board, LEADER, TEAM, caller, without_times};
use crate::mcp::server::Server;
use coord_test_support::opencode_runs::differences::{COMPLETED, Differences};
use coord_test_support::opencode_runs::{Run, Step, runs, text, texts};
use coord_test_worlds::world::World;

mod same;
mod shutdowns;

const STAND_IN: &str = "stand-in";

/// The handle here for one there.
fn here(handle: &str) -> &str {
    if handle == "ghost" { STAND_IN } else { handle }
}

/// The handle there for one here.
fn there(handle: &str) -> &str {
    if handle == STAND_IN { "ghost" } else { handle }
}

fn set_of(ids: &Json) -> BTreeSet<String> {
    texts(ids).into_iter().collect()
}

struct Replay<'a> {
    board: &'a mut Board,
    differences: Differences,
    /// Task -> its owner here.
    owners: BTreeMap<String, String>,
    /// Tasks that an update has started: nobody's there, the caller's here (D4).
    started: BTreeSet<String>,
    /// Deletions that were refused there because of a completed dependency (D2).
    deletions: BTreeSet<String>,
    /// The members that have approved a shutdown there.
    approvals: BTreeSet<String>,
    /// Member -> the messages that it has yet to read here.
    unread: BTreeMap<String, Vec<Json>>,
}

impl Replay<'_> {
    fn step(&mut self, step: &Step) {
        let (args, recorded) = (&step.args, &step.result);
        match step.operation.as_str() {
            "spawnTeam" => {
                let made = json!({ "leaderInfo": { "agentId": args["agentId"] } });
                let made = self.board.tool("spawn-team", made).map(without_times);
                assert_eq!(&made, recorded);
            }
            "requestJoin" => assert_eq!(&Ok(self.join(text(args, "agentId"))), recorded),
            "createTask" => self.create(args, recorded),
            "claimTask" => self.claim(text(args, "id"), text(args, "agentId"), recorded),
            "updateTask" => self.update(text(args, "id"), &args["updates"], recorded),
            "reassignAgentTasks" => self.reassign(text(args, "agentId"), recorded),
            "deleteTask" => self.delete(text(args, "id"), recorded),
            "write" => self.send(args, recorded),
            "broadcast" => self.broadcast(args, recorded),
            "readMessages" => self.read(text(args, "agentId"), recorded),
            "requestShutdown" => self.request_shutdown(text(args, "agentId"), recorded),
            "approveShutdown" => self.approve_shutdown(text(args, "agentId"), recorded),
            "shouldShutdown" => self.should_shutdown(recorded),
            other => panic!("an operation {other}"),
        }
    }

    fn join(&mut self, handle: &str) -> Json {
        let info = json!({ "agentInfo": { "agentId": handle } });
        let joined = self.board.tool("join-team", info);
        self.unread.entry(handle.to_owned()).or_default();
        without_times(joined.expect("a member"))
    }

    /// D1: what `ghost` asks for is refused, whatever it was there.
    fn refused_to_a_stranger(&mut self, handle: &str, tool: &str, arguments: Json, difference: &'static str) {
        if handle == "ghost" {
            let sentence = format!("\"ghost\" is not a member of team \"{TEAM}\"");
            assert_eq!(self.board.tool(tool, arguments), Err(sentence));
            self.differences.met(difference);
        }
    }

    fn create(&mut self, args: &Json, recorded: &Result<Json, String>) {
        let task = json!({ "taskData": args, "agentId": LEADER });
        match (self.board.tool("create-task", task), recorded) {
            (Ok(created), Ok(recorded)) => self.same_task(&created, recorded),
            (created, recorded) => assert_eq!(created.err().as_ref(), recorded.as_ref().err()),
        }
    }

    fn claim(&mut self, id: &str, handle: &str, recorded: &Result<Json, String>) {
        let arguments = |handle: &str| json!({ "taskId": id, "agentId": handle });
        self.refused_to_a_stranger(handle, "claim-task", arguments(handle), "D1");
        let handle = here(handle);
        let had = self.owners.get(id).cloned();
        match (self.board.tool("claim-task", arguments(handle)), recorded) {
            (Ok(claimed), Ok(recorded)) => {
                self.started.remove(id);
                self.same_task(&claimed, recorded);
            }
            (Ok(renewed), Err(refused)) => {
                assert_eq!(refused, &format!("Task {id} is not available (status: in_progress)"));
                assert_eq!(text(&renewed, "owner"), handle);
                assert_eq!(text(&renewed, "status"), "in_progress");
                assert_eq!(had.as_deref(), Some(handle), "a renewal");
                self.differences.met("D3");
            }
            (claimed, recorded) => assert_eq!(claimed.err().as_ref(), recorded.as_ref().err()),
        }
    }

    fn update(&mut self, id: &str, updates: &Json, recorded: &Result<Json, String>) {
        let had = self.owners.get(id).cloned();
        let actor = had.clone().unwrap_or_else(|| LEADER.to_owned());
        let dependencies = updates.get("dependencies").map(set_of);
        let before = dependencies.as_ref().and_then(|_| self.board.dependencies(id));
        let arguments = |updates: &Json| json!({ "taskId": id, "updates": updates, "agentId": actor });
        match (self.board.tool("update-task", arguments(updates)), recorded) {
            (Ok(updated), Ok(recorded)) => {
                if had.is_none() && updated.get("owner").is_some() {
                    assert_eq!((text(&updated, "owner"), recorded.get("owner")), (LEADER, None));
                    self.started.insert(id.to_owned());
                    self.differences.met("D4");
                    self.differences.stale_warnings.insert(id.to_owned());
                }
                if let Some((_, met)) = before {
                    self.differences.stale_warnings.insert(id.to_owned());
                    // A completed dependency that the list leaves out keeps the task in its `blocks` there.
                    for on in met.difference(&dependencies.unwrap_or_default()) {
                        self.differences.dangling.insert((on.clone(), id.to_owned()));
                    }
                }
                self.same_task(&updated, recorded);
            }
            (Ok(updated), Err(refused)) => {
                // A ring there goes over dependencies that are met here.
                assert_eq!(refused, &format!("Circular dependency detected: {id}"));
                let (open, met) = before.expect("an update of dependencies");
                let open_now = set_of(&updated["dependencies"]);
                assert!(open_now.is_subset(&dependencies.unwrap_or_default()), "{updated}");
                self.differences.met("D2");
                let all = json!({ "dependencies": &open | &met });
                let restored = self.board.tool("update-task", arguments(&all));
                restored.expect("as it was before");
            }
            (Err(ours), Err(refused)) => {
                if ours.starts_with("Circular dependency detected") {
                    assert!(ours.starts_with(&format!("{refused} -> ")), "{ours}: {refused}");
                    assert!(ours.ends_with(&format!(" -> {id}")), "{ours}");
                    self.differences.met("D12");
                } else {
                    assert_eq!(&ours, refused);
                }
                if before.is_some() {
                    // Nor has anything changed in the `blocks` of others: they are the same edges.
                    assert_eq!(self.board.dependencies(id), before, "nothing is changed");
                    self.differences.met("D8");
                }
            }
            (Err(ours), Ok(recorded)) => panic!("{ours}: {recorded}"),
        }
    }

    /// The tasks of a member that are not completed.
    fn open_tasks(&self, handle: &str) -> BTreeSet<String> {
        let is_open = |id: &str| self.differences.completed.get(id) != Some(&true);
        let owned = self.owners.iter().filter(|(id, owner)| *owner == handle && is_open(id));
        owned.map(|(id, _)| id.clone()).collect()
    }

    fn reassign(&mut self, handle: &str, recorded: &Result<Json, String>) {
        let handle = here(handle);
        let recorded = set_of(recorded.as_ref().expect("reassigned"));
        assert_eq!(&self.open_tasks(handle) - &self.started, recorded);
        for id in &recorded {
            let request = ReleaseTaskRequest {
                caller: caller(handle),
                ..ReleaseTaskRequest::default()
            };
            let released = self.board.wait(self.board.http.release_task(id, &request));
            let task = released.expect("released").task.expect("the task");
            assert_eq!((task.status, task.owner), (TaskStatus::InProgress, None));
            assert_eq!(task.previous_owner.as_deref(), Some(handle));
            self.owners.remove(id);
        }
        if recorded.is_empty() {
            return;
        }
        // The plugin is shown what it can claim.
        let pending = self.pending_tasks();
        let warning = format!("Reassigned: previous owner {handle} terminated");
        for id in recorded {
            let shown = pending.iter().find(|task| task["id"] == json!(id));
            assert_eq!(text(shown.expect("the task"), "warning"), warning);
            self.differences.met("D5");
            self.differences.stale_warnings.insert(id);
        }
    }

    fn pending_tasks(&mut self) -> Vec<Json> {
        let pending = json!({ "filters": { "status": "pending" } });
        let tasks = self.board.tool("get-tasks", pending).expect("tasks");
        tasks.as_array().expect("tasks").clone()
    }

    fn delete(&mut self, id: &str, recorded: &Result<Json, String>) {
        let refused = recorded.as_ref().err();
        let start = format!("Cannot delete task {id} because task ");
        // The open and the met dependencies of the task for which a deletion is refused.
        let dependent = |board: &Board, refused: &str| {
            let rest = refused.strip_prefix(&start);
            let other = rest.and_then(|rest| rest.strip_suffix(" depends on it"));
            let found = board.dependencies(other.expect("the dependent"));
            found.expect("a task")
        };
        if let (Some(true), Some(refused)) = (self.differences.completed.get(id), refused) {
            // A completed task is a dependency no longer: the deletion is made at the end, when nothing is compared any more.
            let (_, met) = dependent(self.board, refused);
            assert!(met.contains(id), "{refused}");
            self.deletions.insert(id.to_owned());
            self.differences.met("D2");
            return;
        }
        if refused.is_some() && self.board.task(id).is_some_and(|task| task.blocks.is_empty()) {
            // Nor does a completed task wait for anything: this one is not deleted, so that all else stays the same.
            self.differences.met(COMPLETED);
            return;
        }
        match (self.deletes(id).err(), refused) {
            (None, None) => {
                self.differences.completed.remove(id);
                self.owners.remove(id);
                self.started.remove(id);
            }
            (Some(ours), Some(refused)) if refused.starts_with("Cannot delete") => {
                // It names the first of its files, whose names end at random.
                let (open, _) = dependent(self.board, &ours);
                assert!(open.contains(id) && refused.starts_with(&start), "{ours}: {refused}");
            }
            (ours, refused) => assert_eq!(ours.as_ref(), refused),
        }
    }

    fn deletes(&self, id: &str) -> Result<(), String> {
        let deleted = self.board.wait(self.board.http.delete_task(id, &caller(LEADER), false));
        deleted.map(drop).map_err(|error| error.to_string())
    }

    fn send(&mut self, args: &Json, recorded: &Result<Json, String>) {
        let (from, to) = (text(args, "from"), text(args, "to"));
        let arguments = |from: &str| json!({ "fromAgentId": from, "targetAgentId": to, "message": args["message"] });
        self.refused_to_a_stranger(from, "send-message", arguments(from), "D1");
        match (self.board.tool("send-message", arguments(here(from))), recorded) {
            (Ok(sent), Ok(recorded)) => {
                let sent = without_times(sent);
                assert_eq!(&of_there(&sent), recorded);
                self.unread.get_mut(to).expect("a member").push(sent);
            }
            (sent, recorded) => assert_eq!(sent.err().as_ref(), recorded.as_ref().err()),
        }
    }

    fn broadcast(&mut self, args: &Json, recorded: &Result<Json, String>) {
        let from = text(args, "from");
        let arguments = |from: &str| json!({ "fromAgentId": from, "message": args["message"] });
        self.refused_to_a_stranger(from, "broadcast-message", arguments(from), "D1");
        let sent = self.board.tool("broadcast-message", arguments(here(from)));
        let sent = without_times(sent.expect("a broadcast"));
        assert_eq!(&Ok(of_there(&sent)), recorded);
        self.sent_to_all_others(here(from), &sent);
    }

    fn sent_to_all_others(&mut self, from: &str, message: &Json) {
        for (handle, inbox) in &mut self.unread {
            if handle != from {
                inbox.push(message.clone());
            }
        }
    }

    /// Returns the messages that were sent to `handle` since its last read.
    fn read_all(&mut self, handle: &str) -> Vec<Json> {
        let (read, notes) = self.board.call("read-messages", json!({ "agentId": handle }));
        let read = without_times(read.expect("messages"));
        let read = read.as_array().expect("messages").clone();
        assert_eq!(read, std::mem::take(self.unread.get_mut(handle).expect("a member")));
        for note in notes {
            let is_of_completion = note.starts_with("Coord: Dependencies are met: ");
            let is_of_deletion = note.contains(", which you had, was deleted by ");
            assert!(is_of_completion || is_of_deletion, "{note}");
        }
        read
    }

    fn read(&mut self, handle: &str, recorded: &Result<Json, String>) {
        let read = self.read_all(handle);
        let recorded = recorded.as_ref().expect("messages").as_array().expect("messages");
        if recorded.iter().any(|message| message["read"] == true) {
            self.differences.met("D6");
        }
        let is_plain = |message: &&Json| message["read"] == false && !is_of_shutdown(message);
        let recorded: Vec<Json> = recorded.iter().filter(is_plain).cloned().collect();
        let read: Vec<Json> = read.iter().filter(is_plain).map(of_there).collect();
        assert_eq!(read, recorded);
    }
}

/// Whether a message belongs to a shutdown; rejections are `plain` for the plugin.
fn is_of_shutdown(message: &Json) -> bool {
    text(message, "type") != "plain" || text(message, "message") == shutdowns::REJECTION
}

/// A message by the names of there.
fn of_there(message: &Json) -> Json {
    let mut message = message.clone();
    message["from"] = json!(there(text(&message, "from")));
    if let Some(recipients) = message.get_mut("recipients") {
        let recipients = recipients.as_array_mut().expect("recipients");
        recipients.retain(|handle| handle != STAND_IN);
    }
    message
}

/// Servers that work off the runs side by side.
const SERVERS: usize = 4;

// rule: teams#opencode-differences
#[test]
fn recorded_runs_of_the_plugin_are_the_same_through_its_tools_but_for_what_is_meant() {
    let runs = runs();
    let steps: usize = runs.iter().map(|run| run.steps.len()).sum();
    assert_eq!((runs.len(), steps), (120, 5280));
    let replayed = |some: &[Run]| {
        let world = World::with(&[("README.md", "x")]);
        let server = Server::start(&world, 300);
        let mut board = Board::start(&server, &[]);
        let each = some.iter().map(|run| replayed(&mut board, run));
        each.reduce(Differences::and).expect("runs")
    };
    let differences = std::thread::scope(|scope| {
        let parts = runs.chunks(runs.len() / SERVERS);
        let threads: Vec<_> = parts.map(|some| scope.spawn(|| replayed(some))).collect();
        let each = threads.into_iter().map(|thread| thread.join().expect("the same"));
        each.reduce(Differences::and).expect("runs")
    });
    differences.assert_all_were_met();
}

fn replayed(board: &mut Board, run: &Run) -> Differences {
    let mut replay = Replay {
        board,
        differences: Differences::default(),
        owners: BTreeMap::new(),
        started: BTreeSet::new(),
        deletions: BTreeSet::new(),
        approvals: BTreeSet::new(),
        unread: BTreeMap::from([(LEADER.to_owned(), Vec::new())]),
    };
    for (place, step) in run.steps.iter().enumerate() {
        // It joins once the recorded members are there: what is recorded of a team names these.
        if step.operation == "createTask" && !replay.unread.contains_key(STAND_IN) {
            replay.join(STAND_IN);
        }
        let trial = std::panic::AssertUnwindSafe(|| replay.step(step));
        if let Err(panic) = std::panic::catch_unwind(trial) {
            eprintln!(
                "seed {}, step {place}, {} {}: {:?}",
                run.seed, step.operation, step.args, step.result
            );
            std::panic::resume_unwind(panic);
        }
    }
    replay.end(&run.end);
    replay.differences
}
