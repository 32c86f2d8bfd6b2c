//! Whether released files are unchanged since their claim, if the store alone has proved the push. The source is asked
//! after the release, for a warning. A release never fails because of it, and it is skipped once the caller has used
//! half of its lookups.

use std::collections::BTreeMap;

use super::pushed_work::MAX_CLAIM_HEADS;
use super::request::Admission;
use crate::error::ApiError;
use coord_domain::{CommitSha, FilePath};
use coord_sources::{Reachable, Source};
use coord_state::admission::Lookup;
use coord_state::locks::WrittenFile;

/// Lookups that must remain for requests that depend on them.
const SPARED: u32 = 10;

impl Admission<'_> {
    /// The files of `released` that are known to be the same in `new_head` as at their claim. Each head at which files
    /// were claimed takes a lookup. Sources that keep no heads in the store are asked before the release.
    pub async fn unchanged_since_claim(&self, new_head: &CommitSha, released: &[WrittenFile]) -> Vec<String> {
        let mut unchanged = Vec::new();
        let Some(source) = self.stored_head_source.filter(|_| !released.is_empty()) else {
            return unchanged;
        };
        let mut claims: BTreeMap<&CommitSha, Vec<FilePath>> = BTreeMap::new();
        for file in released {
            // A path that an earlier version stored may be invalid now.
            if let Ok(path) = FilePath::parse(&file.path) {
                claims.entry(&file.claim_head).or_default().push(path);
            }
        }
        let comparisons = async {
            for (claim_head, paths) in claims.into_iter().take(MAX_CLAIM_HEADS) {
                unchanged.extend(self.find_unchanged(source, claim_head, new_head, paths).await?);
            }
            Ok::<(), ApiError>(())
        };
        match tokio::time::timeout(self.app.locks.comparison_time, comparisons).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, repo = %self.repo, "the released files could not be compared"),
            Err(_) => tracing::debug!(repo = %self.repo, "the released files were not compared in time"),
        }
        unchanged
    }

    async fn find_unchanged(
        &self,
        source: &dyn Source,
        claim_head: &CommitSha,
        new_head: &CommitSha,
        paths: Vec<FilePath>,
    ) -> Result<impl Iterator<Item = String> + use<>, ApiError> {
        self.count_lookups_sparing(SPARED, Lookup::Commits, 1).await?;
        let comparison = source.compare(self.repo, claim_head, new_head, &paths).await?;
        let follows = comparison.descends == Reachable::Yes;
        let paths = paths.into_iter().enumerate();
        Ok(paths
            .filter(move |(index, _)| follows && comparison.is_same(*index))
            .map(|(_, path)| path.as_str().to_owned()))
    }
}
