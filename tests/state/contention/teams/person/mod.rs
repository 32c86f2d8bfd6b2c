//! One client of the contest: an agent in the team, what it does, and what it knows.

mod membership;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value as Json, json};

use super::super::arena::HEAD;
use super::acts::{Act, Ask, Named, Reply, Wanted};
use super::{CLIENTS, Contest, REPO_URL, TEAM, reply_of};

pub struct Person {
    contest: Arc<Contest>,
    random: fastrand::Rng,
    user: String,
    pub handle: String,
    /// Which agent of its login it is now.
    agent: usize,
    /// Tasks that it was given.
    own: Vec<String>,
    /// The newest commit of the branch that it knows.
    head: String,
    cursor: u64,
    pub got: Vec<(u64, String)>,
}

/// Files of tasks; many have one in common.
const FILES: usize = 5;

/// The founder of the team, which keeps it open: it never leaves, and never approves the end of all.
pub const FOUNDER: &str = "h0";

/// The agent of a login that is in no team.
const ALONE: usize = usize::MAX;

fn file(number: usize) -> String {
    format!("src/part{number}.ts")
}

/// A request, and what the judge has to know of it.
struct Request {
    method: Method,
    path: String,
    body: Json,
    act: Option<(usize, Act)>,
}

fn request(method: Method, path: impl Into<String>, body: Json) -> Request {
    Request {
        method,
        path: path.into(),
        body,
        act: None,
    }
}

fn post(path: impl Into<String>, body: Json) -> Request {
    request(Method::POST, path, body)
}

impl Person {
    pub fn new(contest: Arc<Contest>, number: usize, random: fastrand::Rng) -> Person {
        Person {
            contest,
            random,
            user: format!("user-{number}"),
            handle: format!("h{number}"),
            agent: 0,
            own: Vec::new(),
            head: HEAD.to_owned(),
            cursor: 0,
            got: Vec::new(),
        }
    }

    /// One request to the end, whatever is killed meanwhile.
    async fn sends(&mut self, request: &Request) -> Option<(u16, Json)> {
        let server = self.random.usize(..2);
        let mut path = request.path.clone();
        let mut body = request.body.clone();
        let agent = format!("agent-{}", self.agent);
        match request.method {
            Method::GET | Method::DELETE => path = format!("{path}&agent_id={agent}&team={TEAM}&repo_url={REPO_URL}"),
            _ => {
                body["repo_url"] = json!(REPO_URL);
                body["agent_id"] = json!(agent);
                body["team"] = json!(TEAM);
            }
        }
        self.contest
            .send(server, &self.user, &request.method, &path, &body)
            .await
    }

    /// The same, which has to be accepted; it is repeated until it is answered.
    pub async fn must(&mut self, path: &str, body: Json) {
        let request = post(path, body);
        loop {
            if let Some((status, body)) = self.sends(&request).await {
                assert_eq!(status, 200, "{path}: {body}");
                return;
            }
        }
    }

    /// Sends a request and returns its answer, unless that is a refusal.
    async fn tries(&mut self, request: Request) -> Option<Json> {
        match self.outcome_of(request).await {
            Reply::Done(body) => Some(body),
            _ => None,
        }
    }

    /// Asks, and is killed meanwhile now and then; what has a key is repeated by half of those.
    async fn outcome_of(&mut self, mut request: Request) -> Reply {
        let has_key =
            matches!(request.act, Some((_, Act::Create(_) | Act::Send(_) | Act::Idle(_)))) && self.random.bool();
        if has_key {
            request.body["request_key"] = json!(format!("k{}", self.random.u64(..)));
        }
        let is_killed = self.random.u32(..10) == 0;
        let patience = Duration::from_micros(self.random.u64(..25_000));
        let mut answer = if is_killed {
            tokio::time::timeout(patience, self.sends(&request))
                .await
                .ok()
                .flatten()
        } else {
            self.sends(&request).await
        };
        if has_key {
            while answer.is_none() {
                answer = self.sends(&request).await;
            }
        }
        let reply = reply_of(answer.as_ref());
        self.notes(request.act, &reply);
        if matches!(&reply, Reply::Refused(code) if code == "SHUTTING_DOWN") {
            Box::pin(self.stops()).await;
        }
        reply
    }

    fn notes(&self, act: Option<(usize, Act)>, reply: &Reply) {
        if let Some((mark, act)) = act {
            self.contest.note(Ask {
                handle: self.handle.clone(),
                mark,
                act,
                reply: reply.clone(),
            });
        }
    }

    /// Reads on; it has what it got once it has the answer.
    async fn reads(&mut self, wait: u32) -> Option<Json> {
        let limit = self.random.u32(1..20);
        let body = json!({ "cursor": self.cursor, "limit": limit, "wait": wait });
        let inbox = self.tries(post("/api/messages/read", body)).await?;
        for message in inbox["messages"].as_array().expect("messages") {
            let (id, text) = (message["id"].as_u64(), message["message"].as_str());
            self.got.push((id.expect("an id"), text.expect("a text").to_owned()));
        }
        self.cursor = inbox["cursor"].as_u64().expect("a cursor");
        if inbox["messages"] == json!([]) && inbox["has_more"] == false {
            assert_eq!(inbox["unread"], 0, "{} has read all: {inbox}", self.handle);
        }
        Some(inbox)
    }

    pub async fn reads_the_rest(&mut self) {
        loop {
            let inbox = self.reads(0).await;
            if inbox.is_some_and(|inbox| inbox["messages"] == json!([]) && inbox["has_more"] == false) {
                return;
            }
        }
    }

    /// Pulls: its working copy has the newest commit.
    async fn pulls(&mut self) {
        let body = json!({ "branch": "main", "agent_head": self.head, "file_paths": [file(0)] });
        if let Some((200, checked)) = self.sends(&post("/api/check_status", body)).await {
            checked["repo_head"]
                .as_str()
                .expect("a head")
                .clone_into(&mut self.head);
        }
    }

    /// Where its work is done; `is_pushed`: its head has the work.
    fn work(&self, is_pushed: bool) -> Json {
        let mut work = json!({ "branch": "main", "agent_head": self.head });
        if is_pushed {
            work["new_repo_head"] = json!(self.head);
        }
        work
    }

    fn any_handle(&mut self) -> String {
        format!("h{}", self.random.usize(..CLIENTS))
    }

    fn any_task(&mut self) -> Option<(String, String)> {
        let tasks = self.contest.tasks.lock();
        // Those of late, for the most part.
        let from = if self.random.bool() {
            tasks.len().saturating_sub(12)
        } else {
            0
        };
        let count = tasks.len() - from;
        (count > 0).then(|| tasks[from + self.random.usize(..count)].clone())
    }

    fn some_tasks(&mut self) -> Vec<String> {
        (0..self.random.usize(..3))
            .filter_map(|_| Some(self.any_task()?.0))
            .collect()
    }

    fn own_task(&mut self) -> Option<String> {
        if self.own.is_empty() || self.random.u32(..12) == 0 {
            return Some(self.any_task()?.0);
        }
        let place = self.random.usize(..self.own.len());
        Some(self.own.swap_remove(place))
    }

    pub async fn acts(&mut self) {
        match self.random.u32(..104) {
            0..9 => self.creates().await,
            9..14 => self.changes().await,
            14..26 => self.takes(None).await,
            26..32 => {
                if let Some((id, _)) = self.any_task() {
                    self.takes(Some(id)).await;
                }
            }
            32..46 => self.completes().await,
            46..49 => self.releases_task().await,
            49..57 => self.sends_message().await,
            57..69 => drop(self.reads(0).await),
            69..71 => drop(self.reads(1).await),
            71..73 => self.deletes().await,
            73..75 => {
                if let Some((id, _)) = self.any_task() {
                    let assignee = self.any_handle();
                    let body = json!({ "assignee": assignee });
                    self.tries(request(Method::PATCH, format!("/api/tasks/{id}"), body))
                        .await;
                }
            }
            75..78 => self.requests_stop().await,
            78..82 => self.edits_without_a_task().await,
            82..84 => self.leaves().await,
            84..92 => self.hands_over().await,
            92..99 => self.forces().await,
            99..103 => self.clears().await,
            _ => {
                // The process is started again.
                self.agent += 1;
                self.joins().await;
            }
        }
        if self.random.u32(..3) == 0 {
            // time: an agent pauses.
            tokio::time::sleep(Duration::from_millis(self.random.u64(..30))).await;
        }
    }

    async fn creates(&mut self) {
        let mark = self.contest.mark();
        let count = self.random.usize(1..4);
        let (mut tasks, mut all) = (Vec::new(), Vec::new());
        for place in 0..count {
            let mut wanted = Wanted::default();
            for id in self.some_tasks() {
                wanted.dependencies.push(Named::Task(id));
            }
            if place > 0 && self.random.bool() {
                wanted.dependencies.push(Named::New(self.random.usize(..place)));
            }
            if self.random.u32(..3) == 0 {
                wanted.blocks.extend(self.any_task().map(|(id, _)| Named::Task(id)));
            }
            let names = |list: &[Named]| -> Vec<String> {
                list.iter()
                    .map(|named| match named {
                        Named::Task(id) => id.clone(),
                        Named::New(place) => format!("r{place}"),
                    })
                    .collect()
            };
            if self.random.bool() {
                wanted.files = (0..self.random.usize(1..3))
                    .map(|_| file(self.random.usize(..FILES)))
                    .collect();
            }
            let priority = ["high", "normal", "low"][self.random.usize(..3)];
            tasks.push(json!({
                "title": format!("m{mark}.{place}"), "ref": format!("r{place}"),
                "priority": priority,
                "dependencies": names(&wanted.dependencies), "blocks": names(&wanted.blocks), "files": wanted.files,
            }));
            all.push(wanted);
        }
        let mut request = post("/api/tasks", json!({ "tasks": tasks }));
        request.act = Some((mark, Act::Create(all)));
        if let Some(body) = self.tries(request).await {
            for (place, id) in body["ids"].as_array().expect("ids").iter().enumerate() {
                self.contest
                    .learn(id.as_str().expect("an id"), &format!("m{mark}.{place}"));
            }
        }
    }

    async fn changes(&mut self) {
        let Some((id, title)) = self.any_task() else { return };
        let mark = self.contest.mark();
        let dependencies = self.random.bool().then(|| self.some_tasks());
        let blocks = (dependencies.is_none() || self.random.u32(..4) == 0).then(|| self.some_tasks());
        let mut body = json!({ "title": format!("{title} u{mark}") });
        for (name, list) in [("dependencies", &dependencies), ("blocks", &blocks)] {
            if let Some(list) = list {
                body[name] = json!(list);
            }
        }
        let mut request = request(Method::PATCH, format!("/api/tasks/{id}"), body);
        let clears = false;
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

    /// Claims a task, or the next one; now and then it leaves the files alone.
    async fn takes(&mut self, id: Option<String>) {
        let path = id.map_or("/api/tasks/next".to_owned(), |id| format!("/api/tasks/{id}/claim"));
        let with_files = self.random.u32(..5) > 0;
        let body = match with_files {
            true => {
                self.pulls().await;
                self.work(false)
            }
            false => json!({ "claim_files": false }),
        };
        let mut request = post(path, body);
        request.act = Some((self.contest.mark(), Act::Take { with_files }));
        if let Some(body) = self.tries(request).await
            && let Some(id) = body["task"]["id"].as_str()
        {
            self.own.push(id.to_owned());
            self.contest.learn(id, body["task"]["title"].as_str().expect("a title"));
        }
    }

    /// Completes a task: the work is pushed, if the branch has moved since the claim.
    async fn completes(&mut self) {
        let Some(id) = self.own_task() else { return };
        self.pulls().await;
        let mut body = self.work(true);
        body["result"] = json!(format!("{id} is done"));
        let mut request = post(format!("/api/tasks/{id}/complete"), body);
        request.act = Some((self.contest.mark(), Act::Complete(id.clone())));
        if matches!(self.outcome_of(request).await, Reply::Refused(code) if code == "NOT_PUSHED") {
            self.own.push(id);
        }
    }

    async fn releases_task(&mut self) {
        let Some(id) = self.own_task() else { return };
        let is_pushed = self.random.bool();
        let mut body = self.work(is_pushed);
        body["note"] = json!("Half done");
        body["abandon"] = json!(self.random.bool());
        self.tries(post(format!("/api/tasks/{id}/release"), body)).await;
    }

    /// Claims files for itself, as a separate agent that is in no team, or releases them.
    async fn edits_without_a_task(&mut self) {
        self.pulls().await;
        let mut body = self.work(false);
        body["file_paths"] = json!([file(self.random.usize(..FILES))]);
        body["message"] = json!("Without a task");
        match self.random.bool() {
            true => body["status"] = json!("WRITING"),
            false => (body["status"], body["abandon"]) = (json!("OPEN"), json!(true)),
        }
        let agent = std::mem::replace(&mut self.agent, ALONE);
        self.tries(post("/api/post_status", body)).await;
        self.agent = agent;
    }

    async fn sends_message(&mut self) {
        let mark = self.contest.mark();
        let text = format!("Message {mark} of {}", self.handle);
        let (body, act) = if self.random.u32(..5) == 0 {
            (json!({ "type": "idle", "message": text }), Act::Idle(text))
        } else {
            let mut to: Vec<String> = (0..3).map(|_| self.any_handle()).collect();
            match self.random.u32(..4) {
                0 => to = vec!["broadcast".to_owned()],
                1 => {}
                _ => to.truncate(1),
            }
            (json!({ "to": to, "message": text }), Act::Send(text))
        };
        let mut request = post("/api/messages", body);
        request.act = Some((mark, act));
        self.tries(request).await;
    }

    async fn deletes(&mut self) {
        if let Some((id, _)) = self.any_task() {
            let path = format!("/api/tasks/{id}?unlink={}", self.random.bool());
            self.tries(request(Method::DELETE, path, Json::Null)).await;
        }
    }
}
