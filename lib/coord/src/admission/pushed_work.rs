//! The source's verdicts on released work. If the new head is the head of the branch and the working copy is at it, one
//! request to the source suffices for each head at which files were claimed.

use std::collections::BTreeMap;

use crate::domain::work::{Shortfall, Verdict, WorkFacts};
use crate::domain::{Branch, CommitSha, FilePath, RepoId};
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
                blob: String::new(),
            }));
        }
        Ok(judged)
    }

    /// `judged`, where what the branch does not have is looked for on `work_branch`.
    pub async fn judge_on_work_branch(
        &self,
        source: &dyn Source,
        work_branch: &Branch,
        mut judged: Vec<Judged>,
    ) -> Result<Vec<Judged>, SourceError> {
        let missing = |judged: &&mut Judged| matches!(judged.verdict, Verdict::Missing(_));
        let written: Vec<Written> = judged
            .iter_mut()
            .filter(missing)
            .map(|judged| judged.written())
            .collect();
        if written.is_empty() {
            return Ok(judged);
        }
        let head = match source.head(self.repo, work_branch).await {
            Ok(head) => head,
            // It was never pushed.
            Err(SourceError::UnknownBranch { .. }) => return Ok(judged),
            Err(error) => return Err(error),
        };
        let mut there = Work { head: &head, ..*self }.judge(source, &written).await?;
        let is_pushed = |judged: &&mut Judged| judged.verdict == Verdict::Pushed;
        let paths: Vec<FilePath> = there
            .iter_mut()
            .filter(is_pushed)
            .filter_map(|judged| FilePath::parse(&judged.path).ok())
            .collect();
        let blobs = match paths.is_empty() {
            true => Vec::new(),
            false => source.blobs_at(self.repo, self.new_head, &paths).await?,
        };
        for (judged, blob) in there.iter_mut().filter(is_pushed).zip(blobs) {
            (judged.verdict, judged.blob) = (Verdict::Waiting, blob.unwrap_or_default());
        }
        let mut there: BTreeMap<String, Judged> = there.into_iter().map(|one| (one.path.clone(), one)).collect();
        for one in &mut judged {
            if let Some(on_work_branch) = there.remove(&one.path) {
                *one = on_work_branch;
            }
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
