//! Time limits, size limits and retries of requests to GitHub.

use std::time::Duration;

use crate::{MAX_TREE_ENTRIES, MAX_TREE_PATH_BYTES};

/// The limits of all requests to GitHub.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For a new connection: name resolution, TCP and TLS.
    pub connect: Duration,
    /// Until the headers of a response.
    pub headers: Duration,
    /// Between two chunks of a body.
    pub idle: Duration,
    /// For a small request with its retries: a head, an ancestor, a list of commits or branches, a token.
    pub small: Duration,
    /// For a large request: a tree with all its parts, or one blob.
    pub large: Duration,
    /// For one archive, from its first byte to its last, including pauses of the reader.
    pub archive: Duration,
    /// For one call that reads blobs, archive and single ones together.
    pub blobs: Duration,
    /// The pause before each retry after a transient error, plus or minus up to half. The length of the list is the
    /// number of retries.
    pub pauses: Vec<Duration>,
    /// Maximum size of a JSON response in bytes. GitHub truncates a tree at 7 MB.
    pub json_bytes: u64,
    /// Maximum number of files and folders in one tree, as in the local source.
    pub tree_entries: usize,
    /// Maximum bytes of their paths.
    pub tree_path_bytes: usize,
    /// Maximum number of requests for one tree that GitHub truncates.
    pub tree_requests: usize,
    /// Maximum uncompressed bytes of an archive: four times the maximum that a graph scans.
    pub archive_bytes: u64,
    /// Maximum number of blobs fetched one by one in one call; an hour has 5,000 requests.
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
            tree_entries: MAX_TREE_ENTRIES,
            tree_path_bytes: MAX_TREE_PATH_BYTES,
            tree_requests: 1_000,
            archive_bytes: 16 << 30,
            single_blobs: 500,
        }
    }
}
