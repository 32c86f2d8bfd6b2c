//! Round trips and store commands of each request.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value as Json, json};

use super::Member;
use crate::client::Subject;
use crate::process::{self, Process, State};
use crate::proxy::Proxy;
use crate::redis_link::RedisLink;
use crate::report::{Table, progress};
use crate::repository::file;

/// Requests of each kind, so that any extra round trip shows.
const REQUESTS: usize = 20;

/// What is counted.
struct Count<'a> {
    table: &'a Table,
    proxy: &'a Proxy,
    link: RedisLink,
    before: u64,
}

impl Count<'_> {
    async fn begin(&mut self) -> Result<()> {
        self.link.forget_calls().await?;
        self.before = self.proxy.turns();
        Ok(())
    }

    /// Writes what [`REQUESTS`] have cost since [`Count::begin`].
    async fn end(&mut self, name: &str) -> Result<()> {
        let each = |count: u64| count as f64 / REQUESTS as f64;
        let turns = each(self.proxy.turns() - self.before);
        let calls = self.link.calls().await?;
        let named: Vec<String> = calls
            .iter()
            .map(|(name, count)| format!("{name} {}", each(*count)))
            .collect();
        let total = each(calls.iter().map(|(_, count)| count).sum());
        self.table.row(&[&name, &turns, &total, &named.join(", ")]);
        Ok(())
    }
}

pub async fn measure(repository: &Path, subject: &Subject, redis: &Process) -> Result<()> {
    progress("counting round trips of teams");
    let table = Table::begin(
        "Teams: round trips and store commands",
        "Of one request, at the mean; scripts cached, the team named, redis://. A poll waits for a second in vain.",
        &["request", "round trips", "commands", "of which"],
    );
    let proxy = Proxy::before(redis.address).await?;
    let server = process::coord(repository, State::Redis(proxy.address), None).await?;
    process::graph_is_ready(&server, &subject.repo_url).await?;
    let mut lead = Member::leads(&server, subject, "costs").await?;
    let mut worker = Member::joins(&server, subject, "ann", "worker", "costs").await?;
    // Each script once, and what the server does by itself at its start is done.
    lead.adds(3 * REQUESTS + 1).await?;
    let first = worker.next().await?;
    worker.does(&first, "claim").await?;
    worker.does(&first, "complete").await?;
    lead.sends("worker", "x").await?;
    worker.reads(0, 1).await?;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let mut count = Count {
        table: &table,
        proxy: &proxy,
        link: RedisLink::open(redis.address).await?,
        before: 0,
    };

    count.begin().await?;
    for _ in 0..REQUESTS {
        lead.adds(1).await?;
    }
    count.end("a new task").await?;
    count.begin().await?;
    let mut ids = Vec::new();
    for _ in 0..REQUESTS {
        ids.push(worker.next().await?);
    }
    count.end("the next task").await?;
    count.begin().await?;
    for id in &ids {
        worker.does(id, "claim").await?;
    }
    count.end("a renewal").await?;
    count.begin().await?;
    for id in &ids {
        worker.does(id, "release").await?;
    }
    count.end("a task given back").await?;
    count.begin().await?;
    for id in &ids {
        worker.does(id, "claim").await?;
    }
    count.end("a claim").await?;
    count.begin().await?;
    for id in &ids {
        worker.does(id, "complete").await?;
    }
    count.end("a completion on which nothing depends").await?;
    count.begin().await?;
    for _ in 0..REQUESTS {
        lead.sends("worker", "A word of the measurement").await?;
    }
    count.end("a message to a member").await?;
    count.begin().await?;
    for _ in 0..REQUESTS {
        lead.sends("broadcast", "A word of the measurement").await?;
    }
    count.end("a message to all").await?;
    let read = worker.reads(0, 0).await?;
    let newest = read["cursor"].as_u64().context("a cursor")?;
    count.begin().await?;
    for cursor in newest - REQUESTS as u64..newest {
        worker
            .ask("/api/messages/read", json!({ "cursor": cursor, "limit": 1 }))
            .await?;
    }
    count.end("a read of one message").await?;
    worker.reads(newest, 0).await?;
    count.begin().await?;
    for _ in 0..REQUESTS {
        worker.reads(newest, 0).await?;
    }
    count.end("a read in vain").await?;
    count.begin().await?;
    for _ in 0..REQUESTS {
        worker.reads(newest, 1).await?;
    }
    count.end("a poll in vain").await?;
    with_files(&mut count, &mut lead, &mut worker, subject).await
}

/// The same of tasks with two files each, which are claimed with them.
async fn with_files(count: &mut Count<'_>, lead: &mut Member, worker: &mut Member, subject: &Subject) -> Result<()> {
    let tasks: Vec<Json> = (0..=REQUESTS)
        .map(|number| json!({ "title": "A task with files", "files": [file(2 * number), file(2 * number + 1)] }))
        .collect();
    lead.reconnects().await?;
    let added = lead.ask("/api/tasks", json!({ "tasks": tasks })).await?;
    let ids: Vec<String> = serde_json::from_value(added["ids"].clone()).context("ids")?;
    let work = json!({ "branch": "main", "agent_head": subject.head, "abandon": true });
    let (first, ids) = ids.split_first().context("ids")?;
    for what in ["claim", "release"] {
        worker.works(first, what, &work).await?;
    }
    for (name, what) in [
        ("a claim with two files", "claim"),
        ("a renewal with two files", "claim"),
        ("a task with two files given back", "release"),
    ] {
        count.begin().await?;
        for id in ids {
            worker.works(id, what, &work).await?;
        }
        count.end(name).await?;
    }
    Ok(())
}
