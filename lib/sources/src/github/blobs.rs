//! Contents of files: a few one by one, many from the archive of their commit.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;

use super::address::Slug;
use super::archive::WantedBlobs;
use super::blob_id::BlobId;
use super::client::{Client, RAW, RepositoryRequest};
use super::download::Downloads;
use super::error::GithubError;
use super::known_tree::{KnownTree, KnownTrees};
use super::transport::within;
use crate::{Blob, BlobSink, SourceError};
use coord_domain::RepoId;
use coord_runtime::retry;

/// Maximum number of concurrent requests for blobs.
const MAX_CONCURRENT: usize = 8;
/// Up to this number, blobs are always fetched one by one.
const FEW: usize = 24;
/// Up to this number, blobs are fetched one by one if the archive has at least [`BYTES_PER_REQUEST`] for each.
const SEVERAL: usize = 400;
/// The bytes of an archive that cost as much as one request.
const BYTES_PER_REQUEST: u64 = 1 << 20;

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
    /// Passes every blob to the sink, each once. After an error, some may be missing.
    pub(super) async fn run(
        self,
        client: &Arc<Client>,
        trees: &KnownTrees,
        downloads: &Downloads,
    ) -> Result<(), SourceError> {
        let mut wanted: WantedBlobs = HashMap::with_capacity(self.blobs.len());
        let mut results = Vec::new();
        for (index, blob) in self.blobs.iter().enumerate() {
            match BlobId::parse(blob) {
                Some(id) => wanted.entry(id).or_default().push(index),
                None => results.push((vec![index], BlobResult::Unreadable)),
            }
        }
        let ids: Vec<BlobId> = wanted.keys().copied().collect();
        let tree = trees.find(&self.repo, &ids);
        if let Some(tree) = &tree {
            wanted.retain(|id, indexes| match tree.size(*id) {
                Some(size) if size > self.max_bytes => {
                    results.push((std::mem::take(indexes), BlobResult::TooLarge(size)));
                    false
                }
                _ => true,
            });
        }
        self.pass_to_sink(results).await?;
        if let Some(tree) = tree.filter(|tree| is_archive_cheaper(tree, wanted.len())) {
            let (in_tree, others) = wanted.into_iter().partition(|(id, _)| tree.size(*id).is_some());
            wanted = others;
            wanted.extend(downloads.read(client, &self.slug, &tree, in_tree, &self.sink).await?);
        } else if wanted.len() > client.transport.limits.single_blobs {
            let why = format!("{}: {} requested blobs are in no listed tree", self.repo, wanted.len());
            return Err(SourceError::Unreachable(why));
        }
        self.fetch_one_by_one(client, wanted).await
    }

    async fn fetch_one_by_one(&self, client: &Arc<Client>, wanted: WantedBlobs) -> Result<(), SourceError> {
        let max_blobs = client.transport.limits.single_blobs;
        let mut blobs: Vec<(Vec<usize>, BlobId)> = wanted.into_iter().map(|(id, indexes)| (indexes, id)).collect();
        // In the order of the request.
        blobs.sort_unstable();
        if blobs.len() > max_blobs {
            let left_out = blobs.split_off(max_blobs);
            tracing::warn!(
                repo = %self.repo, left_out = left_out.len(),
                "skipping files that are not in the archive"
            );
            let unread = left_out
                .into_iter()
                .map(|(indexes, _)| (indexes, BlobResult::Unreadable));
            self.pass_to_sink(unread.collect()).await?;
        }
        let fetches = blobs.into_iter().map(|(indexes, id)| async move {
            let Some(blob) = indexes.first().and_then(|index| self.blobs.get(*index)) else {
                return Ok(());
            };
            let result = self
                .fetch(client, blob, id)
                .await
                .map_err(|error| error.into_source_error(&self.repo))?;
            self.pass_to_sink(vec![(indexes, result)]).await
        });
        let mut fetches = stream::iter(fetches).buffer_unordered(MAX_CONCURRENT);
        while let Some(result) = fetches.next().await {
            result?;
        }
        Ok(())
    }

    /// Fetches one blob. A missing blob is a result; an unreadable repository is an error.
    async fn fetch(&self, client: &Client, blob: &str, id: BlobId) -> Result<BlobResult, GithubError> {
        let limit = client.transport.limits.large;
        let path = ["git", "blobs", blob];
        let request = RepositoryRequest {
            accept: RAW,
            max_bytes: self.max_bytes,
            time_limit: limit,
            ..client.small_request(&path, &[])
        };
        let mut retries = 0;
        loop {
            let read = async {
                let mut response = client.open(&self.slug, &request).await?;
                let mut content = Vec::new();
                let mut size = 0;
                while let Some(chunk) = client.transport.chunk(&mut response).await? {
                    size += chunk.len() as u64;
                    if size <= self.max_bytes {
                        content.extend_from_slice(&chunk);
                    } else {
                        // The rest is read only for the size.
                        content = Vec::new();
                    }
                }
                Ok((content, size))
            };
            match within(limit, "blob", read).await {
                Ok((_, size)) if size > self.max_bytes => return Ok(BlobResult::TooLarge(size)),
                Ok((content, _)) if id.matches(&content) => return Ok(BlobResult::Content(content)),
                Ok(_) => {
                    tracing::warn!(
                        repo = %self.repo, blob,
                        "GitHub returned content that does not match the blob's id"
                    );
                    return Ok(BlobResult::Unreadable);
                }
                Err(GithubError::NotFound | GithubError::Forbidden(_) | GithubError::NoSuchCommit) => {
                    return Ok(BlobResult::Unreadable);
                }
                // The response broke off.
                Err(error) if error.is_transient() => match retry::pause(&client.transport.limits.pauses, retries) {
                    Some(pause) => {
                        retries += 1;
                        tokio::time::sleep(pause).await;
                    }
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            }
        }
    }

    /// Calls the sink on a blocking thread, because it scans the content.
    async fn pass_to_sink(&self, results: Vec<(Vec<usize>, BlobResult)>) -> Result<(), SourceError> {
        if results.is_empty() {
            return Ok(());
        }
        let sink = Arc::clone(&self.sink);
        let scan = tokio::task::spawn_blocking(move || {
            for (indexes, result) in &results {
                let blob = match result {
                    BlobResult::Content(content) => Blob::Content(content),
                    BlobResult::TooLarge(size) => Blob::TooLarge(*size),
                    BlobResult::Unreadable => Blob::Unreadable,
                };
                for index in indexes {
                    sink(*index, blob);
                }
            }
        });
        let result = scan.await;
        result.map_err(|error| SourceError::Unreachable(format!("reading stopped: {error}")))
    }
}

/// Whether reading `count` blobs from the archive is cheaper than one by one.
fn is_archive_cheaper(tree: &KnownTree, count: usize) -> bool {
    count > FEW && (count > SEVERAL || tree.bytes() / (count as u64) < BYTES_PER_REQUEST)
}
