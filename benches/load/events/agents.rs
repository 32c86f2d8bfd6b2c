//! Agents that publish events: each claims a file, renews the claim and releases it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::client::{Connection, Post, Subject};
use crate::repository::file;

/// Requests a second of one agent, about.
const OF_AGENT: f64 = 25.0;

/// Agents at work.
pub struct Agents {
    tasks: Vec<JoinHandle<Result<()>>>,
    is_stopped: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
}

impl Agents {
    /// Starts as many as it takes for `rate` requests a second, each of which publishes one event.
    pub fn start(server: SocketAddr, subject: &Subject, rate: f64) -> Self {
        let count = ((rate / OF_AGENT).ceil() as usize).clamp(4, 64);
        let pause = Duration::from_secs_f64(count as f64 / rate);
        let mut agents = Agents {
            tasks: Vec::new(),
            is_stopped: Arc::default(),
            answered: Arc::default(),
        };
        for number in 0..count {
            // No two of these files are neighbors.
            let (user, files) = (format!("agent-{number}"), [file(1000 + 7 * number)]);
            let claim = subject.claim(&user, &files, "WRITING");
            let posts = [claim.clone(), claim, subject.abandon(&user, &files)];
            let (is_stopped, answered) = (Arc::clone(&agents.is_stopped), Arc::clone(&agents.answered));
            agents.tasks.push(tokio::spawn(async move {
                sleep(pause.mul_f64(number as f64 / count as f64)).await;
                work(server, &posts, pause, &is_stopped, &answered).await
            }));
        }
        agents
    }

    /// Requests that were answered so far.
    pub fn answered(&self) -> u64 {
        self.answered.load(Relaxed)
    }

    /// Stops them when each has released its file.
    pub async fn stop(self) -> Result<()> {
        self.is_stopped.store(true, Relaxed);
        for task in self.tasks {
            task.await??;
        }
        Ok(())
    }
}

/// Sends `posts` in turn. Where the server goes away, the first is sent again when it is back.
async fn work(
    server: SocketAddr,
    posts: &[Post],
    pause: Duration,
    is_stopped: &AtomicBool,
    answered: &AtomicU64,
) -> Result<()> {
    let mut ticks = tokio::time::interval(pause);
    let mut connection = Connection::open(server).await?;
    while !is_stopped.load(Relaxed) {
        for post in posts {
            ticks.tick().await;
            match connection.post(post).await {
                Ok((status, _)) if status.is_success() => {
                    answered.fetch_add(1, Relaxed);
                }
                Ok((status, body)) => anyhow::bail!("answered {status}: {}", String::from_utf8_lossy(&body)),
                Err(_) => {
                    connection = loop {
                        sleep(Duration::from_millis(20)).await;
                        if let Ok(connection) = Connection::open(server).await {
                            break connection;
                        }
                    };
                    ticks.reset();
                    break;
                }
            }
        }
    }
    Ok(())
}
