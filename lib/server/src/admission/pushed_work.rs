//! The source's verdicts on released work. If the new head is the head of the branch and the working copy is at it, one
//! request to the source suffices for each head at which files were claimed. A question with a known result is skipped: a
//! commit that GitHub does not have ends them.

use std::collections::{BTreeMap, HashMap};

use super::request::Admission;
use crate::error::ApiError;
use crate::heads;
use coord_domain::work::{Shortfall, Verdict, WorkFacts};
use coord_domain::{Branch, CommitSha, FilePath};
use coord_sources::{Comparison, KnownHead, Reachable, Source, SourceError};
use coord_state::admission::Lookup;
use coord_state::locks::{JudgedFile, WrittenFile};

/// Most heads of claims that one request asks about; files of further heads need a separate release. Each is a question to
/// GitHub, or a search in a clone.
pub(super) const MOST_CLAIM_HEADS: usize = 4;
const MOST_CLAIM_HEADS_OF_CLONE: usize = 64;

impl Admission<'_> {
    /// The source's verdicts on `written`, when `new_head` was pushed from a working copy at `agent_head`. A head kept in
    /// the store is refreshed first unless it is `new_head`, because the caller says that it has just pushed.
    pub async fn judge_work(
        &self,
        known: KnownHead,
        new_head: &CommitSha,
        agent_head: &CommitSha,
        written: &[WrittenFile],
    ) -> Result<Vec<JudgedFile>, ApiError> {
        let source = self.app.source.as_deref().ok_or(ApiError::Internal)?;
        if self.keeper.is_some() {
            // The script has counted the first question of this repository.
            self.take_lookups(Lookup::Commits, (1, 0))?;
        }
        let head = match (self.fetched_head(), self.keeper) {
            (None, Some(keeper)) if !new_head.matches(&known.commit) => {
                heads::refresh(&*self.app.store, keeper, self.repo, self.branch, Some(&known)).await?
            }
            _ => known.commit,
        };
        let work = WorkJudgment::new(self, source, (new_head, agent_head), written);
        match work.judge(&head, self.work_branch).await {
            Err(error) => Err(self.distrust_if_renamed(error).await?),
            verdicts => verdicts,
        }
    }
}

/// The work of a release, and the known facts about it.
pub(super) struct WorkJudgment<'a> {
    admission: &'a Admission<'a>,
    source: &'a dyn Source,
    /// The commit that the caller says it has pushed.
    new_head: CommitSha,
    /// The commit of its working copy.
    agent_head: &'a CommitSha,
    files: Vec<ReleasedFile>,
    /// Files whose stored names are refused now: the source cannot be asked about them.
    nameless: Vec<JudgedFile>,
    /// The places in `files`, by the head of their claim.
    claims: BTreeMap<CommitSha, Vec<usize>>,
    /// Whether the next question was counted by the script that asked for the verdicts.
    is_next_counted: bool,
    relations: HashMap<(CommitSha, CommitSha), Reachable>,
    /// Those of the new head with earlier commits.
    comparisons: HashMap<CommitSha, Comparison>,
    /// That of the working copy with the new head.
    copy: Option<Comparison>,
}

struct ReleasedFile {
    path: FilePath,
    verdict: Verdict,
    blob: String,
}

impl<'a> WorkJudgment<'a> {
    /// The work on `written`, on which no verdict is known.
    pub fn new(
        admission: &'a Admission<'a>,
        source: &'a dyn Source,
        (new_head, agent_head): (&'a CommitSha, &'a CommitSha),
        written: &[WrittenFile],
    ) -> Self {
        let mut files = Vec::with_capacity(written.len());
        let mut nameless = Vec::new();
        let mut claims: BTreeMap<CommitSha, Vec<usize>> = BTreeMap::new();
        for written in written {
            let verdict = Verdict::Missing(Shortfall::Unknown);
            let Ok(path) = FilePath::parse(&written.path) else {
                nameless.push(JudgedFile {
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
            nameless,
            claims,
            is_next_counted: true,
            relations: HashMap::new(),
            comparisons: HashMap::new(),
            copy: None,
        }
    }

    /// The verdicts, where `head` is that of the branch. Changes that the branch does not have are looked up on
    /// `work_branch`.
    pub async fn judge(mut self, head: &CommitSha, work_branch: Option<&Branch>) -> Result<Vec<JudgedFile>, ApiError> {
        for (place, verdict) in self.verdicts(head).await? {
            self.files[place].verdict = verdict;
        }
        if let Some(work_branch) = work_branch.filter(|_| !self.missing().is_empty()) {
            self.judge_by_work_branch(work_branch, head).await?;
        }
        if !self.is_expensive() && !self.new_head.matches(head) && !self.missing().is_empty() {
            self.judge_by_content(head).await?;
        }
        let files = &self.files;
        let judged_file = |(claim_head, place): (&CommitSha, &usize)| JudgedFile {
            path: files[*place].path.as_str().to_owned(),
            claim_head: claim_head.clone(),
            verdict: files[*place].verdict,
            blob: files[*place].blob.clone(),
        };
        let claims = self.claims.iter();
        let places = claims.flat_map(|(claim_head, places)| places.iter().map(move |place| (claim_head, place)));
        Ok(places.map(judged_file).chain(self.nameless.iter().cloned()).collect())
    }

    /// The verdicts on files that the branch has by a different commit, such as a squash: a file that is as in the working copy
    /// is there.
    async fn judge_by_content(&mut self, head: &CommitSha) -> Result<(), ApiError> {
        self.new_head = head.clone();
        self.comparisons.clear();
        self.copy = None;
        for (place, verdict) in self.verdicts(head).await? {
            if !is_missing(verdict) {
                self.files[place].verdict = verdict;
            }
        }
        Ok(())
    }

    /// The verdicts on work that the branch with `head` does not have, by its work branch.
    async fn judge_by_work_branch(&mut self, work_branch: &Branch, head: &CommitSha) -> Result<(), ApiError> {
        let repo = self.admission.repo;
        self.admission.count_lookups(Lookup::Branch, 1).await?;
        // Not a head that is remembered: the caller says that it has just pushed.
        let work_head = match self.source.refresh_head(repo, work_branch, None).await {
            Ok(work_head) => work_head.commit,
            // It was never pushed.
            Err(SourceError::UnknownBranch { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // Commits that the source did not have when it was asked may have been pushed since, as this head.
        if self.is_unknown_to_source(head) && !self.new_head.matches(&work_head) {
            return Ok(());
        }
        let mut unread = Vec::new();
        for (place, verdict) in self.verdicts(&work_head).await? {
            self.files[place].verdict = verdict;
            if verdict == Verdict::Pushed {
                self.files[place].verdict = Verdict::Waiting;
                match self.blob(place) {
                    Some(blob) => self.files[place].blob = blob,
                    None => unread.push(place),
                }
            }
        }
        if !unread.is_empty() {
            let paths: Vec<FilePath> = unread.iter().map(|place| self.files[*place].path.clone()).collect();
            self.count().await?;
            let blobs = self.source.blobs_at(repo, &self.new_head, &paths).await?;
            for (place, blob) in unread.into_iter().zip(blobs) {
                self.files[place].blob = blob.unwrap_or_default();
            }
        }
        Ok(())
    }

    /// The verdicts by the branch with `head` on the files whose work is still missing.
    async fn verdicts(&mut self, head: &CommitSha) -> Result<Vec<(usize, Verdict)>, ApiError> {
        let is_on_branch = self.is_reachable(&self.new_head.clone(), head).await?;
        let is_unknown_to_source = self.is_unknown_to_source(head);
        let most_heads = match self.is_expensive() {
            true => MOST_CLAIM_HEADS,
            false => MOST_CLAIM_HEADS_OF_CLONE,
        };
        let mut verdicts = Vec::with_capacity(self.files.len());
        for (number, (claim_head, places)) in self.missing().into_iter().enumerate() {
            if is_unknown_to_source || number >= most_heads {
                let shortfall = if is_unknown_to_source {
                    Shortfall::NotOnBranch
                } else {
                    Shortfall::TooManyClaims
                };
                verdicts.extend(places.into_iter().map(|place| (place, Verdict::Missing(shortfall))));
                continue;
            }
            let since_claim = self.compare(&claim_head).await?;
            let follows_claim = since_claim.descends == Reachable::Yes;
            let is_same_commit = claim_head.matches(&self.new_head);
            // A commit from before the claim is no push, whatever has become of the branch.
            let may_be_anew = !follows_claim && is_on_branch && since_claim.precedes == Reachable::No;
            let is_rewritten = may_be_anew && self.was_dropped(&claim_head, head).await?;
            let verdict = |place: usize, is_all_there: bool| {
                let facts = WorkFacts {
                    is_same_commit,
                    is_on_branch,
                    follows_claim,
                    is_relation_unknown: [since_claim.descends, since_claim.precedes].contains(&Reachable::Unknown),
                    is_before_claim: since_claim.precedes == Reachable::Yes,
                    is_rewritten,
                    is_same_content: since_claim.is_same(place),
                    is_all_there,
                };
                (place, facts.verdict())
            };
            let mut found: Vec<(usize, Verdict)> = places.iter().map(|place| verdict(*place, true)).collect();
            // The working copy is of no account where the work is missing in any case.
            if found.iter().any(|(_, verdict)| !is_missing(*verdict))
                && let Some(comparison) = self.compare_with_copy(head).await?
            {
                let is_all_there = |place: usize| {
                    let own = comparison.blobs.get(place).and_then(Option::as_ref);
                    comparison.is_same(place) || (own.is_some() && own == self.blob(place).as_ref())
                };
                let places = places.iter();
                found = places.map(|place| verdict(*place, is_all_there(*place))).collect();
            }
            verdicts.extend(found);
        }
        Ok(verdicts)
    }

    /// The places of the files whose work is still missing, by the head of their claim.
    fn missing(&self) -> Vec<(CommitSha, Vec<usize>)> {
        let is_missing = |place: &usize| is_missing(self.files[*place].verdict);
        let claims = self.claims.iter();
        let missing = claims.map(|(claim_head, places)| {
            let places = places.iter().copied().filter(is_missing).collect::<Vec<_>>();
            (claim_head.clone(), places)
        });
        missing.filter(|(_, places)| !places.is_empty()).collect()
    }

    /// Which files of the working copy the new head lacks; `None` if the branch with `head` has all of them.
    async fn compare_with_copy(&mut self, head: &CommitSha) -> Result<Option<Comparison>, ApiError> {
        let agent_head = self.agent_head;
        if agent_head.matches(&self.new_head) || self.is_reachable(agent_head, head).await? {
            return Ok(None);
        }
        if self.is_expensive() && self.known_relation(agent_head, head) == Some(Reachable::Unknown) {
            let unknown = Reachable::Unknown;
            return Ok(Some(Comparison::of_commits(unknown, unknown, self.files.len())));
        }
        if let Some(known) = &self.copy {
            return Ok(Some(known.clone()));
        }
        self.count().await?;
        let paths = self.paths();
        let work = self
            .source
            .work_in_copy(self.admission.repo, &self.new_head, agent_head, &paths);
        let work = work.await?;
        self.copy = Some(work.clone());
        Ok(Some(work))
    }

    fn paths(&self) -> Vec<FilePath> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    /// Whether the branch with `head` no longer contains `claim_head`, once its head.
    async fn was_dropped(&mut self, claim_head: &CommitSha, head: &CommitSha) -> Result<bool, ApiError> {
        Ok(self.relation(claim_head, head).await? == Reachable::No)
    }

    /// Whether `commit` is on the branch with `head`.
    async fn is_reachable(&mut self, commit: &CommitSha, head: &CommitSha) -> Result<bool, ApiError> {
        Ok(commit.matches(head) || self.relation(commit, head).await? == Reachable::Yes)
    }

    /// Whether questions are counted.
    fn is_expensive(&self) -> bool {
        self.admission.keeper.is_some()
    }

    /// Whether an expensive source does not have the new head, or has no history in common with `head` there.
    fn is_unknown_to_source(&self, head: &CommitSha) -> bool {
        self.is_expensive() && self.known_relation(&self.new_head, head) == Some(Reachable::Unknown)
    }

    /// The blob of the file at `place` at the new head, where a comparison has named it.
    fn blob(&self, place: usize) -> Option<String> {
        let mut comparisons = self.comparisons.values();
        comparisons.find_map(|comparison| comparison.blobs.get(place)?.clone())
    }

    fn known_relation(&self, ancestor: &CommitSha, descendant: &CommitSha) -> Option<Reachable> {
        let known = self.relations.get(&(ancestor.clone(), descendant.clone())).copied();
        let compared = self.comparisons.get(ancestor).filter(|_| *descendant == self.new_head);
        known.or_else(|| compared.map(|comparison| comparison.descends))
    }

    async fn relation(&mut self, ancestor: &CommitSha, descendant: &CommitSha) -> Result<Reachable, ApiError> {
        if let Some(known) = self.known_relation(ancestor, descendant) {
            return Ok(known);
        }
        self.count().await?;
        let repo = self.admission.repo;
        let compared = self.source.compare(repo, ancestor, descendant, &[]).await?;
        let pair = (ancestor.clone(), descendant.clone());
        self.relations.insert(pair, compared.descends);
        Ok(compared.descends)
    }

    /// How the new head relates to `base`, and the changes of all files.
    async fn compare(&mut self, base: &CommitSha) -> Result<Comparison, ApiError> {
        if let Some(known) = self.comparisons.get(base) {
            return Ok(known.clone());
        }
        self.count().await?;
        let paths = self.paths();
        let repo = self.admission.repo;
        let comparison = self.source.compare(repo, base, &self.new_head, &paths).await?;
        self.comparisons.insert(base.clone(), comparison.clone());
        Ok(comparison)
    }

    /// Counts a question before it is asked.
    async fn count(&mut self) -> Result<(), ApiError> {
        if std::mem::take(&mut self.is_next_counted) {
            return Ok(());
        }
        self.admission.count_lookups(Lookup::Commits, 1).await
    }
}

fn is_missing(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Missing(_))
}
