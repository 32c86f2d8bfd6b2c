//! Live events: the time to each client, that each gets each event once and in order whatever is killed, and the memory of the
//! server.

mod agents;
mod client;
mod ledger;
mod messages;

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use tokio::time::{Instant, sleep, sleep_until};

use crate::client::{Connection, Subject};
use crate::process::Process;
use crate::report::{machine_load, progress, row, table};
use crate::servers::{Servers, StoreKind};
use agents::Agents;
use client::{Audience, Client};
use ledger::{Id, parse};

/// Time in which clients get what they lack.
const COMPLETED: Duration = Duration::from_secs(60);

/// The scenario to measure.
#[derive(Clone, Copy)]
pub struct Plan {
    pub clients: usize,
    /// Events a second.
    pub rate: f64,
    /// Time of the load; half of it for each of the two parts in which something is killed.
    pub time: Duration,
}

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path, redis: bool, plan: Plan) -> Result<()> {
    coord_serve::listen::raise_file_limit(4096);
    for kind in [StoreKind::Embedded, StoreKind::Redis] {
        if kind == StoreKind::Embedded || redis {
            let servers = Servers::start(repository, subject, scratch, kind).await?;
            measure_on(servers, subject, kind.name(), plan).await?;
        }
    }
    Ok(())
}

/// A part of a measurement.
struct Part<'a> {
    audience: &'a Audience,
    started: Instant,
    /// Of the server, at the start; none where it does not live to the end.
    processor_time: Option<Duration>,
}

impl<'a> Part<'a> {
    fn begin(audience: &'a Audience, server: &Process) -> Result<Self> {
        Ok(Part {
            audience,
            started: Instant::now(),
            processor_time: Some(server.processor_time()?),
        })
    }

    /// Waits until nobody lacks anything, and reports.
    async fn end(self, name: &str, server: &Process, without_clients: u64) -> Result<()> {
        let lacking = self.audience.complete(COMPLETED).await;
        let seconds = self.started.elapsed().as_secs_f64();
        let received = self.audience.ledger.take();
        let is_delivered = received.deliveries > 0;
        let cost = match self.processor_time.filter(|_| is_delivered) {
            Some(before) => {
                let spent = (server.processor_time()? - before).as_secs_f64() * 1e6;
                format!("{:.1}", spent / received.deliveries as f64)
            }
            None => String::new(),
        };
        let latency = |quantile| match is_delivered {
            true => format!("{:.1}", received.latencies.micros(quantile) / 1000.0),
            false => String::new(),
        };
        let (now, peak) = server.memory()?;
        let clients = self.audience.clients.len();
        row(format_args!(
            "{name} | {} | {:.1} | {} | {} | {} | {} | {} | {} | {now} ({peak}) | {:.1} | {cost}",
            received.events,
            received.events as f64 / seconds,
            received.deliveries,
            latency(0.5),
            latency(0.99),
            latency(1.0),
            received.lost + lacking as u64,
            received.repeated,
            now.saturating_sub(without_clients) as f64 / clients as f64,
        ));
        Ok(())
    }
}

async fn measure_on(mut servers: Servers, subject: &Subject, store: &str, plan: Plan) -> Result<()> {
    progress(&format!("measuring live events on {store}"));
    let load = machine_load();
    table(
        &format!("Live events on {store}, {} clients", plan.clients),
        &format!(
            "The time is from the store's clock in the id of the event, whole milliseconds, to the receipt in the driver, which has one \
             thread; for the clients that were connected when the event was written. Lost and repeated are counted over all \
             clients, against the log. Load of the machine before: {load}."
        ),
        "part | events | events/s | deliveries | p50 ms | p99 ms | max ms | lost | repeated | server KiB (peak) | KiB a client | server's processor us a delivery",
    );
    let address = servers.coord.address;
    // By then, the server has finished the work that follows its start.
    sleep(Duration::from_secs(2)).await;
    let (begin, _) = read_log(&servers.coord, subject, None).await?;
    let (without_clients, _) = servers.coord.memory()?;
    let audience = Audience {
        address,
        repo_url: subject.repo_url.clone(),
        begin,
        ledger: ledger::Ledger::default(),
        clients: std::iter::repeat_with(Client::default).take(plan.clients).collect(),
        ends: Default::default(),
        is_stopped: Default::default(),
    };
    let audience = audience.start();
    audience.complete(COMPLETED).await;
    let part = Part::begin(&audience, &servers.coord)?;
    sleep(Duration::from_secs(2)).await;
    part.end("idle", &servers.coord, without_clients).await?;

    let agents = Agents::start(address, subject, plan.rate);
    let part = Part::begin(&audience, &servers.coord)?;
    sleep_until(part.started + plan.time).await;
    part.end("load", &servers.coord, without_clients).await?;
    let part = Part::begin(&audience, &servers.coord)?;
    kill_half(&audience, part.started, plan.time / 2).await;
    part.end("half of the clients killed", &servers.coord, without_clients)
        .await?;

    let answered = agents.answered();
    let mut part = Part::begin(&audience, &servers.coord)?;
    sleep(plan.time / 4).await;
    servers.coord.kill();
    let killed = Instant::now();
    for client in &audience.clients {
        client.is_open.store(false, Relaxed);
    }
    servers.restart().await?;
    let back = killed.elapsed();
    part.processor_time = None;
    while audience.clients.iter().any(|client| !client.is_open.load(Relaxed)) && killed.elapsed() < COMPLETED {
        sleep(Duration::from_millis(5)).await;
    }
    let resumed = killed.elapsed();
    sleep(plan.time / 4).await;
    ensure!(agents.answered() > answered, "the agents have not come back");
    agents.stop().await?;
    part.end("server killed and started again", &servers.coord, without_clients)
        .await?;

    let (_, log) = read_log(&servers.coord, subject, Some(begin)).await?;
    audience.ledger.compare(&log);
    let received = audience.ledger.take();
    println!(
        "\n- The log: {} events; {} of them not received by any client, {} received but not in it.",
        log.len(),
        received.lost,
        received.repeated
    );
    println!(
        "- The server listened again {} ms after the kill; all clients were back after {} ms.",
        back.as_millis(),
        resumed.as_millis()
    );
    let ends = audience.ends.lock().unwrap_or_else(PoisonError::into_inner);
    println!("- Connections that ended otherwise than by a kill of the client: {ends:?}.");
    audience.is_stopped.store(true, Relaxed);
    Ok(())
}

/// Kills half of the clients at random times during `time`.
async fn kill_half(audience: &Arc<Audience>, started: Instant, time: Duration) {
    let mut chosen: Vec<&Client> = audience.clients.iter().collect();
    fastrand::shuffle(&mut chosen);
    chosen.truncate(audience.clients.len() / 2);
    let mut times: Vec<f64> = chosen.iter().map(|_| fastrand::f64()).collect();
    times.sort_by(f64::total_cmp);
    for (client, at) in chosen.into_iter().zip(times) {
        sleep_until(started + time.mul_f64(at)).await;
        client.kill.notify_one();
    }
    sleep_until(started + time).await;
}

/// The cursor of the log, and the events after `after`.
async fn read_log(server: &Process, subject: &Subject, after: Option<Id>) -> Result<(Id, Vec<Id>)> {
    let mut connection = Connection::open(server.address).await?;
    let (mut cursor, mut log) = (after, Vec::new());
    loop {
        let after = cursor
            .map(|(time, number)| format!("&after={time}-{number}"))
            .unwrap_or_default();
        let path = format!("/api/activity?repo_url={}&limit=100{after}", subject.repo_url);
        let (status, body) = connection.get(&path, "").await?;
        ensure!(status.is_success(), "the log cannot be read: {status}");
        let body: Json = serde_json::from_slice(&body)?;
        let next = parse(body["cursor"].as_str().context("a cursor")?)?;
        let events = body["events"].as_array().context("events")?;
        if cursor.is_none() || events.is_empty() {
            return Ok((next, log));
        }
        cursor = Some(next);
        for event in events {
            log.push(parse(event["id"].as_str().context("an id")?)?);
        }
    }
}
