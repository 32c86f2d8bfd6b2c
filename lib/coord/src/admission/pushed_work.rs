//! The source's verdicts on released work. If the new head is the head of the branch and the working copy is at it, one
//! request to the source suffices for each head at which files were claimed.

use std::collections::BTreeMap;

use crate::domain::work::{Shortfall, Verdict, WorkFacts};
use crate::domain::{CommitSha, FilePath, RepoId};
use crate::source::{Reachable, Source, SourceError};
use crate::state::locks::{Judged, Written};

/// Maximum heads of claims that one request asks about; files of further heads need a release of their own.
const MOST_CLAIM_HEADS: usize = 4;

/// The commits that a release is about.
pub(super) struct Work<'a> {
    pub repo: &'a RepoId,
    /// Head of the branch.
    pub head: &'a CommitSha,
    /// The commit that the caller says it has pushed.
    pub new_head: &'a CommitSha,
    /// The commit of its working copy.
    pub agent_head: &'a CommitSha,
}

impl Work<'_> {
    /// The verdicts on `written`.
    pub async fn judge(&self, source: &dyn Source, written: &[Written]) -> Result<Vec<Judged>, SourceError> {
        let mut claims: BTreeMap<&CommitSha, Vec<FilePath>> = BTreeMap::new();
        for file in written {
            if let Ok(path) = FilePath::parse(&file.path) {
                claims.entry(&file.claim_head).or_default().push(path);
            }
        }
        let is_on_branch = self.is_on_branch(source, self.new_head).await?;
        let is_copy_there =
            self.agent_head.matches(self.new_head) || self.is_on_branch(source, self.agent_head).await?;
        let mut judged = Vec::with_capacity(written.len());
        for (place, (claim_head, paths)) in claims.into_iter().enumerate() {
            let verdicts = if place < MOST_CLAIM_HEADS {
                self.judge_claim(source, claim_head, &paths, is_on_branch, is_copy_there)
                    .await?
            } else {
                vec![Verdict::Missing(Shortfall::Unknown); paths.len()]
            };
            judged.extend(paths.into_iter().zip(verdicts).map(|(path, verdict)| Judged {
                path: path.as_str().to_owned(),
                claim_head: claim_head.clone(),
                verdict,
            }));
        }
        Ok(judged)
    }

    async fn judge_claim(
        &self,
        source: &dyn Source,
        claim_head: &CommitSha,
        paths: &[FilePath],
        is_on_branch: bool,
        is_copy_there: bool,
    ) -> Result<Vec<Verdict>, SourceError> {
        let since_claim = source.compare(self.repo, claim_head, self.new_head, paths).await?;
        let follows_claim = since_claim.descends == Reachable::Yes;
        let is_rewritten = !follows_claim && is_on_branch && self.is_gone(source, claim_head).await?;
        let in_copy = if is_copy_there {
            None
        } else {
            Some(source.compare(self.repo, self.agent_head, self.new_head, paths).await?)
        };
        let facts = |place: usize| WorkFacts {
            is_same_commit: claim_head.matches(self.new_head),
            is_on_branch,
            follows_claim,
            is_rewritten,
            is_same_content: since_claim.is_same(place),
            is_all_there: in_copy.as_ref().is_none_or(|in_copy| in_copy.is_same(place)),
        };
        Ok((0..paths.len()).map(|place| facts(place).verdict()).collect())
    }

    /// Whether the branch no longer contains `claim_head`, once its head.
    async fn is_gone(&self, source: &dyn Source, claim_head: &CommitSha) -> Result<bool, SourceError> {
        Ok(source.is_ancestor(self.repo, claim_head, self.head).await? == Reachable::No)
    }

    async fn is_on_branch(&self, source: &dyn Source, commit: &CommitSha) -> Result<bool, SourceError> {
        if commit.matches(self.head) {
            return Ok(true);
        }
        Ok(source.is_ancestor(self.repo, commit, self.head).await? == Reachable::Yes)
    }
}
