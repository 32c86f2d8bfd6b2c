//! 120 recorded programs of the plugin against the model: equal but for the differences that are meant.
//!
//! Two stand-ins keep both sides in step where they differ on purpose. Acts of a stranger (`ghost`) are refused here (D1), and
//! then done by `stand-in`. A task that an update without an actor started there has no owner; here it is `nobody`'s (D4).

use std::collections::BTreeSet;

use crate::model::{Edit, Mail, ModelTask, Team};
use coord_teams::message::MessageType;
use coord_teams::status::{Priority, Status};
use serde_json::Value;

use coord_test_support::opencode_runs::differences::{COMPLETED, Differences, Shown};
use coord_test_support::opencode_runs::{Step, runs, text, texts};

struct Replay {
    team: Team,
    differences: Differences,
}

/// The handle here for one there.
fn here(handle: &str) -> &str {
    if handle == "ghost" { "stand-in" } else { handle }
}

/// The handle there for one here.
fn there(handle: &str) -> Option<&str> {
    match handle {
        "stand-in" => Some("ghost"),
        "nobody" => None,
        other => Some(other),
    }
}

impl Replay {
    fn step(&mut self, step: &Step) {
        let (args, recorded) = (&step.args, step.result.clone());
        match step.operation.as_str() {
            "spawnTeam" => {}
            "requestJoin" => self.team.join(text(args, "agentId")).expect("a new member"),
            "createTask" => self.create(args, &recorded),
            "claimTask" => self.claim(args, &recorded),
            "updateTask" => self.update(args, &recorded),
            "reassignAgentTasks" => {
                let ids = self.team.reassign(here(text(args, "agentId")));
                assert_eq!(
                    ids.iter().collect::<BTreeSet<_>>(),
                    texts(&recorded.expect("reassigned")).iter().collect::<BTreeSet<_>>()
                );
                for id in ids {
                    self.differences.met("D5");
                    self.differences.stale_warnings.insert(id);
                }
            }
            "deleteTask" => self.delete(text(args, "id"), &recorded),
            "write" => self.send(args, &recorded),
            "broadcast" => {
                let from = text(args, "from");
                if from == "ghost" {
                    self.team.broadcast("ghost", "").expect_err("D1");
                    self.differences.met("D1");
                }
                let mail = self
                    .team
                    .broadcast(here(from), text(args, "message"))
                    .expect("a broadcast")
                    .clone();
                self.same_message(&mail, "", &recorded.expect("a broadcast"));
            }
            "readMessages" => {
                let handle = text(args, "agentId");
                let unread = self.team.read(handle).expect("a member");
                let recorded = recorded.expect("messages");
                let recorded = recorded.as_array().expect("messages");
                if recorded.iter().any(|message| message["read"] == true) {
                    self.differences.met("D6");
                }
                let recorded: Vec<_> = recorded.iter().filter(|message| message["read"] == false).collect();
                assert_eq!(unread.len(), recorded.len());
                for (mail, recorded) in unread.iter().zip(recorded) {
                    self.same_message(mail, handle, recorded);
                }
            }
            "requestShutdown" => {
                self.shutdown(text(args, "agentId"), &recorded, Team::request_shutdown);
            }
            "approveShutdown" => {
                self.shutdown(text(args, "agentId"), &recorded, Team::approve_shutdown);
            }
            "shouldShutdown" => {
                let closed = self.members_approved();
                let recorded = recorded.expect("an answer");
                if recorded == true && !closed {
                    let leader = self.team.approvals().any(|handle| handle == "lead");
                    assert!(leader, "the leader alone closes there");
                    self.differences.met("D11");
                } else {
                    assert_eq!(recorded, closed);
                }
            }
            other => panic!("an operation {other}"),
        }
    }

    fn members_approved(&self) -> bool {
        let approved: Vec<_> = self.team.approvals().collect();
        let members = self.team.members().iter().map(String::as_str);
        members
            .filter(|handle| there(handle) == Some(handle))
            .all(|handle| approved.contains(&handle))
    }

    fn shutdown(
        &mut self,
        handle: &str,
        recorded: &Result<Value, String>,
        act: fn(&mut Team, &str) -> Result<(), String>,
    ) {
        if handle == "ghost" {
            act(&mut self.team, handle).expect_err("D11");
            self.differences.met("D11");
        }
        act(&mut self.team, here(handle)).expect("a member");
        self.same_config(recorded.as_ref().expect("a configuration"));
    }

    fn same_config(&self, recorded: &Value) {
        let members = recorded["members"].as_array().expect("members");
        let members: Vec<_> = members.iter().map(|member| text(member, "agentId")).collect();
        let ours = self.team.members().iter().map(String::as_str);
        assert_eq!(
            ours.filter(|handle| there(handle) == Some(handle)).collect::<Vec<_>>(),
            members
        );
        let approvals = texts(&recorded["shutdownApprovals"])
            .into_iter()
            .collect::<BTreeSet<_>>();
        let ours = self.team.approvals().filter_map(there).map(str::to_owned);
        assert_eq!(ours.collect::<BTreeSet<_>>(), approvals);
    }

    fn create(&mut self, args: &Value, recorded: &Result<Value, String>) {
        let priority = Priority::ALL
            .into_iter()
            .find(|one| one.as_str() == text(args, "priority"));
        let dependencies = texts(&args["dependencies"]);
        let created = self.team.create(
            "lead",
            text(args, "title"),
            priority.unwrap_or_default(),
            &dependencies,
            &[],
        );
        match (created, recorded) {
            (Ok(id), Ok(recorded)) => self.same_task(&id, recorded),
            (created, recorded) => assert_eq!(created.err().as_ref(), recorded.as_ref().err()),
        }
    }

    fn claim(&mut self, args: &Value, recorded: &Result<Value, String>) {
        let (id, handle) = (text(args, "id"), text(args, "agentId"));
        if handle == "ghost" && recorded.is_ok() {
            self.team.claim("ghost", id).expect_err("D1");
            self.differences.met("D1");
        }
        let before = self.team.task(id).cloned();
        match (self.team.claim(here(handle), id).cloned(), recorded) {
            (Ok(_), Ok(recorded)) => self.same_task(id, recorded),
            (Ok(renewed), Err(refused)) => {
                assert_eq!(before.as_ref(), Ok(&renewed), "{refused}");
                self.differences.met("D3");
            }
            (claimed, recorded) => assert_eq!(claimed.err().as_ref(), recorded.as_ref().err()),
        }
    }

    fn update(&mut self, args: &Value, recorded: &Result<Value, String>) {
        let (id, updates) = (text(args, "id"), &args["updates"]);
        let status = updates.get("status").and_then(Value::as_str);
        let known: &[&str] = &["status", "dependencies"];
        let members = updates.as_object().expect("members");
        assert!(
            members.keys().all(|member| known.contains(&member.as_str())),
            "{updates}"
        );
        let edit = Edit {
            status: status.and_then(|status| Status::ALL.into_iter().find(|one| one.as_str() == status)),
            dependencies: updates.get("dependencies").map(texts),
        };
        let task = self.team.task(id).cloned().ok();
        let owner = task.as_ref().and_then(|task| task.owner.clone());
        // Nobody's, if it starts the task there.
        let actor = owner.clone().unwrap_or_else(|| "nobody".to_owned());
        let before = self.team.clone();
        match (self.team.update(&actor, id, &edit).cloned(), recorded) {
            (Ok(updated), Ok(recorded)) => {
                if owner.is_none() && updated.owner.is_some() {
                    self.differences.met("D4");
                    self.differences.stale_warnings.insert(id.to_owned());
                }
                if edit.dependencies.is_some() {
                    self.differences.stale_warnings.insert(id.to_owned());
                    // Earlier completed tasks are not removed from `blocks` there, as no list names them any longer.
                    let met = &before.task(id).expect("the task").met;
                    self.differences
                        .dangling
                        .extend(met.iter().map(|on| (on.clone(), id.to_owned())));
                }
                self.same_task(id, recorded);
            }
            (Ok(_), Err(refused)) => {
                // A ring there goes over dependencies that are met here.
                assert!(refused.starts_with("Circular dependency detected"), "{refused}");
                self.team = before;
                self.differences.met("D2");
            }
            (Err(ours), Err(refused)) => {
                if ours.starts_with("Circular dependency detected") {
                    assert!(ours.starts_with(&format!("{refused} -> ")), "{ours}: {refused}");
                    self.differences.met("D12");
                } else {
                    assert_eq!(&ours, refused);
                }
                for on in edit.dependencies.unwrap_or_default() {
                    self.differences.dangling.insert((on, id.to_owned()));
                }
            }
            (Err(ours), Ok(recorded)) => panic!("{ours}: {recorded}"),
        }
    }

    fn delete(&mut self, id: &str, recorded: &Result<Value, String>) {
        let before = self.team.clone();
        let sentence = |task: &str| format!("Cannot delete task {id} because task {task} depends on it");
        match (self.team.delete(id), recorded) {
            (Ok(()), Ok(_)) => {}
            (Ok(()), Err(refused)) => {
                let mut dependents = before.tasks().iter().filter(|task| task.met.contains(id));
                assert!(dependents.any(|task| sentence(&task.id) == *refused), "{refused}");
                self.team = before;
                self.differences.met("D2");
            }
            (Err(ours), Err(refused)) if ours.starts_with("Cannot delete") => {
                // It names the first of its files, whose names end at random.
                let mut dependents = before.tasks().iter();
                let named = dependents
                    .find(|task| sentence(&task.id) == *refused)
                    .expect("a dependent");
                assert!(named.dependencies.contains(id), "{refused}");
            }
            (deleted, recorded) => assert_eq!(deleted.err().as_ref(), recorded.as_ref().err()),
        }
    }

    fn send(&mut self, args: &Value, recorded: &Result<Value, String>) {
        let (from, to) = (text(args, "from"), text(args, "to"));
        if from == "ghost" && recorded.is_ok() {
            self.team.send("ghost", to, MessageType::Plain, "").expect_err("D1");
            self.differences.met("D1");
        }
        let sent = self
            .team
            .send(here(from), to, MessageType::Plain, text(args, "message"))
            .cloned();
        match (sent, recorded) {
            (Ok(mail), Ok(recorded)) => self.same_message(&mail, "", recorded),
            (sent, recorded) => assert_eq!(sent.err().as_ref(), recorded.as_ref().err()),
        }
    }

    fn same_message(&self, mail: &Mail, reader: &str, recorded: &Value) {
        assert_eq!(there(&mail.from), recorded["from"].as_str());
        assert_eq!(mail.to, text(recorded, "to"));
        assert_eq!(mail.kind.as_str(), text(recorded, "type"));
        assert_eq!(mail.message, text(recorded, "message"));
        assert_eq!(recorded["read"], mail.read.contains(reader));
        if mail.to == "broadcast" {
            let members = mail.members.iter().map(String::as_str);
            let members: Vec<_> = members.filter(|handle| there(handle) == Some(handle)).collect();
            assert_eq!(members, texts(&recorded["recipients"]));
        }
    }

    fn same_task(&mut self, id: &str, recorded: &Value) {
        let team = &self.team;
        let task = team.task(id).expect("the task");
        let is_done = |task: &ModelTask| (task.id.clone(), task.status == Status::Completed);
        self.differences.completed = team.tasks().iter().map(is_done).collect();
        let shown = Shown {
            title: task.title.clone(),
            priority: task.priority.as_str().to_owned(),
            status: task.shown_status().as_str().to_owned(),
            owner: task.owner.as_deref().and_then(there).map(str::to_owned),
            dependencies: task.dependencies.iter().cloned().collect(),
            blocks: team.blocks(id).into_iter().map(str::to_owned).collect(),
            warning: task.warning().map(|warning| warning.replace("stand-in", "ghost")),
        };
        self.differences.same_task(id, &shown, || task.met.clone(), recorded);
    }

    fn end(&mut self, recorded: &Value) {
        self.same_config(&recorded["config"]);
        let tasks = recorded["tasks"].as_array().expect("tasks");
        let ids: BTreeSet<_> = tasks.iter().map(|task| text(task, "id")).collect();
        let team = self.team.clone();
        assert_eq!(
            team.tasks()
                .iter()
                .map(|task| task.id.as_str())
                .collect::<BTreeSet<_>>(),
            ids
        );
        for task in tasks {
            self.same_task(text(task, "id"), task);
        }
        for (handle, inbox) in recorded["inboxes"].as_object().expect("inboxes") {
            let inbox = inbox.as_array().expect("messages");
            let ours = team.inbox(here(handle));
            assert_eq!(ours.len(), inbox.len(), "{handle}");
            for (mail, recorded) in ours.into_iter().zip(inbox) {
                self.same_message(mail, handle, recorded);
            }
        }
    }
}

#[test]
fn recorded_runs_of_the_plugin_end_as_the_model_does_but_for_what_is_meant() {
    let mut differences = Differences::default();
    let (mut count, mut steps) = (0, 0);
    for run in runs() {
        let mut replay = Replay {
            team: Team::new("alpha", "lead"),
            differences: Differences::default(),
        };
        for step in &run.steps {
            // Both join once the recorded members are there: a broadcast that is recorded names these.
            if step.operation == "createTask" && replay.team.members().len() == 4 {
                replay.team.join("stand-in").expect("a new member");
                replay.team.join("nobody").expect("a new member");
            }
            let trial = std::panic::AssertUnwindSafe(|| replay.step(step));
            if let Err(panic) = std::panic::catch_unwind(trial) {
                eprintln!("seed {}, {} {}", run.seed, step.operation, step.args);
                std::panic::resume_unwind(panic);
            }
            steps += 1;
        }
        replay.end(&run.end);
        differences = differences.and(replay.differences);
        count += 1;
    }
    assert_eq!((count, steps), (120, 5280));
    differences.assert_all_were_met(COMPLETED);
}
