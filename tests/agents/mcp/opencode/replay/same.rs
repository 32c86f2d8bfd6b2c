//! Compares tasks, teams and inboxes here and there.

use std::collections::BTreeSet;

use coord_protocol::messages::MessageView;
use serde_json::{Value as Json, json};

use super::super::board::{TEAM, caller, without_times};
use super::{LEADER, Replay, STAND_IN, here, is_of_shutdown, there};
use coord_test_support::opencode_runs::differences::{COMPLETED, Shown};
use coord_test_support::opencode_runs::{text, texts};
use coord_test_worlds::world::REPO_URL;

impl Replay<'_> {
    pub(super) fn same_config(&mut self, recorded: &Json) {
        let config = self.board.tool("get-team-info", json!({})).expect("the team");
        let mut config = without_times(config);
        let members = config["members"].as_array_mut().expect("members");
        members.retain(|member| member["agentId"] != STAND_IN);
        let mut recorded = recorded.clone();
        let approvals = recorded.as_object_mut().expect("a team").remove("shutdownApprovals");
        let approvals: BTreeSet<String> = texts(&approvals.unwrap_or_default()).into_iter().collect();
        assert_eq!(approvals, self.approvals);
        config.as_object_mut().expect("a team").remove("shutdownApprovals");
        assert_eq!(config, recorded);
    }

    pub(super) fn same_task(&mut self, ours: &Json, recorded: &Json) {
        let id = text(ours, "id").to_owned();
        let done = ours["status"] == "completed";
        self.differences.completed.insert(id.clone(), done);
        match ours["owner"].as_str() {
            Some(owner) => self.owners.insert(id.clone(), owner.to_owned()),
            None => self.owners.remove(&id),
        };
        let is_started = self.started.contains(&id);
        let owner = ours["owner"].as_str().filter(|_| !is_started);
        let theirs = texts(&recorded["blocks"]);
        let mut blocks: BTreeSet<String> = texts(&ours["blocks"]).into_iter().collect();
        for other in blocks.clone().iter().filter(|other| !theirs.contains(other)) {
            let (open, met) = self.shown(other).expect("the task");
            // A dependency that is met stays as history, also where the task was then given others.
            assert!(done && met.contains(&id) && !open.contains(&id), "{other}: {recorded}");
            assert_eq!(
                self.differences.completed.get(other),
                Some(&false),
                "{other}: {recorded}"
            );
            self.differences.met("D2");
            blocks.remove(other);
        }
        let mut dependencies = texts(&ours["dependencies"]);
        if done {
            assert_eq!(dependencies, [""; 0], "it waits for nothing");
            let is_open = |other: &String| self.differences.completed.get(other) != Some(&true);
            let open: BTreeSet<String> = texts(&recorded["dependencies"]).into_iter().filter(is_open).collect();
            if !open.is_empty() {
                self.differences.met(COMPLETED);
                self.differences.stale_warnings.insert(id.clone());
                dependencies.extend(open);
            }
        }
        let shown = Shown {
            title: text(ours, "title").to_owned(),
            priority: text(ours, "priority").to_owned(),
            status: text(ours, "status").to_owned(),
            owner: owner.map(|owner| there(owner).to_owned()),
            dependencies,
            blocks,
            warning: ours["warning"]
                .as_str()
                .map(|warning| warning.replace(STAND_IN, "ghost")),
        };
        let (caller, board) = (caller(LEADER), &self.board);
        let met = || {
            let task = board.wait(board.http.task(&caller, &id)).expect("the task").task;
            task.expect("the task").met_dependencies.into_iter().collect()
        };
        self.differences.same_task(&id, &shown, met, recorded);
        // No member is there or not there but those that are meant.
        let members = |task: &Json| {
            let members = task.as_object().expect("a task").keys().cloned();
            members.filter(|name| name != "warning").collect::<BTreeSet<String>>()
        };
        let mut ours = members(ours);
        if is_started {
            assert!(ours.remove("owner") && ours.remove("claimedAt"));
        }
        assert_eq!(ours, members(recorded), "{recorded}");
    }

    pub(super) fn end(&mut self, recorded: &Json) {
        self.same_config(&recorded["config"]);
        let tasks = self.board.tool("get-tasks", json!({})).expect("tasks");
        let tasks = tasks.as_array().expect("tasks").clone();
        let recorded_tasks = recorded["tasks"].as_array().expect("tasks");
        assert_eq!(tasks.len(), recorded_tasks.len());
        for ours in &tasks {
            let theirs = recorded_tasks.iter().find(|task| task["id"] == ours["id"]);
            self.same_task(ours, theirs.expect("the task"));
        }
        for (handle, inbox) in recorded["inboxes"].as_object().expect("inboxes") {
            self.same_inbox(here(handle), inbox);
        }
        for handle in self.unread.keys().cloned().collect::<Vec<_>>() {
            self.read_all(&handle);
            assert_eq!(self.read_all(&handle), Vec::<Json>::new(), "each message comes once");
        }
        for id in std::mem::take(&mut self.deletions) {
            let is_there = self.differences.completed.contains_key(&id);
            let deleted = self
                .board
                .wait(self.board.http.delete_task(&id, &caller(LEADER), false));
            assert_eq!(deleted.is_ok(), is_there, "{id}");
        }
        self.close();
        let deleted = self.board.http.delete_team(REPO_URL, TEAM, Some(LEADER));
        self.board.wait(deleted).expect("a closed team is deleted");
    }

    /// Sender, text and read mark of each message in the inbox, but for those of shutdowns and of Coord itself.
    pub(super) fn same_inbox(&mut self, handle: &str, recorded: &Json) {
        let filter = coord_protocol::client::HistoryFilter {
            member: Some(handle.to_owned()),
            limit: Some(500),
            ..Default::default()
        };
        let history = self
            .board
            .wait(self.board.http.messages(&caller(LEADER), &filter))
            .expect("messages");
        assert_eq!(history.earlier, None);
        let is_to = |message: &&MessageView| match (&message.from, message.to.as_str()) {
            (None, _) => false,
            (Some(from), "broadcast") => from != handle,
            (Some(_), to) => to == handle,
        };
        let view = |message: &MessageView| {
            let from = message.from.as_deref().map(there).unwrap_or_default().to_owned();
            (
                from,
                message.message.clone(),
                !message.unread_by.iter().any(|unread| unread == handle),
            )
        };
        let plain = history.messages.iter().rev().filter(is_to);
        let plain = plain.filter(|message| json!(message.kind) == "plain");
        let theirs = recorded
            .as_array()
            .expect("messages")
            .iter()
            .filter(|message| !is_of_shutdown(message));
        let theirs = theirs.map(|message| {
            let (from, text) = (text(message, "from"), text(message, "message"));
            (from.to_owned(), text.to_owned(), message["read"] == true)
        });
        let (ours, theirs): (Vec<_>, Vec<_>) = (plain.map(view).collect(), theirs.collect());
        assert_eq!(ours, theirs, "{handle}");
    }
}
