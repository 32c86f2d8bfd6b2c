//! A download of an archive: a task receives it, a blocking thread decompresses and scans it, and a short channel between
//! them slows the sender down. The download waits shortly for another pass, because a graph requests its files in waves, in
//! the order of paths, as in the archive.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use tokio::sync::oneshot;
use tokio::time::timeout_at;

use super::address::Slug;
use super::archive::{Bounds, End, Pass, PassResult, WantedBlobs, scan};
use super::blob_id::BlobId;
use super::client::{Client, JSON, RepositoryRequest};
use super::error::GithubError;
use super::known_tree::KnownTree;
use crate::{BlobSink, SourceError};

/// How long a download waits for another pass.
const PARKED_FOR: Duration = Duration::from_secs(10);
/// Maximum of waiting downloads.
const MOST_PARKED: usize = 2;
/// Pieces of a body between the receiver and the scanner; each has about 16 kB.
const PIECES: usize = 16;
/// Maximum blobs behind the position of a download, which are fetched one by one instead of by another download.
const FEW: usize = 24;
/// Attempts for an archive: a second one if it breaks off.
const ATTEMPTS: usize = 2;

/// Downloads that wait for another pass.
#[derive(Debug, Default)]
pub(super) struct Downloads(Mutex<Vec<Download>>);

/// A partly read archive.
#[derive(Debug)]
struct Download {
    tree: Arc<KnownTree>,
    passes: SyncSender<Pass>,
    /// The last place requested; entries up to it are gone.
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
        let mut left = wanted;
        for attempt in 1..=ATTEMPTS {
            let parked = self.take(tree, &left).filter(|_| attempt == 1);
            let mut download = match parked {
                Some(download) => download,
                None => Download::open(client, slug, tree)
                    .await
                    .map_err(|error| error.about(&tree.repo))?,
            };
            let (passed, behind) = download.pass(left, sink).await;
            let Some(passed) = passed else {
                let why = format!("{}: reading its archive stopped", tree.repo);
                return Err(SourceError::Unreachable(why));
            };
            left = passed.left;
            left.extend(behind);
            match passed.end {
                End::Paused => {
                    self.park(download);
                    return Ok(left);
                }
                End::Finished => return Ok(left),
                End::Failed(why) => {
                    tracing::warn!(repo = %tree.repo, commit = %tree.commit, %why, attempt, "an archive cannot be read");
                    let is_last = attempt == ATTEMPTS && left.len() > client.transport.limits.single_blobs;
                    if is_last {
                        let why = format!("{}: its archive cannot be read: {why}", tree.repo);
                        return Err(SourceError::Unreachable(why));
                    }
                }
            }
        }
        Ok(left)
    }

    /// A waiting download of `tree` with most of `wanted` still ahead.
    fn take(&self, tree: &Arc<KnownTree>, wanted: &WantedBlobs) -> Option<Download> {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = parked.iter().position(|download| {
            let behind = wanted.keys().filter(|id| download.next_place(**id).is_none());
            Arc::ptr_eq(&download.tree, tree) && behind.count() <= FEW
        })?;
        Some(parked.remove(place))
    }

    fn park(&self, download: Download) {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if parked.len() >= MOST_PARKED {
            parked.remove(0);
        }
        parked.push(download);
    }
}

impl Download {
    async fn open(client: &Arc<Client>, slug: &Slug, tree: &Arc<KnownTree>) -> Result<Self, GithubError> {
        let limits = &client.transport.limits;
        let path = ["tarball", tree.commit.as_str()];
        let ask = RepositoryRequest {
            path: &path,
            query: &[],
            accept: JSON,
            etag: None,
            max_bytes: 0,
            within: limits.large,
            is_about_known_head: false,
        };
        let mut response = client.open_archive(slug, &ask).await?;
        let bounds = Bounds {
            bytes: unpacked_bytes(tree).min(limits.archive_bytes),
            entries: limits.tree_entries.saturating_mul(2),
            until: Instant::now() + limits.archive,
        };
        let (pieces, receiver) = tokio::sync::mpsc::channel(PIECES);
        let receiving = Arc::clone(client);
        tokio::spawn(async move {
            loop {
                let piece = match timeout_at(bounds.until.into(), receiving.transport.chunk(&mut response)).await {
                    Ok(Ok(Some(piece))) => Ok(piece),
                    Ok(Ok(None)) => return,
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err("it takes too long".to_owned()),
                };
                let is_last = piece.is_err();
                // The scanner may be done.
                if pieces.send(piece).await.is_err() || is_last {
                    return;
                }
            }
        });
        let (passes, waiting) = mpsc::sync_channel::<Pass>(1);
        let scanned = Arc::clone(tree);
        tokio::task::spawn_blocking(move || {
            let received = Received {
                pieces: receiver,
                piece: Bytes::new(),
            };
            scan(received, &scanned, bounds, || waiting.recv_timeout(PARKED_FOR).ok());
        });
        Ok(Download {
            tree: Arc::clone(tree),
            passes,
            position: None,
        })
    }

    /// The first place of a blob that is still ahead.
    fn next_place(&self, id: BlobId) -> Option<u32> {
        let places = self.tree.places(id);
        places.iter().copied().find(|place| Some(*place) > self.position)
    }

    /// Reads up to the last of `wanted`, and returns the blobs behind the position. The result is `None` if the scanner is
    /// gone.
    async fn pass(&mut self, wanted: WantedBlobs, sink: &BlobSink) -> (Option<PassResult>, WantedBlobs) {
        let mut ahead = HashMap::with_capacity(wanted.len());
        let mut behind = HashMap::new();
        let mut last = self.position;
        for (id, indexes) in wanted {
            match self.next_place(id) {
                Some(place) => {
                    last = last.max(Some(place));
                    ahead.insert(id, indexes);
                }
                None => {
                    behind.insert(id, indexes);
                }
            }
        }
        self.position = last;
        let (done, passed) = oneshot::channel();
        let pass = Pass {
            wanted: ahead,
            last: last.unwrap_or(0),
            sink: Arc::clone(sink),
            done,
        };
        match self.passes.try_send(pass) {
            Ok(()) => (passed.await.ok(), behind),
            // Its waiting time was over; the caller can open another download.
            Err(mpsc::TrySendError::Full(pass) | mpsc::TrySendError::Disconnected(pass)) => {
                let gone = PassResult {
                    left: pass.wanted,
                    end: End::Failed("the download had ended".to_owned()),
                };
                (Some(gone), behind)
            }
        }
    }
}

/// Maximum uncompressed size of a tree's archive: every file with its headers, twice its size for line ends that attributes
/// change, and as many folders as files.
fn unpacked_bytes(tree: &KnownTree) -> u64 {
    const HEADERS: u64 = 8 << 10;
    let files = tree.len() as u64;
    tree.bytes()
        .saturating_mul(2)
        .saturating_add(files.saturating_mul(2 * HEADERS))
        .saturating_add(1 << 20)
}

/// The received bytes, for a thread that may block on them.
struct Received {
    pieces: tokio::sync::mpsc::Receiver<Result<Bytes, String>>,
    piece: Bytes,
}

impl Read for Received {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                Some(Ok(piece)) => self.piece = piece,
                Some(Err(why)) => return Err(io::Error::other(why)),
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}
