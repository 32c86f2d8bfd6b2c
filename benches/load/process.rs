//! The processes under test. Each is ended when it is dropped.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use coord_test_support::embedded;
use coord_test_support::process::processor_time;
use coord_test_support::upstash;
use hyper::StatusCode;
use serde_json::Value as Json;

use crate::client::Connection;

/// A process that listens on an address.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process {
    pub fn kill(&mut self) {
        // It may have ended already, and its result is not needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts `command`, which listens on `address`, and returns as soon as it does.
    pub async fn start(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut process = Process { child, address };
        let deadline = Instant::now() + Duration::from_secs(120);
        while tokio::net::TcpStream::connect(address).await.is_err() {
            if let Some(status) = process.child.try_wait()? {
                bail!("{} ended with {status}", command.get_program().display());
            }
            ensure!(
                Instant::now() < deadline,
                "{} does not listen",
                command.get_program().display()
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(process)
    }

    /// Processor time of all its threads so far.
    pub fn processor_time(&self) -> Result<Duration> {
        processor_time(self.child.id()).context("the process has gone")
    }

    /// Resident memory now and at its highest, in KiB.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
                .context("no such field")
        };
        Ok((field("VmRSS:")?, field("VmHWM:")?))
    }
}

/// An address with a free port.
pub fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// A redis-server in `folder`; `None` where it is not installed.
pub async fn redis(folder: &Path) -> Result<Option<Process>> {
    let address = free_address()?;
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string()]);
    command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(folder);
    match Process::start(&mut command, address).await {
        Ok(process) => Ok(Some(process)),
        Err(error) => match error.downcast_ref::<std::io::Error>() {
            Some(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            _ => Err(error),
        },
    }
}

/// Starts the Upstash double over the store in `file`, on a separate thread. Returns its URL.
pub async fn upstash(file: &Path) -> Result<String> {
    let store = embedded::open(file);
    let (started, url) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            // The driver waits for it.
            let _ = started.send(upstash::serve(Arc::new(store)).await);
            std::future::pending::<()>().await;
        });
    });
    Ok(url.await?)
}

/// Starts `coord serve` on `repository`, with the options that name its store.
pub async fn coord(address: SocketAddr, repository: &Path, store: &[String]) -> Result<Process> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coord"));
    command.arg("serve").arg("--repo").arg(repository);
    command.args(["--listen", &address.to_string()]).args(store);
    command.env("XDG_STATE_HOME", repository.join(".git"));
    command
        .env("RUST_LOG", "error")
        .env("UPSTASH_REDIS_REST_TOKEN", upstash::TOKEN);
    // Capacity is measured with few holders, so that rate limits would interfere.
    command
        .env("COORD_LIMIT_HOLDER_PER_MINUTE", "0")
        .env("COORD_LIMIT_REPOSITORY_PER_MINUTE", "0");
    Process::start(&mut command, address).await
}

/// Waits until the graph of `repo_url` is built.
pub async fn graph_is_ready(server: &Process, repo_url: &str) -> Result<()> {
    let path = format!("/api/graph?repo_url={repo_url}&branch=main");
    let deadline = Instant::now() + Duration::from_secs(600);
    loop {
        let mut connection = Connection::open(server.address).await?;
        let (status, body) = connection.get(&path, "").await?;
        if status == StatusCode::OK {
            let body: Json = serde_json::from_slice(&body)?;
            if body["state"] == "ready" {
                return Ok(());
            }
        }
        ensure!(Instant::now() < deadline, "the graph does not get ready: {status}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Starts a server with a constant response, on the same HTTP stack, in a separate process.
pub async fn constant() -> Result<Process> {
    let address = free_address()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--answer-constant", &address.to_string()]);
    Process::start(&mut command, address).await
}
