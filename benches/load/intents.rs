//! What intents and the ledger cost: round trips, a claim with an intent beside one without, lines a second.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};

use crate::client::{Connection, Post, Subject};
use crate::process::{self, Process, State};
use crate::proxy::Proxy;
use crate::redis_link::RedisLink;
use crate::report::{Latencies, Table, progress};
use crate::repository::file;
use crate::round_trips::{self, Question};
use crate::servers::Servers;

/// Ten of the files of the small repository.
const SCOPE: &str = "src/0/f4?.js";
const FILE: usize = 40;
const INTENT: &str = "BENCH";
const BATCH: usize = 32;

pub async fn measure(
    repository: &Path,
    subject: &Subject,
    scratch: &Path,
    redis: Option<&Process>,
    time: Duration,
) -> Result<()> {
    if let Some(redis) = redis {
        count(repository, subject, redis).await?;
    }
    let latency = Table::begin(
        "Intents: latency of a claim, one connection",
        "All rows of one store are measured in turn. A claim is released before the next one, which is not in the time.",
        &["store", "claim", "p50 us", "p99 us", "n"],
    );
    for is_redis in [true, false] {
        if !is_redis || redis.is_some() {
            claims(&latency, repository, subject, scratch, is_redis, time).await?;
        }
    }
    let lines = Table::begin(
        "The ledger: lines a second",
        "Each is the change of a file under a lock, sent over HTTP, and the sealing that follows.",
        &["store", "connections", "lines a request", "requests/s", "lines/s"],
    );
    for is_redis in [true, false] {
        if !is_redis || redis.is_some() {
            record(&lines, repository, subject, scratch, is_redis, time).await?;
        }
    }
    Ok(())
}

/// Makes the intent, and selects it for `user`.
async fn begin(connection: &mut Connection, subject: &Subject, user: &str) -> Result<()> {
    let intent = json!({"repo_url": subject.repo_url, "id": INTENT, "name": "A measurement", "owned_scope": [SCOPE]});
    connection.must(&post("/api/intents", user, &intent)).await?;
    let selection = json!({"repo_url": subject.repo_url, "branch": "main"});
    let selected = connection
        .must(&post("/api/intents/BENCH/select", user, &selection))
        .await?;
    ensure!(selected["success"] == true, "the selection answered {selected}");
    Ok(())
}

fn post(path: &'static str, user: &str, body: &Json) -> Post {
    Post {
        path,
        user: user.to_owned(),
        body: body.to_string().into(),
    }
}

/// A claim that cites the intent.
fn citing(subject: &Subject, user: &str, files: &[String]) -> Result<Post> {
    let mut claim = subject.claim(user, files, "WRITING");
    let mut body: Json = serde_json::from_slice(&claim.body)?;
    body["intent_id"] = json!(INTENT);
    claim.body = body.to_string().into();
    Ok(claim)
}

/// `count` changes of a file, each with an id of its own.
fn changes(subject: &Subject, user: &str, first: u64, count: usize) -> Post {
    let entries: Vec<Json> = (first..)
        .take(count)
        .map(|number| {
            json!({
                "trace_id": format!("{user}-{number}"),
                "kind": "mutation",
                "tool_name": "Write",
                "file_path": file(FILE),
                "hash": format!("sha256:{number:064x}"),
                "output_summary": "Wrote a file of the measurement",
            })
        })
        .collect();
    post(
        "/api/ledger",
        user,
        &json!({"repo_url": subject.repo_url, "branch": "main", "entries": entries}),
    )
}

/// Round trips and store commands.
async fn count(repository: &Path, subject: &Subject, redis: &Process) -> Result<()> {
    let table = Table::begin(
        "Intents: round trips and store commands",
        "For one question, scripts, head and scope cached.",
        &["store", "question", "round trips", "commands", "of which"],
    );
    progress("counting round trips of intents");
    let mut link = RedisLink::open(redis.address).await?;
    let proxy = Proxy::before(redis.address).await?;
    let server = process::coord(repository, State::Redis(proxy.address), None).await?;
    process::graph_is_ready(&server, &subject.repo_url).await?;
    let files = [file(FILE)];
    let released = subject.abandon("ann", &files);
    let without = Question {
        name: "a claim in a repository without intents",
        before: released.clone(),
        post: subject.claim("ann", &files, "WRITING"),
    };
    round_trips::count(&table, "redis://", &[without], server.address, &proxy, &mut link).await?;
    begin(&mut Connection::open(server.address).await?, subject, "ann").await?;
    let usage = json!({"repo_url": subject.repo_url, "tokens": {"session_id": "s", "total": 1000}});
    let questions = [
        Question {
            name: "a claim that cites an intent",
            before: released,
            post: citing(subject, "ann", &files)?,
        },
        Question {
            name: "`usage`",
            before: subject.check("ann", &files),
            post: post("/api/intents/BENCH/usage", "ann", &usage),
        },
    ];
    round_trips::count(&table, "redis://", &questions, server.address, &proxy, &mut link).await
}

/// The latency of claims, in turn.
async fn claims(
    table: &Table,
    repository: &Path,
    subject: &Subject,
    scratch: &Path,
    is_redis: bool,
    time: Duration,
) -> Result<()> {
    let store = if is_redis { "redis-server" } else { "embedded" };
    progress(&format!("measuring claims with intents on {store}"));
    let plain = Servers::start(repository, subject, scratch, is_redis).await?;
    let governed = Servers::start(repository, subject, scratch, is_redis).await?;
    let files = [file(FILE)];
    let mut connection = Connection::open(governed.coord.address).await?;
    begin(&mut connection, subject, "ann").await?;
    let outside = [file(60)];
    let mut rows = [
        (
            "in a repository without intents",
            Connection::open(plain.coord.address).await?,
            subject.claim("ann", &files, "WRITING"),
            subject.abandon("ann", &files),
        ),
        (
            "without an intent, in a repository with some",
            Connection::open(governed.coord.address).await?,
            subject.claim("bob", &outside, "WRITING"),
            subject.abandon("bob", &outside),
        ),
        (
            "that cites an intent",
            connection,
            citing(subject, "ann", &files)?,
            subject.abandon("ann", &files),
        ),
    ]
    .map(|(name, connection, claim, release)| (name, connection, claim, release, Latencies::default()));
    for (is_counted, time) in [(false, time / 4), (true, 2 * time)] {
        let end = Instant::now() + time;
        while Instant::now() < end {
            for (_, connection, claim, release, latencies) in &mut rows {
                let started = Instant::now();
                let (status, body) = connection.post(claim).await?;
                let latency = started.elapsed();
                ensure!(
                    status.is_success(),
                    "a claim answered {status}: {}",
                    String::from_utf8_lossy(&body)
                );
                if is_counted {
                    latencies.add(latency);
                }
                connection.must(release).await?;
            }
        }
    }
    for (name, _, _, _, latencies) in &rows {
        let cells = [0.5, 0.99].map(|quantile| format!("{:.0}", latencies.micros(quantile)));
        table.row(&[&store, name, &cells[0], &cells[1], &latencies.count()]);
    }
    let median = |row: usize| rows[row].4.micros(0.5);
    for (name, ratio) in [
        (
            "**cites an intent : repository without intents**",
            median(2) / median(0),
        ),
        (
            "**without an intent : repository without intents**",
            median(1) / median(0),
        ),
    ] {
        table.row(&[&store, &name, &format!("**{ratio:.2}**"), &"", &""]);
    }
    Ok(())
}

/// Lines a second, alone and in batches.
async fn record(
    table: &Table,
    repository: &Path,
    subject: &Subject,
    scratch: &Path,
    is_redis: bool,
    time: Duration,
) -> Result<()> {
    let store = if is_redis { "redis-server" } else { "embedded" };
    progress(&format!("measuring the ledger on {store}"));
    let servers = Servers::start(repository, subject, scratch, is_redis).await?;
    let files = [file(FILE)];
    let mut connection = Connection::open(servers.coord.address).await?;
    begin(&mut connection, subject, "ann").await?;
    connection.must(&citing(subject, "ann", &files)?).await?;
    let mut first = 0;
    for (connections, batch) in [(1, 1), (1, BATCH), (16, 1), (16, BATCH)] {
        let mut clients = Vec::new();
        for _ in 0..connections {
            clients.push(Connection::open(servers.coord.address).await?);
        }
        let started = Instant::now();
        let numbers = std::cell::Cell::new(first);
        let requests = std::cell::Cell::new(0_u64);
        let send = async |mut client: Connection| {
            while started.elapsed() < time {
                let number = numbers.replace(numbers.get() + batch as u64);
                let answer = client.must(&changes(subject, "ann", number, batch)).await?;
                let recorded = answer["recorded"].as_array().context("what was recorded")?;
                ensure!(recorded.iter().all(|one| one == "SUCCESS"), "recorded {answer}");
                requests.set(requests.get() + 1);
            }
            anyhow::Ok(())
        };
        futures::future::try_join_all(clients.into_iter().map(send)).await?;
        first = numbers.get();
        let rate = requests.get() as f64 / started.elapsed().as_secs_f64();
        let lines = format!("{:.0}", rate * batch as f64);
        table.row(&[&store, &connections, &batch, &format!("{rate:.0}"), &lines]);
    }
    Ok(())
}
