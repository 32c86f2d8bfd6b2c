//! Requests per second at 1, 16 and 64 connections.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::client::{Connection, Post, Subject};
use crate::process::{self, Process};
use crate::recorded::bare_check;
use crate::redis_link::RedisLink;
use crate::report::{self, Latencies, progress, table};
use crate::repository::{FILE, file};
use crate::servers::{Servers, StoreKind};

const CONNECTIONS: [usize; 3] = [1, 16, 64];

/// Sends the posts of each connection in turn for `time`; every response must be a success.
async fn load(address: SocketAddr, posts: Vec<Vec<Post>>, time: Duration) -> Result<(f64, Latencies)> {
    let mut connections = Vec::new();
    for posts in posts {
        connections.push((Connection::open(address).await?, posts));
    }
    let started = Instant::now();
    let from = started + time / 5;
    let end = from + time;
    let tasks = connections.into_iter().map(|(mut connection, posts)| {
        tokio::spawn(async move {
            let mut latencies = Latencies::default();
            let mut round = 0;
            while Instant::now() < end || round % posts.len() != 0 {
                let sent = Instant::now();
                let (status, body) = connection.post(&posts[round % posts.len()]).await?;
                ensure!(
                    status.is_success(),
                    "answered {status}: {}",
                    String::from_utf8_lossy(&body)
                );
                if sent >= from && sent < end {
                    latencies.add(sent.elapsed());
                }
                round += 1;
            }
            Ok(latencies)
        })
    });
    let mut all = Latencies::default();
    for task in tasks.collect::<Vec<_>>() {
        all.merge(&task.await??);
    }
    Ok((all.count() as f64 / time.as_secs_f64(), all))
}

/// Claims ten locks of others that are not next to the file, so that its neighbors are looked up.
async fn hold_some(server: &Process, subject: &Subject) -> Result<()> {
    let mut connection = Connection::open(server.address).await?;
    for number in 0..10 {
        let claim = subject.claim(&format!("holder-{number}"), &[file(50 + 2 * number)], "READING");
        connection.must(&claim).await?;
    }
    Ok(())
}

/// [`load`], with the processor time of `server` per request.
async fn load_measured(server: &Process, posts: Vec<Vec<Post>>, time: Duration) -> Result<(f64, Latencies, f64)> {
    let before = server.processor_time()?;
    let (rate, latencies) = load(server.address, posts, time).await?;
    let spent = (server.processor_time()? - before).as_secs_f64() * 1e6;
    // The rate leaves out the first sixth of the requests.
    let sent = rate * time.as_secs_f64() * 1.2;
    Ok((rate, latencies, spent / sent))
}

/// Sends `command` to Redis repeatedly, over `connections` connections.
async fn load_bare(
    redis: SocketAddr,
    command: Vec<u8>,
    connections: usize,
    time: Duration,
) -> Result<(f64, Latencies)> {
    let mut links = Vec::new();
    for _ in 0..connections {
        links.push(RedisLink::open(redis).await?);
    }
    let from = Instant::now() + time / 5;
    let end = from + time;
    let tasks = links.into_iter().map(|mut link| {
        let command = command.clone();
        tokio::spawn(async move {
            let mut latencies = Latencies::default();
            while Instant::now() < end {
                let sent = Instant::now();
                link.ask_encoded(&command).await?;
                if sent >= from && sent < end {
                    latencies.add(sent.elapsed());
                }
            }
            anyhow::Ok(latencies)
        })
    });
    let mut all = Latencies::default();
    for task in tasks.collect::<Vec<_>>() {
        all.merge(&task.await??);
    }
    Ok((all.count() as f64 / time.as_secs_f64(), all))
}

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path, redis: bool, time: Duration) -> Result<()> {
    table(
        "Requests a second",
        "`post_status` is a claim and a release by turns, each connection on a file of its own; the embedded store answers when \
         it is on the disk. Upstash REST is a double in the driver, over an embedded store. The share is of the constant's \
         requests a second at as many connections. Processor time is that of the answering process for one request; unlike the rates, it \
         bears other work on the machine.",
        "store | connections | what | requests/s | share | p50 us | p99 us | processor us",
    );
    let constant = process::constant().await?;
    for kind in [StoreKind::Redis, StoreKind::Embedded, StoreKind::Upstash] {
        if kind == StoreKind::Redis && !redis {
            continue;
        }
        let store = kind.name();
        let servers = Servers::start(repository, subject, scratch, kind).await?;
        let server = &servers.coord;
        hold_some(server, subject).await?;
        for connections in CONNECTIONS {
            progress(&format!("measuring {store} at {connections} connections"));
            let checks = || {
                (0..connections)
                    .map(|number| vec![subject.check(&format!("user-{number}"), &[file(FILE)])])
                    .collect()
            };
            let posts = (0..connections).map(|number| {
                // No two of these files are neighbors.
                let (user, files) = (format!("user-{number}"), [file(1000 + 7 * number)]);
                vec![subject.claim(&user, &files, "WRITING"), subject.abandon(&user, &files)]
            });
            let (most, latencies, cost) = load_measured(&constant, checks(), time).await?;
            let row = |label: &str, rate: f64, latencies: &Latencies, cost: f64| {
                let (half, most_all) = (latencies.micros(0.5), latencies.micros(0.99));
                report::row(format_args!(
                    "{store} | {connections} | {label} | {rate:.0} | {:.2} | {half:.0} | {most_all:.0} | {cost:.1}",
                    rate / most
                ));
            };
            row("constant", most, &latencies, cost);
            let (rate, latencies, cost) = load_measured(server, checks(), time).await?;
            row("check_status", rate, &latencies, cost);
            let (rate, latencies, cost) = load_measured(server, posts.collect(), time).await?;
            row("post_status", rate, &latencies, cost);
            if let Some(database) = &servers.redis {
                let bare = bare_check(subject).await?;
                let before = database.processor_time()?;
                let (rate, latencies) = load_bare(database.address, bare, connections, time).await?;
                let spent = (database.processor_time()? - before).as_secs_f64() * 1e6;
                row(
                    "FCALL of check_status",
                    rate,
                    &latencies,
                    spent / (rate * time.as_secs_f64() * 1.2),
                );
            }
        }
    }
    Ok(())
}
