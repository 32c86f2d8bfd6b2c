//! Time from the start of a function's process to its first response, and its size.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::json;

use crate::client::{Connection, Subject};
use crate::process::{self, Process, free_address};
use crate::report::{Latencies, Table, progress};
use crate::repository::file;

const FUNCTIONS: [&str; 4] = ["check_status", "post_status", "graph", "cron_cleanup"];
const STARTS: usize = 20;
const JWT_SECRET: &str = "a secret of this measurement that is long enough";

/// Measures against `redis`, which knows the head of `subject`.
pub async fn measure(subject: &Subject, redis: SocketAddr) -> Result<()> {
    let table = Table::begin(
        "Functions",
        "From the start of the process until the whole answer to the first question is there, which includes the first connection \
         to the store.",
        &[
            "function",
            "size KiB",
            "p50 us to the first answer",
            "p99 us",
            "resident memory KiB",
        ],
    );
    for name in FUNCTIONS {
        progress(&format!("building and starting {name}"));
        let path = process::build_function(name)?;
        let size = std::fs::metadata(&path)?.len() / 1024;
        let mut latencies = Latencies::default();
        let mut memory = 0;
        for _ in 0..STARTS {
            let address = free_address()?;
            let mut command = Command::new(&path);
            command
                .env("VERCEL_DEV_PORT", address.port().to_string())
                .env("REDIS_URL", format!("redis://{redis}"));
            command
                .env("COORD_JWT_SECRET", JWT_SECRET)
                .env("CRON_SECRET", process::CRON_SECRET)
                .env("RUST_LOG", "error");
            for unset in ["UPSTASH_REDIS_REST_URL", "KV_REST_API_URL", "VERCEL_IPC_PATH"] {
                command.env_remove(unset);
            }
            let started = Instant::now();
            let process = Process::start(&mut command, address)
                .await
                .with_context(|| name.to_owned())?;
            let mut connection = Connection::open(address).await?;
            let (status, body) = connection.send(question(name, subject, address)?).await?;
            latencies.add(started.elapsed());
            ensure!(
                status.is_success(),
                "{name} answered {status}: {}",
                String::from_utf8_lossy(&body)
            );
            memory = process.memory()?.0;
        }
        let [half, most] = [0.5, 0.99].map(|quantile| format!("{:.0}", latencies.micros(quantile)));
        table.row(&[&name, &size, &half, &most, &memory]);
    }
    Ok(())
}

fn question(name: &str, subject: &Subject, address: SocketAddr) -> Result<Request<Full<Bytes>>> {
    let claims = json!({"sub": "ann", "aud": "coord", "exp": 4_000_000_000_u64});
    let jwt = encode(
        &Header::default(),
        &claims,
        &EncodingKey::from_secret(JWT_SECRET.as_bytes()),
    )?;
    let files = [file(40)];
    let (method, path, token, body) = match name {
        "check_status" => (
            "POST",
            "/api/check_status".to_owned(),
            jwt,
            subject.check("ann", &files).body,
        ),
        "post_status" => (
            "POST",
            "/api/post_status".to_owned(),
            jwt,
            subject.claim("ann", &files, "READING").body,
        ),
        "graph" => (
            "GET",
            format!("/api/graph?repo_url={}&branch=main", subject.repo_url),
            jwt,
            Bytes::new(),
        ),
        _ => (
            "GET",
            "/api/cron_cleanup".to_owned(),
            process::CRON_SECRET.to_owned(),
            Bytes::new(),
        ),
    };
    let request = Request::builder().method(method).uri(path);
    let request = request
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, "application/json");
    Ok(request
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(Full::new(body))?)
}
