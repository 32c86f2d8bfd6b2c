//! A team of nearly 20,000 tasks, the most that may be open, beside one of 100: the processor time of the script in redis-server, by `INFO commandstats`, which does not
//! depend on what else the machine does.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value as Json;

use super::member::Member;
use crate::client::Subject;
use crate::redis_link::RedisLink;
use crate::report::{progress, row, table};
use crate::servers::{Servers, StoreKind};

const SMALL: usize = 100;
const LARGE: usize = 20_000 - REQUESTS;
/// Requests of each kind and team in one round.
const REQUESTS: usize = 60;
const ROUNDS: usize = 15;
const KINDS: [&str; 5] = ["claim", "release", "next", "complete", "send and read"];

/// Microseconds that redis-server has spent on scripts, and how many those were.
async fn script_time(link: &mut RedisLink) -> Result<(f64, f64)> {
    let text = link.ask(&["INFO", "commandstats"]).await?.concat();
    let line = text.lines().find(|line| line.starts_with("cmdstat_fcall:"));
    let line = line.context("no script has run")?;
    let field = |name: &str| {
        let rest = line.split_once(name).map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split(',').next()?.parse().ok())
            .context("a number")
    };
    Ok((field("usec=")?, field("calls=")?))
}

/// One round of a kind: what was claimed before, if it is about that.
async fn round(member: &mut Member, kind: &str, ids: &mut Vec<String>, cursor: &mut u64) -> Result<()> {
    match kind {
        "claim" | "release" | "complete" => {
            for id in ids.iter() {
                let _: Json = member.does(id, kind).await?;
            }
        }
        "next" => {
            ids.clear();
            for _ in 0..REQUESTS / 2 {
                ids.push(member.next().await?);
            }
        }
        _ => {
            for _ in 0..REQUESTS / 2 {
                member.sends("lead", "A word of the measurement").await?;
                let read = member.reads(*cursor, 0).await?;
                *cursor = read["cursor"].as_u64().context("a cursor")?;
            }
        }
    }
    Ok(())
}

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path) -> Result<()> {
    progress("measuring a large team beside a small one");
    let servers = Servers::start(repository, subject, scratch, StoreKind::Redis).await?;
    let redis = servers.redis.as_ref().context("redis-server runs")?;
    table(
        "Teams: 19,940 tasks beside 100",
        "Microseconds of redis-server in the script, at the median of the rounds; the teams are asked in turn.",
        "request | 100 tasks | 19,940 tasks | ratio",
    );
    let mut teams = Vec::new();
    for (name, size) in [("small", SMALL), ("large", LARGE)] {
        let mut member = Member::leads(&servers.coord, subject, name).await?;
        // Those that are completed here are in addition.
        member.adds(size).await?;
        teams.push((member, Vec::new(), 0));
    }
    let mut link = RedisLink::open(redis.address).await?;
    let mut times = vec![[Vec::new(), Vec::new()]; KINDS.len()];
    for number in 0..=ROUNDS {
        for (team, (member, ids, cursor)) in teams.iter_mut().enumerate() {
            // As many as a round completes.
            member.adds(REQUESTS / 2).await?;
            round(member, "next", ids, cursor).await?;
            round(member, "release", ids, cursor).await?;
            for (kind, times) in KINDS.iter().zip(&mut times) {
                if *kind == "next" {
                    // The previous kind released these tasks.
                    ids.clear();
                }
                link.forget_calls().await?;
                round(member, kind, ids, cursor).await?;
                let (micros, calls) = script_time(&mut link).await?;
                if number > 0 {
                    times[team].push(micros / calls);
                }
            }
        }
    }
    for (kind, times) in KINDS.iter().zip(&mut times) {
        let [small, large] = times.each_mut().map(|times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        row(format_args!(
            "{kind} | {small:.1} | {large:.1} | **{:.2}**",
            large / small
        ));
    }
    Ok(())
}
