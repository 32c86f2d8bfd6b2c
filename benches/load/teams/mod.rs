//! What teams cost: round trips and commands, rates beside `post_status`, a large team beside a small one, and agents that wait for
//! messages.

mod costs;
mod polls;
mod rates;
mod sizes;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value as Json, json};

use crate::client::{Connection, Subject};
use crate::process::Process;
use crate::servers::Servers;

/// What is measured.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Agents that wait.
    pub agents: usize,
    /// Messages a second.
    pub rate: f64,
    /// Time of each measurement.
    pub time: Duration,
}

pub async fn measure(
    repository: &Path,
    subject: &Subject,
    scratch: &Path,
    redis: Option<&Process>,
    plan: Plan,
) -> Result<()> {
    coord_cli::commands::serve::listen::raise_file_limit(4096);
    if let Some(redis) = redis {
        costs::measure(repository, subject, redis).await?;
        sizes::measure(repository, subject, scratch).await?;
    }
    for is_redis in [true, false] {
        if !is_redis || redis.is_some() {
            let servers = Servers::start(repository, subject, scratch, is_redis).await?;
            rates::measure(&servers, subject, is_redis, plan.time).await?;
        }
    }
    for is_redis in [true, false] {
        if !is_redis || redis.is_some() {
            let servers = Servers::start(repository, subject, scratch, is_redis).await?;
            polls::measure(&servers, subject, is_redis, plan).await?;
        }
    }
    Ok(())
}

/// A member of a team, with a connection of its own. Its handle is its `agent_id`.
struct Member {
    connection: Connection,
    address: SocketAddr,
    user: String,
    agent: String,
    team: String,
    repo_url: String,
}

impl Member {
    /// Makes the team.
    async fn leads(server: &Process, subject: &Subject, team: &str) -> Result<Member> {
        let mut member = Member::new(server, subject, "lead", "lead", team).await?;
        member.ask("/api/teams", json!({ "name": team })).await?;
        Ok(member)
    }

    /// Joins the team.
    async fn joins(server: &Process, subject: &Subject, user: &str, agent: &str, team: &str) -> Result<Member> {
        let mut member = Member::new(server, subject, user, agent, team).await?;
        member.ask(&format!("/api/teams/{team}/join"), json!({})).await?;
        Ok(member)
    }

    async fn new(server: &Process, subject: &Subject, user: &str, agent: &str, team: &str) -> Result<Member> {
        Ok(Member {
            connection: Connection::open(server.address).await?,
            address: server.address,
            user: user.to_owned(),
            agent: agent.to_owned(),
            team: team.to_owned(),
            repo_url: subject.repo_url.clone(),
        })
    }

    /// Opens a new connection: the server closes one on which nothing comes for a while.
    async fn reconnects(&mut self) -> Result<()> {
        self.connection = Connection::open(self.address).await?;
        Ok(())
    }

    async fn ask(&mut self, path: &str, mut body: Json) -> Result<Json> {
        body["repo_url"] = json!(self.repo_url);
        body["agent_id"] = json!(self.agent);
        body["team"] = json!(self.team);
        self.connection.ask(&self.user, path, &body).await
    }

    /// Adds tasks, 200 at a time.
    async fn adds(&mut self, count: usize) -> Result<()> {
        let tasks: Vec<Json> = (0..count)
            .map(|_| json!({ "title": "A task of the measurement" }))
            .collect();
        for some in tasks.chunks(200) {
            self.ask("/api/tasks", json!({ "tasks": some })).await?;
        }
        Ok(())
    }

    /// Claims the next task; returns its id.
    async fn next(&mut self) -> Result<String> {
        let next = self.ask("/api/tasks/next", json!({})).await?;
        let id = next["task"]["id"].as_str();
        Ok(id.with_context(|| format!("no task: {next}"))?.to_owned())
    }

    async fn does(&mut self, id: &str, what: &str) -> Result<Json> {
        self.works(id, what, &json!({})).await
    }

    /// The same with the state of the working copy.
    async fn works(&mut self, id: &str, what: &str, work: &Json) -> Result<Json> {
        self.ask(&format!("/api/tasks/{id}/{what}"), work.clone()).await
    }

    async fn sends(&mut self, to: &str, text: &str) -> Result<Json> {
        self.ask("/api/messages", json!({ "to": [to], "message": text })).await
    }

    /// Reads on from `cursor`; returns the answer.
    async fn reads(&mut self, cursor: u64, wait: u32) -> Result<Json> {
        self.ask("/api/messages/read", json!({ "cursor": cursor, "wait": wait }))
            .await
    }
}
