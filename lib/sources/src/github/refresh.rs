//! Heads that the caller remembers: fetched with its ETag, in a single flight for callers with the same ETag, and never
//! taken from the cache.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::address::Slug;
use super::client::Client;
use super::condition::{Condition, is_entity_tag};
use super::error::GithubError;
use super::heads::{CachedHead, HeadResponse, Heads};
use crate::{KnownHead, RefreshedHead, SourceError};
use coord_domain::{Branch, CommitSha, RepoId};

/// How long a missing branch is not fetched again. It is short, so that a caller that pushes the branch need not wait.
const MISSING_LIFETIME: Duration = Duration::from_secs(2);

impl Heads {
    /// The current head of `branch` at GitHub.
    pub(super) async fn refresh(
        self: &Arc<Self>,
        client: &Arc<Client>,
        slug: &Slug,
        repo: &RepoId,
        branch: &Branch,
        known: Option<&KnownHead>,
    ) -> Result<RefreshedHead, SourceError> {
        let key = (repo.clone(), branch.clone());
        // If the caller knows no head, repeated requests for a missing branch get the cached error.
        let missing = self
            .cached_head(&key)
            .filter(|cached| known.is_none() && cached.requested_at.elapsed() < MISSING_LIFETIME);
        if let Some(CachedHead { result: Err(error), .. }) = missing {
            return Err(error);
        }
        let condition = known.and_then(Condition::from_head);
        let is_known = known.is_some();
        let flight = (repo.clone(), branch.clone(), condition.clone());
        let (heads, client, slug) = (Arc::clone(self), Arc::clone(client), slug.clone());
        let refresh = move || async move {
            heads
                .fetch_with_condition(&client, &slug, key, condition, is_known)
                .await
        };
        self.refreshes.join(flight, refresh).await?
    }

    async fn fetch_with_condition(
        &self,
        client: &Client,
        slug: &Slug,
        key: (RepoId, Branch),
        condition: Option<Condition>,
        is_known: bool,
    ) -> Result<RefreshedHead, SourceError> {
        let requested_at = Instant::now();
        let etag = condition.as_ref().map(|condition| &condition.etag);
        let response = self.fetch_conditional(client, slug, &key, etag, is_known).await?;
        let (result, etag, is_whole) = match (response, condition) {
            (HeadResponse::NotModified, Some(known)) => (Ok(known.commit), Some(known.etag), false),
            (HeadResponse::NotModified, None) => return Err(GithubError::Unexpected(304).into_source_error(&key.0)),
            (HeadResponse::Head(commit, etag), _) => (Ok(commit), etag, true),
            (HeadResponse::Missing(error), _) => (Err(error), None, true),
        };
        // After a 304, this process does not know the time of the full response. So it caches no ETag, unless the same
        // head is already cached.
        let same_head = self
            .cached_head(&key)
            .filter(|cached| !is_whole && is_same_commit(cached, &result));
        let head = match same_head {
            Some(cached) => CachedHead { requested_at, ..cached },
            None => CachedHead {
                result: result.clone(),
                etag: etag.clone().filter(|_| is_whole),
                requested_at,
                read_at: requested_at,
            },
        };
        self.remember(key, head);
        let etag = etag.as_ref().and_then(|etag| etag.to_str().ok());
        Ok(RefreshedHead {
            commit: result?,
            etag: etag.filter(|etag| is_entity_tag(etag)).map(str::to_owned),
            is_whole,
        })
    }
}

fn is_same_commit(cached: &CachedHead, result: &Result<CommitSha, SourceError>) -> bool {
    matches!((&cached.result, result), (Ok(cached), Ok(commit)) if cached == commit)
}
