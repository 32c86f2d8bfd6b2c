//! Round trips and commands of one cached request, counted at the socket and by Redis.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::client::{Connection, Post, Subject};
use crate::process::{self, State};
use crate::proxy::Proxy;
use crate::redis_link::RedisLink;
use crate::report::{Table, progress};
use crate::repository::file;

/// Requests of each kind, so that any extra round trip shows.
const QUESTIONS: u64 = 20;

/// A measured request, and the request before it that prepares the state.
pub struct Question {
    pub name: &'static str,
    pub before: Post,
    pub post: Post,
}

pub async fn measure(repository: &Path, subject: &Subject, redis: SocketAddr) -> Result<()> {
    let table = Table::begin(
        "Round trips and store commands",
        "For one question, scripts and head cached. A claim, a renewal and a release are each one `post_status`.",
        &["store", "question", "round trips", "commands", "of which"],
    );
    let mut link = RedisLink::open(redis).await?;
    let files: Vec<String> = (40..43).map(file).collect();
    let (one, three) = (&files[..1], files.as_slice());
    let (claim_one, release_one) = (subject.claim("ann", one, "WRITING"), subject.abandon("ann", one));
    let (claim_three, release_three) = (subject.claim("ann", three, "WRITING"), subject.abandon("ann", three));
    let question = |name, before: &Post, post: &Post| Question {
        name,
        before: before.clone(),
        post: post.clone(),
    };
    let questions = [
        question("check_status, 1 file", &release_one, &subject.check("ann", one)),
        question("check_status, 3 files", &release_three, &subject.check("ann", three)),
        question("claim, 1 file", &release_one, &claim_one),
        question("claim, 3 files", &release_three, &claim_three),
        question("renewal, 3 files", &claim_three, &claim_three),
        question("release, 1 file", &claim_one, &release_one),
        question("release, 3 files", &claim_three, &release_three),
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

/// Counts `questions`, each of them some times.
pub async fn count(
    table: &Table,
    store: &str,
    questions: &[Question],
    server: SocketAddr,
    proxy: &Proxy,
    link: &mut RedisLink,
) -> Result<()> {
    let mut connection = Connection::open(server).await?;
    for question in questions {
        connection.must(&question.before).await?;
        connection.must(&question.post).await?;
    }
    // Work that the server starts by itself, such as reading its branches, is done by then.
    tokio::time::sleep(Duration::from_millis(500)).await;
    for question in questions {
        let mut turns = 0;
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        for _ in 0..QUESTIONS {
            connection.must(&question.before).await?;
            link.forget_calls().await?;
            let before = proxy.turns();
            connection.must(&question.post).await?;
            turns += proxy.turns() - before;
            for (name, count) in link.calls().await? {
                *calls.entry(name).or_default() += count;
            }
        }
        let each = |count: u64| count as f64 / QUESTIONS as f64;
        let named: Vec<String> = calls
            .iter()
            .map(|(name, count)| format!("{name} {}", each(*count)))
            .collect();
        table.row(&[
            &store,
            &question.name,
            &each(turns),
            &each(calls.values().sum()),
            &named.join(", "),
        ]);
    }
    Ok(())
}
