//! Reads the ledger of a server, page by page.

use std::io::Read;

use anyhow::Context;
use coord_intents::ledger::{Point, split};
use coord_protocol::{Client, ClientError, LedgerFilter, LedgerResponse};
use tokio::sync::mpsc::{Receiver, Sender};

/// Maximum number of lines of a page.
pub const PAGE: usize = 500;

/// The first and the last point of a server's ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerLocation {
    /// The point before the first stored line.
    pub base: Point,
    /// The point of the newest sealed line.
    pub sealed: Point,
}

impl LedgerLocation {
    /// The points in a page.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub fn of(page: &LedgerResponse) -> anyhow::Result<LedgerLocation> {
        let parse = |text: &str| {
            text.parse::<Point>()
                .with_context(|| format!("the server sent {text:?}, which is not a ledger point"))
        };
        Ok(LedgerLocation {
            base: parse(&page.base)?,
            sealed: parse(&page.sealed)?,
        })
    }
}

/// Fetches the newest line of the ledger of the repository, for its points.
///
/// # Errors
/// When the server returns an error, or no response.
pub async fn newest(client: &Client, repo_url: &str) -> Result<LedgerResponse, ClientError> {
    let filter = LedgerFilter {
        last: Some(1),
        ..LedgerFilter::default()
    };
    client.ledger(repo_url, &filter).await
}

/// The number of the line after which the next page begins.
pub fn cursor(page: &LedgerResponse) -> Option<u64> {
    let last = page
        .lines
        .last()
        .and_then(|line| split(line.as_bytes()).map(|line| line.seq));
    let sealed = || page.sealed.parse::<Point>().ok().map(|point| point.seq);
    page.next.or_else(sealed).or(last)
}

/// Fetches the lines after `after` and sends them to `lines`, with their newlines, until its receiver is closed.
///
/// # Errors
/// When the server returns an error, or no response.
pub async fn send_lines(
    client: &Client,
    repo_url: &str,
    after: u64,
    lines: Sender<Vec<u8>>,
) -> Result<(), ClientError> {
    let mut filter = first_page(after);
    loop {
        let page = client.ledger(repo_url, &filter).await?;
        let bytes = page
            .lines
            .into_iter()
            .flat_map(|line| (line + "\n").into_bytes())
            .collect();
        if lines.send(bytes).await.is_err() || page.next <= filter.after {
            return Ok(());
        }
        filter.after = page.next;
    }
}

fn first_page(after: u64) -> LedgerFilter {
    LedgerFilter {
        after: Some(after),
        limit: Some(PAGE),
        ..LedgerFilter::default()
    }
}

/// Reads received chunks as one stream, in a thread that may block.
pub struct BodyReader {
    chunks: Receiver<Vec<u8>>,
    chunk: Vec<u8>,
    /// The number of bytes of `chunk` that were read.
    position: usize,
}

impl BodyReader {
    pub fn new(chunks: Receiver<Vec<u8>>) -> BodyReader {
        BodyReader {
            chunks,
            chunk: Vec::new(),
            position: 0,
        }
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.position == self.chunk.len() {
            match self.chunks.blocking_recv() {
                Some(chunk) => (self.chunk, self.position) = (chunk, 0),
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.chunk.len() - self.position);
        buffer[..count].copy_from_slice(&self.chunk[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }
}

/// Fetches all lines after `after`.
///
/// # Errors
/// When the server returns an error, or no response.
pub async fn lines(client: &Client, repo_url: &str, after: u64) -> Result<Vec<String>, ClientError> {
    let mut filter = first_page(after);
    let mut lines = Vec::new();
    loop {
        let page = client.ledger(repo_url, &filter).await?;
        lines.extend(page.lines);
        if page.next <= filter.after {
            return Ok(lines);
        }
        filter.after = page.next;
    }
}
