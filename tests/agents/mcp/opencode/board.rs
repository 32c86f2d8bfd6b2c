//! A server with a `coord mcp --tools opencode` in front of it, and HTTP for what the plugin has no tool for.

use std::collections::BTreeSet;
use std::future::Future;

use coord_protocol::Client;
use coord_protocol::tasks::TaskView;
use coord_protocol::teams::{TeamActor, TeamCaller};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::mcp::client::Agent;
use crate::mcp::server::Server;
use coord_test_worlds::world::REPO_URL;

pub const TEAM: &str = "alpha";
pub const LEADER: &str = "lead";

pub struct Board {
    pub agent: Agent,
    pub http: Client,
    runtime: Runtime,
}

impl Board {
    /// With these variables of the environment.
    pub fn start(server: &Server<'_>, environment: &[(&str, &str)]) -> Board {
        let mut command = server.command();
        command.args(["--tools", "opencode"]).envs(environment.iter().copied());
        Board {
            agent: Agent::start(command),
            http: Client::new(&server.url(), None, None).unwrap(),
            // On a separate thread, it sees when the server closes a connection between two requests.
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    /// Returns the answer of `tool` about the team, or its refusal, with its notes.
    pub fn call(&mut self, tool: &str, mut arguments: Json) -> (Result<Json, String>, Vec<String>) {
        arguments["teamName"] = json!(TEAM);
        let result = self.agent.call(tool, arguments);
        let content = result["content"].as_array().unwrap().iter();
        let mut texts = content.map(|block| block["text"].as_str().unwrap().to_owned());
        let first = texts.next().unwrap();
        let answered = match result["isError"] == true {
            true => Err(first.lines().next().unwrap_or_default().to_owned()),
            false => Ok(serde_json::from_str(&first).unwrap_or_else(|error| panic!("{first}: {error}"))),
        };
        (answered, texts.collect())
    }

    /// The same, without notes.
    pub fn tool(&mut self, tool: &str, arguments: Json) -> Result<Json, String> {
        self.call(tool, arguments).0
    }

    /// Makes a request of HTTP.
    pub fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        self.runtime.block_on(request)
    }

    pub fn task(&self, id: &str) -> Option<TaskView> {
        self.wait(self.http.task(&caller(LEADER), id)).ok()?.task
    }

    /// Dependencies of the task that are not completed, and those that are.
    pub fn dependencies(&self, id: &str) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
        let task = self.task(id)?;
        let [open, met] = [task.dependencies, task.met_dependencies].map(|ids| ids.into_iter().collect());
        Some((open, met))
    }
}

/// The caller of a request of HTTP about the team.
pub fn caller(handle: &str) -> TeamCaller {
    TeamCaller {
        repo_url: Some(REPO_URL.to_owned()),
        team: Some(TEAM.to_owned()),
        agent_id: Some(handle.to_owned()),
    }
}

/// The same, where the path names the team.
pub fn actor(handle: &str) -> TeamActor {
    TeamActor {
        repo_url: Some(REPO_URL.to_owned()),
        agent_id: Some(handle.to_owned()),
    }
}

const TIMES: [&str; 7] = [
    "created",
    "joinedAt",
    "createdAt",
    "updatedAt",
    "claimedAt",
    "completedAt",
    "timestamp",
];

/// `value` without the times, which differ with each run.
pub fn without_times(mut value: Json) -> Json {
    mask(&mut value);
    value
}

fn mask(value: &mut Json) {
    match value {
        Json::Object(members) => {
            for (name, member) in members {
                if TIMES.contains(&name.as_str()) {
                    assert!(member.as_str().is_some_and(|time| time.ends_with('Z')), "{member}");
                    *member = json!("TIME");
                } else {
                    mask(member);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}
