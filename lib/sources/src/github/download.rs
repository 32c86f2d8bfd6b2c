//! A download of an archive: a task receives it, a blocking thread decompresses and scans it, and a short channel
//! between them slows the sender down. The download waits a short time for another pass, because a build requests its
//! files in waves, each in the order of paths, as in the archive.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use tokio::sync::oneshot;
use tokio::time::timeout_at;

use super::address::Slug;
use super::archive::{ArchiveLimits, Pass, PassEnd, PassResult, WantedBlobs, scan};
use super::blob_id::BlobId;
use super::client::{Client, RepositoryRequest};
use super::error::GithubError;
use super::known_tree::KnownTree;
use crate::{BlobSink, SourceError};
use coord_runtime::mutex::lock;

/// How long a download waits for another pass.
const PARK_TIME: Duration = Duration::from_secs(10);
/// Maximum number of waiting downloads.
const MAX_PARKED: usize = 2;
/// Maximum number of chunks of a body between the receiver and the scanner; each has about 16 kB.
const MAX_CHUNKS: usize = 16;
/// Maximum number of blobs behind the position of a download. They are fetched one by one, instead of by another
/// download.
const MAX_BEHIND: usize = 24;
/// Attempts to read an archive: a second one if the first breaks off.
const ATTEMPTS: usize = 2;

/// Downloads that wait for another pass.
#[derive(Debug, Default)]
pub(super) struct Downloads(Mutex<Vec<Download>>);

/// A partly read archive.
#[derive(Debug)]
struct Download {
    tree: Arc<KnownTree>,
    passes: SyncSender<Pass>,
    /// The last requested position in the tree; entries up to it are gone.
    position: Option<u32>,
}

impl Downloads {
    /// Reads `wanted`, whose blobs are all in `tree`, from its archive. Returns the blobs that are not in the archive.
    pub(super) async fn read(
        &self,
        client: &Arc<Client>,
        slug: &Slug,
        tree: &Arc<KnownTree>,
        wanted: WantedBlobs,
        sink: &BlobSink,
    ) -> Result<WantedBlobs, SourceError> {
        let mut remaining = wanted;
        for attempt in 1..=ATTEMPTS {
            let parked = self.take(tree, &remaining).filter(|_| attempt == 1);
            let mut download = match parked {
                Some(download) => download,
                None => Download::open(client, slug, tree)
                    .await
                    .map_err(|error| error.into_source_error(&tree.repo))?,
            };
            let (result, behind) = download.read_pass(remaining, sink).await;
            let Some(result) = result else {
                let why = format!("{}: reading its archive stopped", tree.repo);
                return Err(SourceError::Unreachable(why));
            };
            remaining = result.not_found;
            remaining.extend(behind);
            match result.end {
                PassEnd::Paused => {
                    self.park(download);
                    return Ok(remaining);
                }
                PassEnd::Finished => return Ok(remaining),
                PassEnd::Failed(why) => {
                    tracing::warn!(
                        repo = %tree.repo, commit = %tree.commit, %why, attempt,
                        "an archive cannot be read"
                    );
                    if attempt == ATTEMPTS && remaining.len() > client.transport.limits.single_blobs {
                        let why = format!("{}: its archive cannot be read: {why}", tree.repo);
                        return Err(SourceError::Unreachable(why));
                    }
                }
            }
        }
        Ok(remaining)
    }

    /// A waiting download of `tree` with most of `wanted` still ahead.
    fn take(&self, tree: &Arc<KnownTree>, wanted: &WantedBlobs) -> Option<Download> {
        let mut parked = lock(&self.0);
        let index = parked.iter().position(|download| {
            let behind = wanted.keys().filter(|id| download.next_position(**id).is_none());
            Arc::ptr_eq(&download.tree, tree) && behind.count() <= MAX_BEHIND
        })?;
        Some(parked.remove(index))
    }

    fn park(&self, download: Download) {
        let mut parked = lock(&self.0);
        if parked.len() >= MAX_PARKED {
            parked.remove(0);
        }
        parked.push(download);
    }
}

impl Download {
    async fn open(client: &Arc<Client>, slug: &Slug, tree: &Arc<KnownTree>) -> Result<Self, GithubError> {
        let limits = &client.transport.limits;
        let path = ["tarball", tree.commit.as_str()];
        let request = RepositoryRequest {
            time_limit: limits.large,
            ..client.small_request(&path, &[])
        };
        let mut response = client.open_archive(slug, &request).await?;
        let archive_limits = ArchiveLimits {
            bytes: max_uncompressed_bytes(tree).min(limits.archive_bytes),
            entries: limits.tree_entries.saturating_mul(2),
            deadline: Instant::now() + limits.archive,
        };
        let (sender, chunks) = tokio::sync::mpsc::channel(MAX_CHUNKS);
        let receiving_client = Arc::clone(client);
        tokio::spawn(async move {
            let transport = &receiving_client.transport;
            loop {
                let chunk = match timeout_at(archive_limits.deadline.into(), transport.chunk(&mut response)).await {
                    Ok(Ok(Some(chunk))) => Ok(chunk),
                    Ok(Ok(None)) => return,
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err("it takes too long".to_owned()),
                };
                let is_last = chunk.is_err();
                // The scanner may have ended.
                if sender.send(chunk).await.is_err() || is_last {
                    return;
                }
            }
        });
        let (passes, next_passes) = mpsc::sync_channel::<Pass>(1);
        let scanned_tree = Arc::clone(tree);
        tokio::task::spawn_blocking(move || {
            let body = BlockingBody {
                chunks,
                current: Bytes::new(),
            };
            let next_pass = || next_passes.recv_timeout(PARK_TIME).ok();
            scan(body, &scanned_tree, archive_limits, next_pass);
        });
        Ok(Download {
            tree: Arc::clone(tree),
            passes,
            position: None,
        })
    }

    /// The first position of a blob that is still ahead.
    fn next_position(&self, id: BlobId) -> Option<u32> {
        let mut positions = self.tree.positions(id).iter().copied();
        positions.find(|position| Some(*position) > self.position)
    }

    /// Reads up to the last of `wanted`. Returns the result, or `None` if the scanner is gone, and the blobs behind the
    /// position.
    async fn read_pass(&mut self, wanted: WantedBlobs, sink: &BlobSink) -> (Option<PassResult>, WantedBlobs) {
        let mut ahead = HashMap::with_capacity(wanted.len());
        let mut behind = HashMap::new();
        let mut last_position = self.position;
        for (id, indexes) in wanted {
            match self.next_position(id) {
                Some(position) => {
                    last_position = last_position.max(Some(position));
                    ahead.insert(id, indexes);
                }
                None => {
                    behind.insert(id, indexes);
                }
            }
        }
        self.position = last_position;
        let (done, result) = oneshot::channel();
        let pass = Pass {
            wanted: ahead,
            last_position: last_position.unwrap_or(0),
            sink: Arc::clone(sink),
            done,
        };
        match self.passes.try_send(pass) {
            Ok(()) => (result.await.ok(), behind),
            // The download no longer waits; the caller can open another one.
            Err(mpsc::TrySendError::Full(pass) | mpsc::TrySendError::Disconnected(pass)) => {
                let failure = PassResult {
                    not_found: pass.wanted,
                    end: PassEnd::Failed("the download had ended".to_owned()),
                };
                (Some(failure), behind)
            }
        }
    }
}

/// Maximum uncompressed size of a tree's archive: each file with its headers and twice its size, because attributes can
/// change line ends, and as many folders as files.
fn max_uncompressed_bytes(tree: &KnownTree) -> u64 {
    const HEADERS: u64 = 8 << 10;
    let files = tree.len() as u64;
    tree.bytes()
        .saturating_mul(2)
        .saturating_add(files.saturating_mul(2 * HEADERS))
        .saturating_add(1 << 20)
}

/// The body of a response, for a thread that may block while it waits for the next chunk.
struct BlockingBody {
    chunks: tokio::sync::mpsc::Receiver<Result<Bytes, String>>,
    current: Bytes,
}

impl Read for BlockingBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            match self.chunks.blocking_recv() {
                Some(Ok(chunk)) => self.current = chunk,
                Some(Err(why)) => return Err(io::Error::other(why)),
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.current.len());
        self.current.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}
