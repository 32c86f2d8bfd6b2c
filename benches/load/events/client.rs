//! A client of `GET /api/events` that comes back with its last id whenever its connection ends.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::ledger::{Id, Ledger, now};
use super::messages::{self, Received, UPGRADE};

/// Clients for each name of a user; the server allows a person 128 streams.
const OF_USER: usize = 100;

pub struct Audience {
    pub address: SocketAddr,
    pub repo_url: String,
    /// Everything after this event is wanted.
    pub begin: Id,
    pub ledger: Ledger,
    pub clients: Vec<Client>,
    /// How often a connection ended other than by a kill, by the reason.
    pub ends: Mutex<BTreeMap<String, usize>>,
    pub is_stopped: AtomicBool,
}

/// The state of one client.
#[derive(Default)]
pub struct Client {
    pub is_open: AtomicBool,
    /// How many events it has.
    pub place: AtomicUsize,
    /// Ends its connection.
    pub kill: Notify,
}

impl Audience {
    pub fn start(self) -> Arc<Self> {
        let audience = Arc::new(self);
        for number in 0..audience.clients.len() {
            let audience = Arc::clone(&audience);
            tokio::spawn(async move { audience.watch(number).await });
        }
        audience
    }

    /// Waits until all clients are open and have all events. Returns how many events they lack after `time`.
    pub async fn complete(&self, time: Duration) -> usize {
        let deadline = Instant::now() + time;
        loop {
            let events = self.ledger.events();
            let lacking = self.clients.iter().map(|client| events - client.place.load(Relaxed));
            let lacking: usize = lacking.sum();
            let are_open = self.clients.iter().all(|client| client.is_open.load(Relaxed));
            if (lacking == 0 && are_open) || Instant::now() > deadline {
                return lacking;
            }
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Follows the events, over as many connections as it takes.
    async fn watch(&self, number: usize) {
        let client = &self.clients[number];
        let mut last = self.begin;
        // Not all at the same instant.
        sleep(Duration::from_millis(fastrand::u64(0..500))).await;
        while !self.is_stopped.load(Relaxed) {
            tokio::select! {
                end = self.follow(number, &mut last) => {
                    let reason = match end {
                        Ok(reason) => reason,
                        Err(error) => format!("{error:#}"),
                    };
                    let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
                    *ends.entry(reason).or_default() += 1;
                }
                () = client.kill.notified() => {}
            }
            client.is_open.store(false, Relaxed);
            sleep(Duration::from_millis(fastrand::u64(100..600))).await;
        }
    }

    /// Follows the events on one connection. Returns why it ended.
    async fn follow(&self, number: usize, last: &mut Id) -> Result<String> {
        let client = &self.clients[number];
        let mut stream = TcpStream::connect(self.address).await?;
        let head = format!(
            "GET /api/events?repo_url={}&last_event_id={}-{} HTTP/1.1\r\nHost: {}\r\nX-Coord-User: watcher-{}\r\n{UPGRADE}\r\n",
            self.repo_url,
            last.0,
            last.1,
            self.address,
            number / OF_USER
        );
        stream.write_all(head.as_bytes()).await?;
        let mut bytes = BytesMut::with_capacity(8 * 1024);
        let length = loop {
            ensure!(stream.read_buf(&mut bytes).await? > 0, "no response");
            if let Some(place) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break place + 4;
            }
        };
        let head = str::from_utf8(&bytes[..length])?;
        ensure!(
            head.starts_with("HTTP/1.1 101 "),
            "{}",
            head.lines().next().unwrap_or_default()
        );
        bytes.advance(length);
        let mut opened = None;
        loop {
            while let Some(message) = messages::next(&mut bytes)? {
                match message {
                    Received::Event(id) => {
                        *last = id;
                        let now = now();
                        let written = Duration::from_millis(id.0);
                        // Events of the time before are resumed, not delivered as they happen.
                        let is_live = opened.is_some_and(|opened| written >= opened);
                        let latency = is_live.then(|| now.saturating_sub(written));
                        let place = self.ledger.receive(client.place.load(Relaxed), id, latency);
                        client.place.store(place, Relaxed);
                    }
                    Received::Opened => {
                        opened = Some(now());
                        client.is_open.store(true, Relaxed);
                    }
                    Received::Resync => return Ok("resync".to_owned()),
                    Received::Ended(message) => return Ok(message),
                    Received::Other => {}
                }
            }
            let read = stream.read_buf(&mut bytes).await.context("the connection was lost")?;
            if read == 0 {
                return Ok("the connection was closed".to_owned());
            }
        }
    }
}
