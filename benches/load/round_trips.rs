//! Round trips and commands for one cached question, counted at the socket and by Redis.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;

use crate::client::{Connection, Post, Subject};
use crate::process::{self, State};
use crate::proxy::Proxy;
use crate::redis_link::RedisLink;
use crate::report::{Table, progress};
use crate::repository::file;

/// Questions of each kind, so that a round trip too many anywhere shows.
const QUESTIONS: u64 = 20;

pub async fn measure(repository: &Path, subject: &Subject, redis: SocketAddr) -> Result<()> {
    let table = Table::begin(
        "Round trips and store commands",
        "For one question, scripts and head cached; a claim and its release are one `post_status` each.",
        &["store", "question", "round trips", "commands", "of which"],
    );
    let mut link = RedisLink::open(redis).await?;
    let files: Vec<String> = (40..43).map(file).collect();
    let questions = [
        ("check_status, 1 file", subject.check("ann", &files[..1])),
        ("check_status, 3 files", subject.check("ann", &files)),
        ("claim, 1 file", subject.claim("ann", &files[..1], "WRITING")),
        ("release, 1 file", subject.abandon("ann", &files[..1])),
        ("claim, 3 files", subject.claim("ann", &files, "WRITING")),
        ("release, 3 files", subject.abandon("ann", &files)),
    ];
    progress("counting round trips over redis://");
    let proxy = Proxy::before(redis).await?;
    let server = process::coord(repository, State::Redis(proxy.address), None).await?;
    process::graph_is_ready(&server, &subject.repo_url).await?;
    count(&table, "redis://", &questions, server.address, &proxy, &mut link).await?;
    drop(server);

    progress("counting round trips over Upstash's REST protocol");
    let port = process::free_address()?;
    let _store = process::coord(repository, State::Redis(redis), Some(port)).await?;
    let proxy = Proxy::before(port).await?;
    let server = process::coord(repository, State::Upstash(proxy.address), None).await?;
    process::graph_is_ready(&server, &subject.repo_url).await?;
    count(&table, "Upstash REST", &questions, server.address, &proxy, &mut link).await
}

async fn count(
    table: &Table,
    store: &str,
    questions: &[(&str, Post)],
    server: SocketAddr,
    proxy: &Proxy,
    link: &mut RedisLink,
) -> Result<()> {
    let mut connection = Connection::open(server).await?;
    for (_, question) in questions {
        connection.must(question).await?;
    }
    // What the server does by itself, such as looking at its branches, is done by then.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    for (name, question) in questions {
        let before = proxy.turns();
        link.forget_calls().await?;
        for _ in 0..QUESTIONS {
            connection.must(question).await?;
        }
        let turns = (proxy.turns() - before) as f64 / QUESTIONS as f64;
        let calls = link.calls().await?;
        let each = |count: u64| count as f64 / QUESTIONS as f64;
        let total: u64 = calls.iter().map(|(_, count)| count).sum();
        let named: Vec<String> = calls
            .iter()
            .map(|(name, count)| format!("{name} {}", each(*count)))
            .collect();
        table.row(&[&store, name, &turns, &each(total), &named.join(", ")]);
    }
    Ok(())
}
