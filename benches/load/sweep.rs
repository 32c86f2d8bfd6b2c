//! A sweep over very many live locks, few of them expired.

use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

use crate::client::{Connection, Subject};
use crate::process::{self, CRON_SECRET, State};
use crate::redis_link::RedisLink;
use crate::report::{Table, progress};

const EXPIRED: usize = 100;

/// Creates locks FIRST to LAST, in the form of claims. ARGV: first, last, expiry, repository.
const FILL: &str = "
for number = ARGV[1], ARGV[2] do
  local path = 'many/' .. math.floor(number / 1000) .. '/f' .. number .. '.js'
  redis.call('HSET', KEYS[1], path, cjson.encode({ {
    key = ARGV[4] .. ':main:' .. path, file_path = path, branch = 'main', user_id = 'user-' .. number % 5000,
    user_name = 'user-' .. number % 5000, status = 'READING', agent_head = string.rep('a', 40), token = number,
    message = 'Moving the parser to the new tokens', timestamp = ARGV[3] - 300, expiry = tonumber(ARGV[3]),
  } }))
  redis.call('ZADD', KEYS[2], ARGV[3], path)
end
return 'OK'";

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path, locks: usize) -> Result<()> {
    let table = Table::begin(
        "Sweep",
        &format!("One call of `/api/cron_cleanup` on redis-server over {locks} locks of one repository."),
        &["expired", "announced", "ms", "round trips' commands", "of which"],
    );
    let folder = tempfile::tempdir_in(scratch)?;
    let database = process::redis(folder.path()).await?.context("redis-server is needed")?;
    let server = process::coord(repository, State::Redis(database.address), None).await?;
    process::graph_is_ready(&server, &subject.repo_url).await?;
    let mut link = RedisLink::open(database.address).await?;
    let repo = subject.repo_url.trim_start_matches("https://");
    let (locks_key, expiries_key) = (
        format!("coord:locks:{{{repo}}}"),
        format!("coord:expiries:{{{repo}}}:locks"),
    );
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    progress(&format!("storing {locks} locks"));
    let mut fill = async |first: usize, last: usize, expiry: u64| {
        let words = [first.to_string(), last.to_string(), expiry.to_string()];
        let [first, last, expiry] = words.each_ref().map(String::as_str);
        link.ask(&["EVAL", FILL, "2", &locks_key, &expiries_key, first, last, expiry, repo])
            .await
    };
    for first in (EXPIRED..locks).step_by(10_000) {
        fill(first, (first + 9_999).min(locks - 1), now + 3600).await?;
    }
    fill(0, EXPIRED - 1, now - 1).await?;
    link.ask(&["ZADD", "coord:due", &(now - 1).to_string(), repo]).await?;
    let mut connection = Connection::open(server.address).await?;
    for expired in [EXPIRED, 0] {
        link.forget_calls().await?;
        let started = Instant::now();
        let (status, body) = connection.get("/api/cron_cleanup", CRON_SECRET).await?;
        let time = started.elapsed();
        ensure!(
            status.is_success(),
            "the sweep answered {status}: {}",
            String::from_utf8_lossy(&body)
        );
        let report: Json = serde_json::from_slice(&body)?;
        let calls = link.calls().await?;
        let total: u64 = calls.iter().map(|(_, count)| count).sum();
        let named: Vec<String> = calls.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let time = format!("{:.2}", time.as_secs_f64() * 1000.0);
        table.row(&[&expired, &report["expired"], &time, &total, &named.join(", ")]);
    }
    Ok(())
}
