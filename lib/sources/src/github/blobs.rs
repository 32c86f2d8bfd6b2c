//! Contents of files: a few one by one, many from the archive of their commit.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use tokio::time::timeout;

use super::address::Slug;
use super::archive::WantedBlobs;
use super::blob_id::BlobId;
use super::client::{Client, RAW, RepositoryRequest};
use super::download::Downloads;
use super::error::GithubError;
use super::known_tree::{KnownTree, KnownTrees};
use crate::{Blob, BlobSink, SourceError};
use coord_domain::RepoId;
use coord_runtime::retry;

/// Concurrent requests for blobs.
const AT_ONCE: usize = 8;
/// Up to this number, blobs are always fetched one by one.
const FEW: usize = 24;
/// Up to this number, blobs are fetched one by one if the archive has at least [`WORTH_BYTES`] for each.
const SEVERAL: usize = 400;
/// The bytes of an archive that one request is worth.
const WORTH_BYTES: u64 = 1 << 20;

/// A request to read blobs, and their receiver.
pub(super) struct BlobRequest {
    pub(super) repo: RepoId,
    pub(super) slug: Slug,
    pub(super) blobs: Vec<String>,
    pub(super) max_bytes: u64,
    pub(super) sink: BlobSink,
}

/// The result of reading one blob, owned.
enum BlobResult {
    Content(Vec<u8>),
    TooLarge(u64),
    Unreadable,
}

impl BlobRequest {
    /// Passes every blob to the sink, once each. After an error, some may be missing.
    pub(super) async fn run(
        self,
        client: &Arc<Client>,
        trees: &KnownTrees,
        downloads: &Downloads,
    ) -> Result<(), SourceError> {
        let mut wanted: WantedBlobs = HashMap::with_capacity(self.blobs.len());
        let mut answered = Vec::new();
        for (index, blob) in self.blobs.iter().enumerate() {
            match BlobId::parse(blob) {
                Some(id) => wanted.entry(id).or_default().push(index),
                None => answered.push((vec![index], BlobResult::Unreadable)),
            }
        }
        let ids: Vec<BlobId> = wanted.keys().copied().collect();
        let tree = trees.find(&self.repo, &ids);
        if let Some(tree) = &tree {
            wanted.retain(|id, indexes| match tree.size(*id) {
                Some(size) if size > self.max_bytes => {
                    answered.push((std::mem::take(indexes), BlobResult::TooLarge(size)));
                    false
                }
                _ => true,
            });
        }
        self.hand_over(answered).await?;
        if let Some(tree) = tree.filter(|tree| is_for_archive(tree, wanted.len())) {
            let (in_tree, others) = wanted.into_iter().partition(|(id, _)| tree.size(*id).is_some());
            wanted = others;
            wanted.extend(downloads.read(client, &self.slug, &tree, in_tree, &self.sink).await?);
        } else if wanted.len() > client.transport.limits.single_blobs {
            let why = format!(
                "{}: {} blobs are wanted of no tree that was listed",
                self.repo,
                wanted.len()
            );
            return Err(SourceError::Unreachable(why));
        }
        self.one_by_one(client, wanted).await
    }

    async fn one_by_one(&self, client: &Arc<Client>, wanted: WantedBlobs) -> Result<(), SourceError> {
        let most = client.transport.limits.single_blobs;
        let mut waiting: Vec<(Vec<usize>, BlobId)> = wanted.into_iter().map(|(id, indexes)| (indexes, id)).collect();
        // In the order of the request.
        waiting.sort_unstable();
        if waiting.len() > most {
            let left_out = waiting.split_off(most);
            tracing::warn!(repo = %self.repo, left_out = left_out.len(), "files that are not in the archive are left out");
            let unread = left_out
                .into_iter()
                .map(|(indexes, _)| (indexes, BlobResult::Unreadable));
            self.hand_over(unread.collect()).await?;
        }
        let reads = waiting.into_iter().map(|(indexes, id)| async move {
            let Some(blob) = indexes.first().and_then(|index| self.blobs.get(*index)) else {
                return Ok(());
            };
            let found = self
                .read(client, blob, id)
                .await
                .map_err(|error| error.about(&self.repo))?;
            self.hand_over(vec![(indexes, found)]).await
        });
        let mut reads = stream::iter(reads).buffer_unordered(AT_ONCE);
        while let Some(read) = reads.next().await {
            read?;
        }
        Ok(())
    }

    /// Reads one blob. A missing blob is a result; an unreadable repository is an error.
    async fn read(&self, client: &Client, blob: &str, id: BlobId) -> Result<BlobResult, GithubError> {
        let limit = client.transport.limits.large;
        let path = ["git", "blobs", blob];
        let ask = RepositoryRequest {
            path: &path,
            query: &[],
            accept: RAW,
            etag: None,
            max_bytes: self.max_bytes,
            within: limit,
            is_about_known_head: false,
        };
        let mut again = 0;
        loop {
            let reading = async {
                let mut response = client.open(&self.slug, &ask).await?;
                let mut content = Vec::new();
                let mut size = 0;
                while let Some(piece) = client.transport.chunk(&mut response).await? {
                    size += piece.len() as u64;
                    if size <= self.max_bytes {
                        content.extend_from_slice(&piece);
                    } else {
                        // Read on to the end, to get the size.
                        content = Vec::new();
                    }
                }
                Ok((content, size))
            };
            let late = || GithubError::Timeout { subject: "blob", limit };
            match timeout(limit, reading).await.unwrap_or_else(|_| Err(late())) {
                Ok((_, size)) if size > self.max_bytes => return Ok(BlobResult::TooLarge(size)),
                Ok((content, _)) if id.is_of(&content) => return Ok(BlobResult::Content(content)),
                Ok(_) => {
                    tracing::warn!(repo = %self.repo, blob, "GitHub gave other content than the blob's");
                    return Ok(BlobResult::Unreadable);
                }
                Err(GithubError::NotFound | GithubError::Forbidden(_) | GithubError::NoSuchCommit) => {
                    return Ok(BlobResult::Unreadable);
                }
                // The response broke off.
                Err(error) if error.is_passing() => match retry::pause(&client.transport.limits.pauses, again) {
                    Some(pause) => {
                        again += 1;
                        tokio::time::sleep(pause).await;
                    }
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs on a blocking thread, because the sink scans the content.
    async fn hand_over(&self, found: Vec<(Vec<usize>, BlobResult)>) -> Result<(), SourceError> {
        if found.is_empty() {
            return Ok(());
        }
        let sink = Arc::clone(&self.sink);
        let handing = tokio::task::spawn_blocking(move || {
            for (indexes, found) in &found {
                let blob = match found {
                    BlobResult::Content(content) => Blob::Content(content),
                    BlobResult::TooLarge(size) => Blob::TooLarge(*size),
                    BlobResult::Unreadable => Blob::Unreadable,
                };
                for index in indexes {
                    sink(*index, blob);
                }
            }
        });
        handing
            .await
            .map_err(|error| SourceError::Unreachable(format!("reading stopped: {error}")))
    }
}

/// Whether reading `count` blobs from the archive is cheaper than one by one.
fn is_for_archive(tree: &KnownTree, count: usize) -> bool {
    count > FEW && (count > SEVERAL || tree.bytes() / (count as u64) < WORTH_BYTES)
}
