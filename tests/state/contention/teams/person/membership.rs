//! How a client joins, stops, leaves and leads.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value as Json, json};

use super::super::TEAM;
use super::super::acts::{Act, Reply};
use super::{FOUNDER, Person, post, reply_of, request};

impl Person {
    /// Joins, as the agent that it is now.
    pub async fn joins(&mut self) {
        let path = format!("/api/teams/{TEAM}/join");
        let request = post(path, json!({ "handle": self.handle }));
        // Refused, if it was done before and not answered.
        while self.sends(&request).await.is_none() {}
    }

    /// Answers the open shutdown, if there is one for it, or keeps silent if it alone is asked; and begins again if it has stopped.
    pub(super) async fn stops(&mut self) {
        if let Some(inbox) = self.reads(0).await
            && let Some(id) = inbox["shutdown"]["id"].as_str()
            && (inbox["shutdown"]["target"].is_null() || self.random.u32(..3) == 0)
        {
            let is_refused = self.handle == FOUNDER && inbox["shutdown"]["target"].is_null();
            let (step, reason) = if self.random.bool() && !is_refused {
                ("approve", None)
            } else {
                ("reject", Some("Not yet"))
            };
            let body = json!({ "step": step, "shutdown_id": id, "reason": reason });
            self.tries(post(format!("/api/teams/{TEAM}/shutdown"), body)).await;
        }
        self.joins().await;
    }

    /// Asks a member to stop; or all, and itself first, but it joins again.
    pub(super) async fn requests_stop(&mut self) {
        let is_about_all = self.handle != FOUNDER && self.random.u32(..3) == 0;
        let target = (!is_about_all).then(|| self.any_handle());
        let body = json!({ "step": "request", "target": target, "reason": "Enough", "respond_by_seconds": 1 });
        self.tries(post(format!("/api/teams/{TEAM}/shutdown"), body)).await;
        if is_about_all {
            self.joins().await;
        }
    }

    /// Leaves, and joins again after a while.
    pub(super) async fn leaves(&mut self) {
        if self.handle == FOUNDER {
            return;
        }
        let request = post(format!("/api/teams/{TEAM}/leave"), json!({}));
        let reply = reply_of(self.sends(&request).await.as_ref());
        if matches!(reply, Reply::Unanswered) {
            // To the end: a refusal may say that it was done before.
            while self.sends(&request).await.is_none() {}
        }
        self.notes(Some((self.contest.mark(), Act::Deed("left".to_owned()))), &reply);
        // time: a member is away for a while.
        tokio::time::sleep(Duration::from_millis(self.random.u64(..60))).await;
        self.joins().await;
    }

    /// Makes another one the leader, if it leads.
    pub(super) async fn hands_over(&mut self) {
        let heir = self.any_handle();
        let mut request = request(Method::PATCH, format!("/api/teams/{TEAM}"), json!({ "leader": heir }));
        request.act = Some((self.contest.mark(), Act::Deed(format!("handed over to {heir}"))));
        self.tries(request).await;
    }

    /// Ends the open shutdown of a member, if it leads, once the time to respond is over.
    pub(super) async fn forces(&mut self) {
        if let Some(inbox) = self.reads(0).await
            && let Some(id) = inbox["shutdown"]["id"].as_str()
            && inbox["shutdown"]["target"].is_string()
        {
            let body = json!({ "step": "force", "shutdown_id": id });
            loop {
                let mut request = post(format!("/api/teams/{TEAM}/shutdown"), body.clone());
                request.act = Some((self.contest.mark(), Act::Deed(format!("forced {id}"))));
                match self.outcome_of(request).await {
                    Reply::Refused(code) if code == "SHUTDOWN_TOO_EARLY" => {
                        // time: the time to respond ends.
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                    _ => return,
                }
            }
        }
    }

    /// Clears the expiries of tasks that are held back: of the member's own tasks, and sometimes of others, which the
    /// leader may.
    pub(super) async fn clears(&mut self) {
        let path = "/api/tasks?status=in_progress&limit=500";
        let list = self.tries(request(Method::GET, path, Json::Null)).await;
        for task in list.iter().flat_map(|list| list["tasks"].as_array().expect("tasks")) {
            if task["lapses"].as_u64() < Some(3) || (task["createdBy"] != self.handle && self.random.bool()) {
                continue;
            }
            let (mark, id) = (self.contest.mark(), task["id"].as_str().expect("an id").to_owned());
            let title = task["title"].as_str().and_then(|title| title.split(' ').next());
            let title = format!("{} u{mark}", title.expect("a title"));
            let body = json!({ "title": title, "clear_lapses": true });
            let mut request = request(Method::PATCH, format!("/api/tasks/{id}"), body);
            let (dependencies, blocks, clears) = (None, None, true);
            request.act = Some((
                mark,
                Act::Update {
                    id,
                    dependencies,
                    blocks,
                    clears,
                },
            ));
            self.tries(request).await;
        }
    }
}
