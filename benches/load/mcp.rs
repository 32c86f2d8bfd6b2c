//! What a tool call of MCP costs over the HTTP request that it stands for, on one connection each, in turn within one run: of
//! `/api/mcp`, and of `coord mcp` over stdio.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value as Json, json};

use crate::client::{Connection, Post, Subject};
use crate::latency::{Probe, in_turn};
use crate::process::{self, State};
use crate::report::{Table, progress};
use crate::repository::file;
use crate::stdio::{self, CoordMcp, call};

/// The request `post` as a call of the tool with the name of its endpoint.
fn as_tool(post: &Post) -> Result<Post> {
    let arguments: Json = serde_json::from_slice(&post.body)?;
    let tool = post.path.trim_start_matches("/api/");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    Ok(Post {
        path: "/api/mcp",
        user: post.user.clone(),
        body: call.to_string().into(),
    })
}

pub async fn measure(repository: &Path, subject: &Subject, scratch: &Path, time: Duration) -> Result<()> {
    progress("measuring tools of MCP");
    let folder = tempfile::tempdir_in(scratch)?;
    let server = process::coord(repository, State::Embedded(folder.path()), None).await?;
    process::graph_is_ready(&server, &subject.repo_url).await?;
    let files = [file(40)];
    let check = subject.check("ann", &files);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let list = Post {
        body: list.to_string().into(),
        ..as_tool(&check)?
    };
    let said = Connection::open(server.address).await?.must(&as_tool(&check)?).await?;
    let action = &said["result"]["structuredContent"]["orchestration"]["action"];
    ensure!(action == "PROCEED", "the tool said {said}");
    let claims = vec![subject.claim("ann", &files, "WRITING"), subject.abandon("ann", &files)];
    let calls = claims.iter().map(as_tool).collect::<Result<Vec<Post>>>()?;
    let mut probes = Vec::new();
    for (name, posts) in [
        ("check_status, HTTP", vec![check.clone()]),
        ("check_status, MCP", vec![as_tool(&check)?]),
        ("post_status, HTTP", claims),
        ("post_status, MCP", calls),
        ("tools/list, MCP", vec![list]),
    ] {
        let connection = Connection::open(server.address).await?;
        probes.push((name.to_owned(), Probe::Http(connection, posts)));
    }
    // As many neighbors, and none that the others claim.
    let [check, claim, release] = of_working_copy(&[file(44)]);
    for (name, lines) in [
        ("check_status, coord mcp", vec![check]),
        ("post_status, coord mcp", vec![claim, release]),
    ] {
        let mut agent = CoordMcp::start(repository)?;
        agent.hello().await?;
        probes.push((name.to_owned(), Probe::Stdio(Box::new(agent), lines)));
    }
    let latencies = in_turn(&mut probes, time).await?;
    let table = Table::begin(
        "Tools of MCP, one connection",
        "All rows are measured in turn, in one run, on the embedded store. `post_status` is a claim and a release by turns.",
        &["what", "p50 us", "p99 us", "n"],
    );
    for ((name, _), latencies) in probes.iter().zip(&latencies) {
        let cells = [0.5, 0.99].map(|quantile| format!("{:.0}", latencies.micros(quantile)));
        table.row(&[name, &cells[0], &cells[1], &latencies.count()]);
    }
    for (tool, way, http, mcp) in [
        ("check_status", "MCP", 0, 1),
        ("post_status", "MCP", 2, 3),
        ("check_status", "coord mcp", 0, 5),
        ("post_status", "coord mcp", 2, 6),
    ] {
        let [http, mcp] = [http, mcp].map(|place: usize| latencies[place].micros(0.5));
        let (ratio, over) = (format!("**{:.2}**", mcp / http), format!("+{:.0}", mcp - http));
        table.row(&[&format!("**{tool}, {way} : HTTP**"), &ratio, &over, &""]);
    }
    drop(probes);
    stdio::measure_start(repository).await
}

/// A check, a claim and a release of `files` as an agent in a working copy makes them.
fn of_working_copy(files: &[String]) -> [String; 3] {
    let post = |status: &str| json!({ "file_paths": files, "status": status, "message": "Measuring", "abandon": status == "OPEN" });
    [
        call("check_status", &json!({ "file_paths": files })),
        call("post_status", &post("WRITING")),
        call("post_status", &post("OPEN")),
    ]
}
