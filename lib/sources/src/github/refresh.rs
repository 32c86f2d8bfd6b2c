//! Heads that are remembered elsewhere: fetched with the ETag from there, in a single flight for callers with the same ETag,
//! and never taken from memory.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::address::Slug;
use super::client::Client;
use super::condition::{Condition, is_entity_tag};
use super::error::GithubError;
use super::heads::{HeadResponse, Heads, KnownBranchHead};
use crate::{KnownHead, RefreshedHead, SourceError};
use coord_domain::{Branch, CommitSha, RepoId};

/// How long a missing branch is not fetched again: short, so that a caller who pushes it then need not wait.
const MISSING_FOR: Duration = Duration::from_secs(2);

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
        // No head is known: repeated requests for a missing branch get the cached error.
        let missing = self
            .known_head(&key)
            .filter(|own| known.is_none() && own.requested_at.elapsed() < MISSING_FOR);
        if let Some(KnownBranchHead { answer: Err(error), .. }) = missing {
            return Err(error);
        }
        let before = known.and_then(Condition::of);
        let is_known = known.is_some();
        let flight = (repo.clone(), branch.clone(), before.clone());
        let (heads, client, slug) = (Arc::clone(self), Arc::clone(client), slug.clone());
        let ask = move || async move { heads.ask_with(&client, &slug, key, before, is_known).await };
        self.refreshing.join(flight, ask).await?
    }

    async fn ask_with(
        &self,
        client: &Client,
        slug: &Slug,
        key: (RepoId, Branch),
        before: Option<Condition>,
        is_known: bool,
    ) -> Result<RefreshedHead, SourceError> {
        let requested_at = Instant::now();
        let etag = before.as_ref().map(|before| &before.etag);
        let (answer, etag, is_whole) = match (
            self.fetch_conditional(client, slug, &key, etag, is_known).await?,
            before,
        ) {
            (HeadResponse::NotModified, Some(before)) => (Ok(before.commit), Some(before.etag), false),
            (HeadResponse::NotModified, None) => return Err(GithubError::Unexpected(304).about(&key.0)),
            (HeadResponse::Head(commit, etag), _) => (Ok(commit), etag, true),
            (HeadResponse::Failed(error), _) => (Err(error), None, true),
        };
        // Only a full response has a time. For a 304, only the caller's memory has it, so this process sends no ETag next
        // time, unless it knows that head itself.
        let own = self.known_head(&key).filter(|own| is_of(own, &answer) && !is_whole);
        let known = match own {
            Some(own) => KnownBranchHead { requested_at, ..own },
            None => KnownBranchHead {
                answer: answer.clone(),
                etag: etag.clone().filter(|_| is_whole),
                requested_at,
                read: requested_at,
            },
        };
        self.remember(key, known);
        let etag = etag.as_ref().and_then(|etag| etag.to_str().ok());
        Ok(RefreshedHead {
            commit: answer?,
            etag: etag.filter(|etag| is_entity_tag(etag)).map(str::to_owned),
            is_whole,
        })
    }
}

fn is_of(known: &KnownBranchHead, answer: &Result<CommitSha, SourceError>) -> bool {
    matches!((&known.answer, answer), (Ok(known), Ok(commit)) if known == commit)
}
