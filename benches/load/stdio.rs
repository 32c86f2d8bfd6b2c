//! `coord mcp`: a line of JSON-RPC in, one out.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::report::{Latencies, Table, progress};
use crate::repository::file;

/// Starts that are measured.
const STARTS: usize = 50;

/// A process of `coord mcp`.
pub struct CoordMcp {
    /// It ends when this is dropped.
    _process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl CoordMcp {
    /// Starts it in `repository`, whose server runs.
    pub fn start(repository: &Path) -> Result<Self> {
        let mut process = Command::new(env!("CARGO_BIN_EXE_coord"))
            .arg("mcp")
            .current_dir(repository)
            .env("COORD_AGENT", "bench")
            .env("RUST_LOG", "error")
            .env_remove("COORD_URL")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = process.stdin.take().context("a pipe")?;
        let output = BufReader::new(process.stdout.take().context("a pipe")?).lines();
        Ok(CoordMcp {
            _process: process,
            input,
            output,
        })
    }

    /// Sends `line` and returns the line that comes back.
    pub async fn ask(&mut self, line: &str) -> Result<String> {
        self.send(line).await?;
        self.output.next_line().await?.context("coord mcp has ended")
    }

    async fn send(&mut self, line: &str) -> Result<()> {
        self.input.write_all(line.as_bytes()).await?;
        self.input.write_all(b"\n").await?;
        Ok(self.input.flush().await?)
    }

    /// Says hello.
    pub async fn hello(&mut self) -> Result<()> {
        let client = json!({ "name": "bench", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let said = self.ask(&hello.to_string()).await?;
        ensure!(said.contains("protocolVersion"), "coord mcp said {said}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())
            .await
    }
}

/// A call of `tool`, as a line.
pub fn call(tool: &str, arguments: &Json) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
        .to_string()
}

/// Measures the start of `coord mcp` in `repository`, whose server runs.
pub async fn measure_start(repository: &Path) -> Result<()> {
    progress("starting coord mcp");
    let check = call("check_status", &json!({ "file_paths": [file(40)] }));
    let mut latencies: [Latencies; 2] = Default::default();
    for _ in 0..STARTS {
        let started = Instant::now();
        let mut agent = CoordMcp::start(repository)?;
        agent.hello().await?;
        let hello = started.elapsed();
        let said = agent.ask(&check).await?;
        let times: [Duration; 2] = [hello, started.elapsed()];
        ensure!(said.contains("PROCEED"), "coord mcp said {said}");
        for (latencies, time) in latencies.iter_mut().zip(times) {
            latencies.add(time);
        }
    }
    let table = Table::begin(
        "Start of coord mcp",
        "From the start of the process, with the server running.",
        &["until", "p50 ms", "p99 ms", "n"],
    );
    for (name, latencies) in ["the answer to initialize", "the answer to a first check_status"]
        .iter()
        .zip(&latencies)
    {
        let cells = [0.5, 0.99].map(|quantile| format!("{:.1}", latencies.micros(quantile) / 1000.0));
        table.row(&[name, &cells[0], &cells[1], &latencies.count()]);
    }
    Ok(())
}
