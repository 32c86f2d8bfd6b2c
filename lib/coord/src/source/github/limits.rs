//! How long GitHub may take, how much it may send, and how often it is asked again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Bounds of everything that is asked of GitHub.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For a new connection: name, TCP and TLS.
    pub connect: Duration,
    /// Until the head of an answer has come.
    pub headers: Duration,
    /// Between two pieces of a body.
    pub idle: Duration,
    /// For a small question with its repetitions: a head, an ancestor, a list of commits or branches, a token.
    pub small: Duration,
    /// For a large one: a tree with all its parts, or one blob.
    pub large: Duration,
    /// For one archive, from its first byte to its last, pauses of the reader included.
    pub archive: Duration,
    /// For one call that reads blobs, archive and single ones together.
    pub blobs: Duration,
    /// The pause before each further try of a request that failed in passing, give or take half of it. Its length is the
    /// number of further tries.
    pub pauses: Vec<Duration>,
    /// The largest JSON answer, in bytes. GitHub cuts a tree off at 7 MB.
    pub json_bytes: u64,
    /// Most files and folders of one tree; as the local source has it.
    pub tree_entries: usize,
    /// Most requests for one tree that GitHub does not give in one piece.
    pub tree_requests: usize,
    /// Most bytes that an archive may unpack to: four times what a graph scans at most.
    pub archive_bytes: u64,
    /// Most blobs that are asked for one by one in one call; an hour has 5,000 requests.
    pub single_blobs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(5),
            headers: Duration::from_secs(10),
            idle: Duration::from_secs(15),
            small: Duration::from_secs(12),
            large: Duration::from_secs(90),
            archive: Duration::from_secs(600),
            blobs: Duration::from_secs(900),
            pauses: vec![Duration::from_millis(150), Duration::from_millis(800)],
            json_bytes: 32 << 20,
            tree_entries: 750_000,
            tree_requests: 1_000,
            archive_bytes: 16 << 30,
            single_blobs: 500,
        }
    }
}

impl Limits {
    /// The pause before the further try number `again` (from 0); none when there shall be no such try.
    pub(super) fn pause(&self, again: usize) -> Option<Duration> {
        let pause = self.pauses.get(again)?;
        // Between half and one and a half times, so that many callers do not come back at one instant. A fresh
        // `RandomState` is the standard library's own source of random bits.
        let spread = RandomState::new().hash_one(again) % 1024;
        Some(pause.mul_f64(0.5 + spread as f64 / 1024.0))
    }
}
