//! Offers a Redis server over Upstash's REST protocol:
//! `UPSTASH_LISTEN_TOKEN=secret cargo run -p coord-cli --example upstash_redis -- --redis redis://127.0.0.1:6379 --listen 127.0.0.1:8079`

use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use coord_store::redis::RedisStore;
use secrecy::SecretString;

#[derive(Parser)]
struct Arguments {
    /// The server: redis://, rediss:// or unix://.
    #[arg(long, default_value = "redis://127.0.0.1:6379")]
    redis: String,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:8079")]
    listen: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { redis, listen } = Arguments::parse();
    let token =
        std::env::var("UPSTASH_LISTEN_TOKEN").context("set UPSTASH_LISTEN_TOKEN to the token callers must send")?;
    let router = coord_cli::commands::serve::upstash_listen::router(
        Arc::new(RedisStore::connect(&redis)?),
        SecretString::from(token),
    );
    let listener = tokio::net::TcpListener::bind(&listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, router)
        .with_graceful_shutdown(async { drop(tokio::signal::ctrl_c().await) })
        .await?;
    Ok(())
}
