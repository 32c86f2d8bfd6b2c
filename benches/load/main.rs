//! The load driver: measures the cost of Coord from outside, with each server in a process of its own.
//!
//! `cargo bench --bench load` measures everything and prints markdown. `cargo bench --bench load -- --help` shows options.

mod client;
mod constant;
mod cost;
mod events;
mod fight;
mod intents;
mod latency;
mod mcp;
mod process;
mod proxy;
mod redis_link;
mod report;
mod repository;
mod round_trips;
mod servers;
mod start;
mod stdio;
mod sweep;
mod teams;
mod throughput;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use report::progress;

/// Measures Coord.
#[derive(Parser)]
#[command(name = "cargo bench --bench load --")]
struct Options {
    /// Seconds for each measurement of latency or throughput
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Measure only this; may be given several times
    #[arg(long, value_name = "WHAT")]
    only: Vec<What>,
    /// Files of the large repository
    #[arg(long, default_value_t = 100_000)]
    files: usize,
    /// Locks of the sweep
    #[arg(long, default_value_t = 1_000_000)]
    locks: usize,
    /// Clients of live events; agents that wait for messages
    #[arg(long, default_value_t = 1000)]
    clients: usize,
    /// Live events, or messages, a second
    #[arg(long, default_value_t = 50.0)]
    rate: f64,
    /// Clients of live events read server-sent events instead of a WebSocket
    #[arg(long)]
    sse: bool,
    /// For the driver itself: answer a constant here
    #[arg(long, hide = true)]
    answer_constant: Option<SocketAddr>,
    /// Passed by cargo; has no effect
    #[arg(long, hide = true)]
    bench: bool,
}

/// Measurements to choose from.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    RoundTrips,
    Latency,
    Cost,
    Throughput,
    Fight,
    Functions,
    Intents,
    Teams,
    Mcp,
    Sweep,
    Events,
}

fn main() -> Result<()> {
    let options = Options::parse();
    // The constant server has as many threads as the servers have; the driver has one, to leave them the processors.
    let is_constant = options.answer_constant.is_some();
    let mut runtime = if is_constant {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = runtime.enable_all().build()?;
    match options.answer_constant {
        Some(address) => runtime.block_on(constant::serve(address)),
        None => runtime.block_on(measure(&options)),
    }
}

async fn measure(options: &Options) -> Result<()> {
    let wants = |what: What| options.only.is_empty() || options.only.contains(&what);
    let time = Duration::try_from_secs_f64(options.seconds)?;
    let scratch = tempfile::tempdir()?;
    let path = |name: &str| scratch.path().join(name);
    progress("making repositories");
    let small = repository::make(&path("small"), 100)?;
    let medium = repository::make(&path("medium"), 2000)?;
    let redis = process::redis(scratch.path()).await?;
    if redis.is_none() {
        progress("redis-server is not installed: what needs it is left out");
    }
    if let (true, Some(redis)) = (wants(What::RoundTrips), &redis) {
        round_trips::measure(&path("small"), &small, redis.address).await?;
    }
    if wants(What::Latency) {
        let large = repository::make(&path("large"), options.files)?;
        let (small, large) = ((path("small"), &small), (path("large"), &large));
        let (small, large) = ((small.0.as_path(), small.1), (large.0.as_path(), large.1));
        latency::measure(small, large, scratch.path(), redis.is_some(), time).await?;
    }
    if let (true, Some(redis)) = (wants(What::Cost), &redis) {
        cost::measure(redis).await?;
    }
    if wants(What::Throughput) {
        throughput::measure(&path("medium"), &medium, scratch.path(), redis.is_some(), time).await?;
    }
    if wants(What::Fight) {
        fight::measure(&path("medium"), &medium, scratch.path(), redis.is_some()).await?;
    }
    if let (true, Some(redis)) = (wants(What::Functions), &redis) {
        // A server writes the state of the repository that a function needs to the store.
        let server = process::coord(&path("small"), process::State::Redis(redis.address), None).await?;
        process::graph_is_ready(&server, &small.repo_url).await?;
        start::measure(&small, redis.address).await?;
    }
    if wants(What::Intents) {
        intents::measure(&path("small"), &small, scratch.path(), redis.as_ref(), time).await?;
    }
    if wants(What::Teams) {
        let polls = teams::Plan {
            agents: options.clients,
            rate: options.rate,
            time,
        };
        teams::measure(&path("small"), &small, scratch.path(), redis.as_ref(), polls).await?;
    }
    if wants(What::Mcp) {
        mcp::measure(&path("small"), &small, scratch.path(), time).await?;
    }
    if wants(What::Events) {
        let plan = events::Plan {
            clients: options.clients,
            rate: options.rate,
            way: if options.sse {
                events::Way::ServerSentEvents
            } else {
                events::Way::WebSocket
            },
            time,
        };
        events::measure(&path("medium"), &medium, scratch.path(), redis.is_some(), plan).await?;
    }
    if wants(What::Sweep) && redis.is_some() {
        sweep::measure(&path("medium"), &medium, scratch.path(), options.locks).await?;
    } else if options.only == [What::Sweep] {
        bail!("the sweep is measured on redis-server, which is not installed");
    }
    Ok(())
}
