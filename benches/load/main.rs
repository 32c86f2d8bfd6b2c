//! The load driver: measures the cost of Coord from outside, with each server in a separate process.
//!
//! `cargo bench --bench load` measures everything and prints markdown. `cargo bench --bench load -- --help` shows options.

mod client;
mod constant;
mod cost;
mod events;
mod process;
mod recorded;
mod redis_link;
mod report;
mod repository;
mod servers;
mod teams;
mod throughput;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use report::progress;

/// Measures Coord.
#[derive(Parser)]
#[command(name = "cargo bench --bench load --")]
struct Options {
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Measure only this; may be given several times
    #[arg(long, value_name = "WHAT")]
    only: Vec<Section>,
    /// Clients of live events; agents that wait for messages
    #[arg(long, default_value_t = 1000)]
    clients: usize,
    /// Live events, or messages, a second
    #[arg(long, default_value_t = 50.0)]
    rate: f64,
    /// For the driver itself: answer a constant here
    #[arg(long, hide = true)]
    answer_constant: Option<SocketAddr>,
    /// Passed by cargo; has no effect
    #[arg(long, hide = true)]
    bench: bool,
}

/// Measurements to choose from.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    Cost,
    Throughput,
    Teams,
    Events,
}

fn main() -> Result<()> {
    let options = Options::parse();
    // The constant server has as many threads as the servers have; the driver has one, to leave them the processors.
    let mut runtime = match options.answer_constant {
        Some(_) => tokio::runtime::Builder::new_multi_thread(),
        None => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime.enable_all().build()?;
    match options.answer_constant {
        Some(address) => runtime.block_on(constant::serve(address)),
        None => runtime.block_on(measure(&options)),
    }
}

async fn measure(options: &Options) -> Result<()> {
    let wants = |what: Section| options.only.is_empty() || options.only.contains(&what);
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
    if let (true, Some(redis)) = (wants(Section::Cost), &redis) {
        cost::measure(redis).await?;
    }
    if wants(Section::Throughput) {
        throughput::measure(&path("medium"), &medium, scratch.path(), redis.is_some(), time).await?;
    }
    if wants(Section::Teams) {
        let plan = teams::Plan {
            agents: options.clients,
            rate: options.rate,
            time,
        };
        teams::measure(&path("small"), &small, scratch.path(), redis.is_some(), plan).await?;
    }
    if wants(Section::Events) {
        let plan = events::Plan {
            clients: options.clients,
            rate: options.rate,
            time,
        };
        events::measure(&path("medium"), &medium, scratch.path(), redis.is_some(), plan).await?;
    }
    Ok(())
}
