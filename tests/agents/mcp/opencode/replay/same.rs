//! Compares tasks, teams and inboxes here and there.

use std::collections::BTreeSet;

use coord_protocol::client::HistoryFilter;
use coord_protocol::messages::MessageView;
use serde_json::{Value as Json, json};

use super::super::board::{LEADER, TEAM, caller, without_times};
use super::{Replay, STAND_IN, here, is_of_shutdown, set_of, there};
use coord_test_support::opencode_runs::differences::{COMPLETED, Shown};
use coord_test_support::opencode_runs::{text, texts};
use coord_test_worlds::world::REPO_URL;

impl Replay<'_> {
    pub(super) fn same_config(&mut self, recorded: &Json) {
        let config = self.board.tool("get-team-info", json!({})).expect("the team");
        let (mut config, mut recorded) = (without_times(config), recorded.clone());
        assert_eq!(set_of(&recorded["shutdownApprovals"]), self.approvals);
        for team in [&mut config, &mut recorded] {
            team.as_object_mut().expect("a team").remove("shutdownApprovals");
        }
        let members = config["members"].as_array_mut().expect("members");
        members.retain(|member| member["agentId"] != STAND_IN);
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
        let theirs = set_of(&recorded["blocks"]);
        let mut blocks = set_of(&ours["blocks"]);
        for other in &blocks - &theirs {
            let (open, met) = self.board.dependencies(&other).expect("the task");
            // A dependency that is met stays as history, also where the task was then given others.
            assert!(done && met.contains(&id) && !open.contains(&id), "{other}: {recorded}");
            let is_done = self.differences.completed.get(&other);
            assert_eq!(is_done, Some(&false), "{other}: {recorded}");
            self.differences.met("D2");
            blocks.remove(&other);
        }
        let mut dependencies = texts(&ours["dependencies"]);
        if done {
            assert_eq!(dependencies, [""; 0], "it waits for nothing");
            let mut open = set_of(&recorded["dependencies"]);
            open.retain(|other| self.differences.completed.get(other) != Some(&true));
            if !open.is_empty() {
                self.differences.met(COMPLETED);
                self.differences.stale_warnings.insert(id.clone());
                dependencies.extend(open);
            }
        }
        let warning = ours["warning"].as_str();
        let shown = Shown {
            title: text(ours, "title").to_owned(),
            priority: text(ours, "priority").to_owned(),
            status: text(ours, "status").to_owned(),
            owner: owner.map(|owner| there(owner).to_owned()),
            dependencies,
            blocks,
            warning: warning.map(|warning| warning.replace(STAND_IN, "ghost")),
        };
        let board = &self.board;
        let met = || board.dependencies(&id).expect("the task").1;
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
        let tasks = tasks.as_array().expect("tasks");
        let recorded_tasks = recorded["tasks"].as_array().expect("tasks");
        assert_eq!(tasks.len(), recorded_tasks.len());
        for ours in tasks {
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
            assert_eq!(self.deletes(&id).is_ok(), is_there, "{id}");
        }
        self.close();
        let deleted = self.board.http.delete_team(REPO_URL, TEAM, Some(LEADER));
        self.board.wait(deleted).expect("a closed team is deleted");
    }

    /// Sender, text and read mark of each message in the inbox, but for those of shutdowns and of Coord itself.
    pub(super) fn same_inbox(&mut self, handle: &str, recorded: &Json) {
        let filter = HistoryFilter {
            member: Some(handle.to_owned()),
            limit: Some(500),
            ..HistoryFilter::default()
        };
        let (caller, http) = (caller(LEADER), &self.board.http);
        let history = self.board.wait(http.messages(&caller, &filter)).expect("messages");
        assert_eq!(history.earlier, None);
        let is_to = |message: &&MessageView| match (&message.from, message.to.as_str()) {
            (None, _) => false,
            (Some(from), "broadcast") => from != handle,
            (Some(_), to) => to == handle,
        };
        let plain = history.messages.iter().rev().filter(is_to);
        let plain = plain.filter(|message| json!(message.kind) == "plain");
        let ours = plain.map(|message| {
            let from = message.from.as_deref().map(there).unwrap_or_default();
            let is_read = !message.unread_by.iter().any(|unread| unread == handle);
            (from, message.message.as_str(), is_read)
        });
        let theirs = recorded.as_array().expect("messages").iter();
        let theirs = theirs.filter(|message| !is_of_shutdown(message));
        let theirs = theirs.map(|message| (text(message, "from"), text(message, "message"), message["read"] == true));
        assert_eq!(ours.collect::<Vec<_>>(), theirs.collect::<Vec<_>>(), "{handle}");
    }
}
