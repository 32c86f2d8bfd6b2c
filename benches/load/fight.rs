//! 64 clients that claim the same three files at the same moment.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use hyper::StatusCode;
use tokio::sync::Barrier;

use crate::client::{Connection, Subject};
use crate::process::{self, State};
use crate::report::{Latencies, Table, progress};
use crate::repository::file;

const CLIENTS: usize = 64;
const ROUNDS: usize = 100;

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path, redis: bool) -> Result<()> {
    let table = Table::begin(
        "A fight for three files",
        "64 clients on connections of their own claim the same three files at once; a round ends when all have their answer.",
        &["store", "rounds", "winners in a round", "p50 us for a round", "p99 us"],
    );
    for store in ["redis-server", "embedded"] {
        if store != "embedded" && !redis {
            continue;
        }
        progress(&format!("fighting on {store}"));
        let folder = tempfile::tempdir_in(scratch)?;
        let database = if store == "embedded" {
            None
        } else {
            process::redis(folder.path()).await?
        };
        let state = match &database {
            Some(database) => State::Redis(database.address),
            None => State::Embedded(folder.path()),
        };
        let server = process::coord(repository, state, None).await?;
        process::graph_is_ready(&server, &subject.repo_url).await?;
        let barrier = Arc::new(Barrier::new(CLIENTS));
        let mut tasks = Vec::new();
        for number in 0..CLIENTS {
            let (barrier, subject) = (Arc::clone(&barrier), subject.clone());
            let mut connection = Connection::open(server.address).await?;
            tasks.push(tokio::spawn(async move {
                let user = format!("fighter-{number}");
                let files = [file(40), file(60), file(90)];
                let (claim, abandon) = (subject.claim(&user, &files, "WRITING"), subject.abandon(&user, &files));
                let mut wins = [false; ROUNDS];
                let mut rounds = Latencies::default();
                for win in &mut wins {
                    barrier.wait().await;
                    let started = Instant::now();
                    let (status, body) = connection.post(&claim).await?;
                    *win = match status {
                        StatusCode::OK => true,
                        StatusCode::CONFLICT => false,
                        other => bail!("answered {other}: {}", String::from_utf8_lossy(&body)),
                    };
                    barrier.wait().await;
                    rounds.add(started.elapsed());
                    if *win {
                        connection.must(&abandon).await?;
                    }
                }
                Ok((wins, rounds))
            }));
        }
        let mut winners = [0_usize; ROUNDS];
        let mut rounds = Latencies::default();
        for task in tasks {
            let (wins, latencies) = task.await??;
            wins.iter()
                .zip(&mut winners)
                .for_each(|(won, count)| *count += usize::from(*won));
            rounds.merge(&latencies);
        }
        let (fewest, most) = (winners.iter().min().unwrap_or(&0), winners.iter().max().unwrap_or(&0));
        let [half, most_all] = [0.5, 0.99].map(|quantile| format!("{:.0}", rounds.micros(quantile)));
        table.row(&[&store, &ROUNDS, &format!("{fewest} to {most}"), &half, &most_all]);
    }
    Ok(())
}
