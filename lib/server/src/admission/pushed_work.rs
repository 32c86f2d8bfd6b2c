//! The source's verdicts on released work. If the new head is the head of the branch and the working copy is at it, one
//! request to the source suffices for each head at which files were claimed. Known answers are not requested again, and
//! a commit that GitHub does not have ends all requests.

use std::collections::{BTreeMap, HashMap};

use super::request::Admission;
use crate::error::ApiError;
use crate::heads;
use coord_domain::work::{Shortfall, Verdict, WorkFacts};
use coord_domain::{Branch, CommitSha, FilePath};
use coord_sources::{Comparison, KnownHead, Reachable, Source, SourceError};
use coord_state::admission::Lookup;
use coord_state::locks::{JudgedFile, WrittenFile};

/// Maximum number of claim heads that one release checks at GitHub, each with a lookup. Files claimed at further heads
/// need a separate release.
pub(super) const MAX_CLAIM_HEADS: usize = 4;

/// The same for a clone, where each head costs a search.
const MAX_CLAIM_HEADS_PER_CLONE: usize = 64;

impl Admission<'_> {
    /// The source's verdicts on `written`, if `new_head` was pushed from a working copy at `agent_head`. A stored head
    /// is refreshed first unless it is `new_head`, because the caller says that it has just pushed.
    pub async fn judge_work(
        &self,
        stored_head: KnownHead,
        new_head: &CommitSha,
        agent_head: &CommitSha,
        written: &[WrittenFile],
    ) -> Result<Vec<JudgedFile>, ApiError> {
        let source = self.app.source.as_deref().ok_or(ApiError::Internal)?;
        if self.stored_head_source.is_some() {
            // The script has counted the first lookup in this repository.
            self.take_lookups(Lookup::Commits, (1, 0))?;
        }
        let head = match (self.fetched_head(), self.stored_head_source) {
            (None, Some(source)) if !new_head.matches(&stored_head.commit) => {
                heads::refresh(&*self.app.store, source, self.repo, self.branch, Some(&stored_head)).await?
            }
            _ => stored_head.commit,
        };
        let work = WorkJudgment::new(self, source, (new_head, agent_head), written);
        match work.judge(&head, self.work_branch).await {
            Err(error) => Err(self.distrust_if_renamed(error).await?),
            verdicts => verdicts,
        }
    }
}

/// The work of a release, and the known facts about it.
struct WorkJudgment<'a> {
    admission: &'a Admission<'a>,
    source: &'a dyn Source,
    /// The commit that the caller says it has pushed.
    new_head: CommitSha,
    /// The commit of the caller's working copy.
    agent_head: &'a CommitSha,
    files: Vec<ReleasedFile>,
    /// Files whose stored paths are no longer valid: the source cannot be asked about them.
    invalid_files: Vec<JudgedFile>,
    /// The indexes in `files`, by the head of their claim.
    claims: BTreeMap<CommitSha, Vec<usize>>,
    /// Whether the script that asked for the verdicts has counted the next lookup.
    is_next_counted: bool,
    relations: HashMap<(CommitSha, CommitSha), Reachable>,
    /// Comparisons of the new head with earlier commits.
    comparisons: HashMap<CommitSha, Comparison>,
    /// The comparison of the working copy with the new head.
    copy_comparison: Option<Comparison>,
}

struct ReleasedFile {
    path: FilePath,
    verdict: Verdict,
    blob: String,
}

impl<'a> WorkJudgment<'a> {
    /// The work on `written`, without any verdict yet.
    fn new(
        admission: &'a Admission<'a>,
        source: &'a dyn Source,
        (new_head, agent_head): (&'a CommitSha, &'a CommitSha),
        written: &[WrittenFile],
    ) -> Self {
        let mut files = Vec::with_capacity(written.len());
        let mut invalid_files = Vec::new();
        let mut claims: BTreeMap<CommitSha, Vec<usize>> = BTreeMap::new();
        for written in written {
            let verdict = Verdict::Missing(Shortfall::Unknown);
            let Ok(path) = FilePath::parse(&written.path) else {
                invalid_files.push(JudgedFile {
                    path: written.path.clone(),
                    claim_head: written.claim_head.clone(),
                    verdict,
                    blob: String::new(),
                });
                continue;
            };
            claims.entry(written.claim_head.clone()).or_default().push(files.len());
            files.push(ReleasedFile {
                path,
                verdict,
                blob: String::new(),
            });
        }
        WorkJudgment {
            admission,
            source,
            new_head: new_head.clone(),
            agent_head,
            files,
            invalid_files,
            claims,
            is_next_counted: true,
            relations: HashMap::new(),
            comparisons: HashMap::new(),
            copy_comparison: None,
        }
    }

    /// Judges the files by the branch at `head`, and by `work_branch` if the branch lacks changes.
    async fn judge(mut self, head: &CommitSha, work_branch: Option<&Branch>) -> Result<Vec<JudgedFile>, ApiError> {
        for (index, verdict) in self.verdicts(head).await? {
            self.files[index].verdict = verdict;
        }
        if let Some(work_branch) = work_branch.filter(|_| !self.missing_files().is_empty()) {
            self.judge_by_work_branch(work_branch, head).await?;
        }
        if !self.is_expensive() && !self.new_head.matches(head) && !self.missing_files().is_empty() {
            self.judge_by_content(head).await?;
        }
        let files = &self.files;
        let judged_file = |(claim_head, index): (&CommitSha, &usize)| JudgedFile {
            path: files[*index].path.as_str().to_owned(),
            claim_head: claim_head.clone(),
            verdict: files[*index].verdict,
            blob: files[*index].blob.clone(),
        };
        let claims = self.claims.iter();
        let indexes = claims.flat_map(|(claim_head, indexes)| indexes.iter().map(move |index| (claim_head, index)));
        let judged_files = indexes.map(judged_file);
        Ok(judged_files.chain(self.invalid_files.iter().cloned()).collect())
    }

    /// Accepts files that the branch has by another commit, such as a squash: their content is as in the working copy.
    async fn judge_by_content(&mut self, head: &CommitSha) -> Result<(), ApiError> {
        self.new_head = head.clone();
        self.comparisons.clear();
        self.copy_comparison = None;
        for (index, verdict) in self.verdicts(head).await? {
            if !is_missing(verdict) {
                self.files[index].verdict = verdict;
            }
        }
        Ok(())
    }

    /// Judges work that the branch at `head` lacks by the work branch.
    async fn judge_by_work_branch(&mut self, work_branch: &Branch, head: &CommitSha) -> Result<(), ApiError> {
        let repo = self.admission.repo;
        self.admission.count_lookups(Lookup::Branch, 1).await?;
        // A remembered head does not suffice: the caller says that it has just pushed.
        let work_head = match self.source.refresh_head(repo, work_branch, None).await {
            Ok(work_head) => work_head.commit,
            // The work branch was never pushed.
            Err(SourceError::UnknownBranch { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // A new head that the source did not have before may have been pushed since, as the head of the work branch.
        if self.is_unknown_to_source(head) && !self.new_head.matches(&work_head) {
            return Ok(());
        }
        let mut without_blob = Vec::new();
        for (index, verdict) in self.verdicts(&work_head).await? {
            self.files[index].verdict = verdict;
            if verdict == Verdict::Pushed {
                self.files[index].verdict = Verdict::Waiting;
                match self.known_blob(index) {
                    Some(blob) => self.files[index].blob = blob,
                    None => without_blob.push(index),
                }
            }
        }
        if !without_blob.is_empty() {
            let paths = without_blob.iter().map(|index| self.files[*index].path.clone());
            let paths: Vec<FilePath> = paths.collect();
            self.count_lookup().await?;
            let blobs = self.source.blobs_at(repo, &self.new_head, &paths).await?;
            for (index, blob) in without_blob.into_iter().zip(blobs) {
                self.files[index].blob = blob.unwrap_or_default();
            }
        }
        Ok(())
    }

    /// The verdicts on the files whose work is still missing, by the branch at `head`.
    async fn verdicts(&mut self, head: &CommitSha) -> Result<Vec<(usize, Verdict)>, ApiError> {
        let is_on_branch = self.is_reachable(&self.new_head.clone(), head).await?;
        let is_unknown_to_source = self.is_unknown_to_source(head);
        let max_heads = match self.is_expensive() {
            true => MAX_CLAIM_HEADS,
            false => MAX_CLAIM_HEADS_PER_CLONE,
        };
        let mut verdicts = Vec::with_capacity(self.files.len());
        for (number, (claim_head, indexes)) in self.missing_files().into_iter().enumerate() {
            if is_unknown_to_source || number >= max_heads {
                let shortfall = if is_unknown_to_source {
                    Shortfall::NotOnBranch
                } else {
                    Shortfall::TooManyClaims
                };
                verdicts.extend(indexes.into_iter().map(|index| (index, Verdict::Missing(shortfall))));
                continue;
            }
            let since_claim = self.compare(&claim_head).await?;
            let follows_claim = since_claim.descends == Reachable::Yes;
            let is_same_commit = claim_head.matches(&self.new_head);
            // A commit from before the claim is no push, even after a rewrite of the branch.
            let may_follow_rewrite = !follows_claim && is_on_branch && since_claim.precedes == Reachable::No;
            let is_rewritten = may_follow_rewrite && self.relation(&claim_head, head).await? == Reachable::No;
            let verdict = |index: usize, has_all_work: bool| {
                let facts = WorkFacts {
                    is_same_commit,
                    is_on_branch,
                    follows_claim,
                    is_relation_unknown: [since_claim.descends, since_claim.precedes].contains(&Reachable::Unknown),
                    is_before_claim: since_claim.precedes == Reachable::Yes,
                    is_rewritten,
                    is_same_content: since_claim.is_same(index),
                    has_all_work,
                };
                (index, facts.verdict())
            };
            let mut claim_verdicts: Vec<(usize, Verdict)> = indexes.iter().map(|index| verdict(*index, true)).collect();
            // If all work is missing anyway, the working copy does not matter.
            if claim_verdicts.iter().any(|(_, verdict)| !is_missing(*verdict))
                && let Some(comparison) = self.compare_with_copy(head).await?
            {
                let has_all_work = |index: usize| {
                    let copy_blob = comparison.blobs.get(index).and_then(Option::as_ref);
                    comparison.is_same(index) || (copy_blob.is_some() && copy_blob == self.known_blob(index).as_ref())
                };
                let indexes = indexes.iter();
                claim_verdicts = indexes.map(|index| verdict(*index, has_all_work(*index))).collect();
            }
            verdicts.extend(claim_verdicts);
        }
        Ok(verdicts)
    }

    /// The indexes of the files whose work is still missing, by the head of their claim.
    fn missing_files(&self) -> Vec<(CommitSha, Vec<usize>)> {
        let is_missing = |index: &usize| is_missing(self.files[*index].verdict);
        let claims = self.claims.iter();
        let missing = claims.map(|(claim_head, indexes)| {
            let indexes = indexes.iter().copied().filter(is_missing).collect::<Vec<_>>();
            (claim_head.clone(), indexes)
        });
        missing.filter(|(_, indexes)| !indexes.is_empty()).collect()
    }

    /// Compares the files of the working copy with the new head; `None` if the branch at `head` has all of them.
    async fn compare_with_copy(&mut self, head: &CommitSha) -> Result<Option<Comparison>, ApiError> {
        let agent_head = self.agent_head;
        if agent_head.matches(&self.new_head) || self.is_reachable(agent_head, head).await? {
            return Ok(None);
        }
        if self.is_expensive() && self.known_relation(agent_head, head) == Some(Reachable::Unknown) {
            let unknown = Reachable::Unknown;
            return Ok(Some(Comparison::of_commits(unknown, unknown, self.files.len())));
        }
        if let Some(comparison) = &self.copy_comparison {
            return Ok(Some(comparison.clone()));
        }
        self.count_lookup().await?;
        let paths = self.paths();
        let repo = self.admission.repo;
        let comparison = self
            .source
            .work_in_copy(repo, &self.new_head, agent_head, &paths)
            .await?;
        self.copy_comparison = Some(comparison.clone());
        Ok(Some(comparison))
    }

    fn paths(&self) -> Vec<FilePath> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    /// Whether `commit` is on the branch at `head`.
    async fn is_reachable(&mut self, commit: &CommitSha, head: &CommitSha) -> Result<bool, ApiError> {
        Ok(commit.matches(head) || self.relation(commit, head).await? == Reachable::Yes)
    }

    /// Whether lookups are counted.
    fn is_expensive(&self) -> bool {
        self.admission.stored_head_source.is_some()
    }

    /// Whether an expensive source does not have the new head, or finds no history in common with `head`.
    fn is_unknown_to_source(&self, head: &CommitSha) -> bool {
        self.is_expensive() && self.known_relation(&self.new_head, head) == Some(Reachable::Unknown)
    }

    /// The blob of the file with `index` at the new head, if a comparison has named it.
    fn known_blob(&self, index: usize) -> Option<String> {
        let mut comparisons = self.comparisons.values();
        comparisons.find_map(|comparison| comparison.blobs.get(index)?.clone())
    }

    fn known_relation(&self, ancestor: &CommitSha, descendant: &CommitSha) -> Option<Reachable> {
        let relation = self.relations.get(&(ancestor.clone(), descendant.clone())).copied();
        let comparison = self.comparisons.get(ancestor).filter(|_| *descendant == self.new_head);
        relation.or_else(|| comparison.map(|comparison| comparison.descends))
    }

    async fn relation(&mut self, ancestor: &CommitSha, descendant: &CommitSha) -> Result<Reachable, ApiError> {
        if let Some(relation) = self.known_relation(ancestor, descendant) {
            return Ok(relation);
        }
        self.count_lookup().await?;
        let repo = self.admission.repo;
        let comparison = self.source.compare(repo, ancestor, descendant, &[]).await?;
        let pair = (ancestor.clone(), descendant.clone());
        self.relations.insert(pair, comparison.descends);
        Ok(comparison.descends)
    }

    /// How the new head relates to `base`, and the changes of all files.
    async fn compare(&mut self, base: &CommitSha) -> Result<Comparison, ApiError> {
        if let Some(comparison) = self.comparisons.get(base) {
            return Ok(comparison.clone());
        }
        self.count_lookup().await?;
        let paths = self.paths();
        let repo = self.admission.repo;
        let comparison = self.source.compare(repo, base, &self.new_head, &paths).await?;
        self.comparisons.insert(base.clone(), comparison.clone());
        Ok(comparison)
    }

    /// Counts a lookup before it runs.
    async fn count_lookup(&mut self) -> Result<(), ApiError> {
        if std::mem::take(&mut self.is_next_counted) {
            return Ok(());
        }
        self.admission.count_lookups(Lookup::Commits, 1).await
    }
}

fn is_missing(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Missing(_))
}
