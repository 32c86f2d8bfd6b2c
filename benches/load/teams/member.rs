//! A member of a team that asks the server.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value as Json, json};

use crate::client::{Connection, Post, Subject};
use crate::process::Process;

/// The parameters of the measurement.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Agents that wait.
    pub agents: usize,
    /// Messages a second.
    pub rate: f64,
    /// Time of each measurement.
    pub time: Duration,
}

/// A member of a team, with a separate connection. Its handle is its `agent_id`.
pub struct Member {
    connection: Connection,
    pub address: SocketAddr,
    user: String,
    pub agent: String,
    team: String,
    repo_url: String,
}

impl Member {
    /// Makes the team.
    pub async fn leads(server: &Process, subject: &Subject, team: &str) -> Result<Member> {
        let mut member = Member::new(server, subject, "lead", "lead", team).await?;
        member.ask("/api/teams", json!({ "name": team })).await?;
        Ok(member)
    }

    pub async fn joins(server: &Process, subject: &Subject, user: &str, agent: &str, team: &str) -> Result<Member> {
        let mut member = Member::new(server, subject, user, agent, team).await?;
        member.ask(&format!("/api/teams/{team}/join"), json!({})).await?;
        Ok(member)
    }

    pub async fn new(server: &Process, subject: &Subject, user: &str, agent: &str, team: &str) -> Result<Member> {
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
    pub async fn reconnects(&mut self) -> Result<()> {
        self.connection = Connection::open(self.address).await?;
        Ok(())
    }

    pub async fn ask(&mut self, path: &str, mut body: Json) -> Result<Json> {
        body["repo_url"] = json!(self.repo_url);
        body["agent_id"] = json!(self.agent);
        body["team"] = json!(self.team);
        self.connection.must(&Post::new(path, &self.user, &body)).await
    }

    /// Adds tasks, 200 at a time.
    pub async fn adds(&mut self, count: usize) -> Result<()> {
        let tasks: Vec<Json> = (0..count)
            .map(|_| json!({ "title": "A task of the measurement" }))
            .collect();
        for some in tasks.chunks(200) {
            self.ask("/api/tasks", json!({ "tasks": some })).await?;
        }
        Ok(())
    }

    /// Claims the next task; returns its id.
    pub async fn next(&mut self) -> Result<String> {
        let next = self.ask("/api/tasks/next", json!({})).await?;
        let id = next["task"]["id"].as_str();
        Ok(id.with_context(|| format!("no task: {next}"))?.to_owned())
    }

    pub async fn does(&mut self, id: &str, action: &str) -> Result<Json> {
        self.ask(&format!("/api/tasks/{id}/{action}"), json!({})).await
    }

    pub async fn sends(&mut self, to: &str, text: &str) -> Result<Json> {
        self.ask("/api/messages", json!({ "to": [to], "message": text })).await
    }

    /// Reads on from `cursor`; returns the answer.
    pub async fn reads(&mut self, cursor: u64, wait: u32) -> Result<Json> {
        self.ask("/api/messages/read", json!({ "cursor": cursor, "wait": wait }))
            .await
    }
}
