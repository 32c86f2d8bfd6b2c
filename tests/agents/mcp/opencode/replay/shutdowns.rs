//! D11: there a request is an approval that nobody can refuse, and the leader's ends the team. Here a shutdown is one handshake, and
//! the team ends when its leader and all live members have approved. So that both sides stay in step, each step of there is a whole
//! handshake here, which the others reject; then the members that approved join again, and take their tasks again. At the end of a
//! run all approve.

use coord_protocol::teams::{ShutdownProgress, ShutdownRequest, ShutdownStep};
use serde_json::{Value as Json, json};

use super::super::board::{LEADER, TEAM, actor};
use super::{Replay, here, there};
use coord_test_support::opencode_runs::{text, texts};
use coord_test_worlds::world::REPO_URL;

/// The reason of each member that goes on.
pub const REJECTION: &str = "There is work left";

impl Replay<'_> {
    pub(super) fn request_shutdown(&mut self, handle: &str, recorded: &Result<Json, String>) {
        self.refused_to_a_stranger(handle, "request-shutdown", json!({ "agentId": handle }), "D11");
        let asking = here(handle);
        self.approvals.insert(there(asking).to_owned());
        self.requests_team_shutdown(asking);
        self.no_member_gets_a_task(asking);
        self.reject_shutdown(asking, &[asking]);
        self.same_config(recorded.as_ref().expect("a configuration"));
        self.differences.met("D11");
    }

    pub(super) fn approve_shutdown(&mut self, handle: &str, recorded: &Result<Json, String>) {
        self.refused_to_a_stranger(handle, "approve-shutdown", json!({ "agentId": handle }), "D11");
        let approving = here(handle);
        // Nobody has asked.
        let refused = self.board.tool("approve-shutdown", json!({ "agentId": approving }));
        assert_eq!(refused, Err(format!("No shutdown is open in team \"{TEAM}\"")));
        let asking = if approving == LEADER { "w1" } else { LEADER };
        self.approvals.insert(there(approving).to_owned());
        self.requests_team_shutdown(asking);
        self.approve(approving, &[asking, approving], asking);
        self.reject_shutdown(asking, &[asking, approving]);
        self.same_config(recorded.as_ref().expect("a configuration"));
        self.differences.met("D11");
    }

    /// There it is over once the leader, or everybody, is in the list.
    pub(super) fn should_shutdown(&mut self, recorded: &Result<Json, String>) {
        let members = ["lead", "w1", "w2", "w3"];
        let is_over = self.approvals.contains(LEADER) || members.iter().all(|handle| self.approvals.contains(*handle));
        assert_eq!(recorded, &Ok(json!(is_over)));
        let (team, notes) = self.board.call("get-team-info", json!({}));
        assert_eq!((team.is_ok(), notes), (true, Vec::new()), "it is open here");
        if is_over {
            self.differences.met("D11");
        }
    }

    /// `asking` asks, and has approved with that, for itself alone.
    fn requests_team_shutdown(&mut self, asking: &str) {
        let (team, notes) = self.board.call("request-shutdown", json!({ "agentId": asking }));
        let team = team.expect("a configuration");
        assert_eq!(texts(&team["shutdownApprovals"]), [asking]);
        let note = "The team closes once its leader and all live members have approved.";
        assert!(notes[0].starts_with(note), "{notes:?}");
        let message = json!({
            "from": asking, "to": "broadcast", "type": "shutdown_request", "timestamp": "TIME", "read": false,
            "message": format!("Agent {asking} requests team shutdown"),
            "recipients": self.handles_by_joining(),
        });
        self.sent_to_all_others(asking, &message);
    }

    fn handles_by_joining(&mut self) -> Vec<String> {
        let team = self.board.tool("get-team-info", json!({})).expect("the team");
        let members = team["members"].as_array().expect("members").iter();
        members.map(|member| text(member, "agentId").to_owned()).collect()
    }

    fn approve(&mut self, handle: &str, approved: &[&str], asking: &str) -> Vec<String> {
        let (team, notes) = self.board.call("approve-shutdown", json!({ "agentId": handle }));
        let mut approvals = texts(&team.expect("a configuration")["shutdownApprovals"]);
        let mut expected = approved.to_vec();
        approvals.sort();
        expected.sort();
        assert_eq!(approvals, expected);
        let message = json!({
            "from": handle, "to": asking, "type": "shutdown_approved", "timestamp": "TIME", "read": false,
            "message": format!("Agent {handle} approved team shutdown"),
        });
        self.unread.get_mut(asking).expect("a member").push(message);
        notes
    }

    /// While it is open, nobody is given a task.
    fn no_member_gets_a_task(&mut self, asking: &str) {
        let Some(task) = self.pending_tasks().into_iter().next() else {
            return;
        };
        let another = if asking == LEADER { "w1" } else { LEADER };
        let requests = format!("Agent {asking} requests team shutdown");
        for (handle, reason) in [(asking, "approved"), (another, requests.as_str())] {
            let claim = json!({ "taskId": task["id"], "agentId": handle });
            let refused = self.board.tool("claim-task", claim).expect_err("no task");
            let start = "No task can be claimed while a shutdown is open or approved";
            assert_eq!(refused, format!("{start}: {reason}"));
        }
    }

    /// All others reject; those that have `approved` join again, and take their tasks again.
    fn reject_shutdown(&mut self, asking: &str, approved: &[&str]) {
        let team = self.board.wait(self.board.http.team(REPO_URL, TEAM));
        let shutdown = team.expect("the team").team.shutdown;
        let id = shutdown.expect("an open shutdown").id;
        let mut others: Vec<String> = self.unread.keys().cloned().collect();
        others.retain(|handle| !approved.contains(&handle.as_str()));
        for handle in &others {
            let request = ShutdownRequest {
                caller: actor(handle),
                step: Some(ShutdownStep::Reject),
                reason: Some(REJECTION.to_owned()),
                shutdown_id: Some(id.clone()),
                ..ShutdownRequest::default()
            };
            let answered = self.board.wait(self.board.http.shut_down(TEAM, &request));
            let state = match Some(handle) == others.last() {
                true => ShutdownProgress::Rejected,
                false => ShutdownProgress::Open,
            };
            assert_eq!(answered.expect("rejected").shutdown_state, Some(state));
            let message = json!({
                "from": handle, "to": asking, "type": "plain", "timestamp": "TIME", "read": false, "message": REJECTION,
            });
            self.unread.get_mut(asking).expect("a member").push(message);
        }
        for handle in approved {
            self.join(handle);
            for id in self.open_tasks(handle) {
                let claim = json!({ "taskId": id, "agentId": handle });
                let claimed = self.board.tool("claim-task", claim);
                assert_eq!(text(&claimed.expect("its task"), "owner"), *handle);
            }
        }
    }

    /// The whole handshake, which the leader begins: the team ends with the last answer.
    pub(super) fn close(&mut self) {
        self.requests_team_shutdown(LEADER);
        let others: Vec<String> = self.unread.keys().filter(|handle| *handle != LEADER).cloned().collect();
        let mut approved = vec![LEADER];
        for handle in &others {
            let (_, notes) = self.board.call("get-team-info", json!({}));
            assert_eq!(notes, Vec::<String>::new(), "not before the last answer");
            approved.push(handle);
            let notes = self.approve(handle, &approved, LEADER);
            let is_last = approved.len() == others.len() + 1;
            assert_eq!(notes[0].starts_with("The team was closed at "), is_last, "{notes:?}");
        }
        let task = json!({ "taskData": {}, "agentId": LEADER });
        let refused = self.board.tool("create-task", task);
        assert_eq!(refused, Err(format!("Team \"{TEAM}\" is closed")));
    }
}
