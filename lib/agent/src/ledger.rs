//! The ledger that a server gives, page by page.

use std::io::Read;

use anyhow::Context;
use coord_intents::ledger::{Point, split};
use coord_protocol::{Client, ClientError, LedgerFilter, LedgerResponse};
use tokio::sync::mpsc::{Receiver, Sender};

/// Most lines of a page.
pub const PAGE: usize = 500;

/// Where the ledger of a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerLocation {
    /// The point after which the lines that are kept begin.
    pub base: Point,
    /// The point of the newest sealed line.
    pub sealed: Point,
}

impl LedgerLocation {
    /// Those that a page names.
    ///
    /// # Errors
    /// When they are no points.
    pub fn of(page: &LedgerResponse) -> anyhow::Result<LedgerLocation> {
        let point = |text: &str| {
            text.parse::<Point>()
                .with_context(|| format!("{text:?} of the server is no point"))
        };
        Ok(LedgerLocation {
            base: point(&page.base)?,
            sealed: point(&page.sealed)?,
        })
    }
}

/// Where the ledger of the repository is.
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

/// The number of the last line of a page, or that of its seal where a filter left all lines out.
pub fn cursor(page: &LedgerResponse) -> Option<u64> {
    let last = page
        .lines
        .last()
        .and_then(|line| split(line.as_bytes()).map(|line| line.seq));
    let sealed = || page.sealed.parse::<Point>().ok().map(|point| point.seq);
    page.next.or_else(sealed).or(last)
}

/// Sends the lines after `after`, with their newlines, for as long as they are received.
///
/// # Errors
/// When the server returns an error, or no response.
pub async fn send_lines(
    client: &Client,
    repo_url: &str,
    after: u64,
    lines: Sender<Vec<u8>>,
) -> Result<(), ClientError> {
    let mut filter = LedgerFilter {
        after: Some(after),
        limit: Some(PAGE),
        ..LedgerFilter::default()
    };
    loop {
        let page = client.ledger(repo_url, &filter).await?;
        let next = page.next;
        let bytes = page
            .lines
            .into_iter()
            .flat_map(|line| (line + "\n").into_bytes())
            .collect();
        if lines.send(bytes).await.is_err() {
            return Ok(());
        }
        match next {
            Some(next) if Some(next) > filter.after => filter.after = Some(next),
            _ => return Ok(()),
        }
    }
}

/// The received body, as a stream for a thread that may block.
pub struct BodyReader {
    parts: Receiver<Vec<u8>>,
    part: Vec<u8>,
    at: usize,
}

impl BodyReader {
    /// The stream of `parts`.
    pub fn new(parts: Receiver<Vec<u8>>) -> BodyReader {
        BodyReader {
            parts,
            part: Vec::new(),
            at: 0,
        }
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.part.len() {
            match self.parts.blocking_recv() {
                Some(part) => (self.part, self.at) = (part, 0),
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.part.len() - self.at);
        buffer[..count].copy_from_slice(&self.part[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// All lines after `after`.
///
/// # Errors
/// When the server returns an error, or no response.
pub async fn lines(client: &Client, repo_url: &str, after: u64) -> Result<Vec<String>, ClientError> {
    let mut filter = LedgerFilter {
        after: Some(after),
        limit: Some(PAGE),
        ..LedgerFilter::default()
    };
    let mut lines = Vec::new();
    loop {
        let page = client.ledger(repo_url, &filter).await?;
        lines.extend(page.lines);
        match page.next {
            Some(next) if Some(next) > filter.after => filter.after = Some(next),
            _ => return Ok(lines),
        }
    }
}
