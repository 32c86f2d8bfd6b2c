//! Answers of the source to a script's questions: the head of the branch, and whether the caller's commits contain it.

use std::time::Duration;

use super::request::{Admission, Ancestry, HeadNeed};
use crate::error::ApiError;
use crate::heads;
use coord_domain::CommitSha;
use coord_sources::{KnownHead, Reachable, Source};
use coord_state::admission::{AncestryQuestion, HeadQuestion, Lookup, Question};
use coord_state::heads::record_head_failure;

/// The pause before a script is run again while another request fetches the head.
const PAUSE: Duration = Duration::from_millis(100);

impl Admission<'_> {
    /// Answers a question about the source.
    ///
    /// # Errors
    /// When the source does not respond, the caller has used up its lookups, or the question is not about the source.
    pub async fn answer(&mut self, question: Question) -> Result<(), ApiError> {
        match question {
            Question::Head(HeadQuestion::Refresh { commit, etag }) => self.refresh_head(commit, etag).await,
            Question::Head(HeadQuestion::Await) => {
                tokio::time::sleep(PAUSE).await;
                Ok(())
            }
            Question::Ancestry(AncestryQuestion::Commits { head, age, etag }) => {
                self.find_ancestry(KnownHead { commit: head, etag }, age).await
            }
            // Scripts ask these only if the operation or an extension sent work or files. Then the operation answers.
            question @ (Question::Ancestry(AncestryQuestion::Work { .. })
            | Question::Policy(_)
            | Question::Extension { .. }) => {
                tracing::error!(?question, "a script asked a question that no operation can answer");
                Err(ApiError::Internal)
            }
        }
    }

    /// Finds out whether the caller's commits contain the head. Only a release depends on the answer.
    async fn find_ancestry(&mut self, stored_head: KnownHead, age: u64) -> Result<(), ApiError> {
        self.ancestry = Ancestry::Checked;
        let result = match self.take_lookups(Lookup::Commits, (1, 0)) {
            Ok(()) => self.look_up_ancestry(stored_head, age).await,
            Err(limited) if self.head_need == HeadNeed::Proof => return Err(limited),
            Err(_) => {
                self.ancestry = Ancestry::Unknown;
                return Ok(());
            }
        };
        match result {
            Err(error @ ApiError::UnknownRepository { .. }) => Err(self.distrust_if_renamed(error).await?),
            // An unnecessary command to pull does the caller no harm.
            Err(error) if error.is_of_source() => {
                self.ancestry = Ancestry::Unknown;
                Ok(())
            }
            result => result,
        }
    }

    /// Fetches the head. If the source fails, a stored head that is not too old suffices.
    async fn refresh_head(&self, commit: Option<CommitSha>, etag: Option<String>) -> Result<(), ApiError> {
        let source = self.stored_head_source.ok_or(ApiError::Internal)?;
        if commit.is_none()
            && let Err(limited) = self.take_lookups(Lookup::Branch, (1, 0))
        {
            // Ends the lease, so that another caller can fetch the head.
            record_head_failure(&*self.app.store, self.repo, self.branch, 0).await?;
            return Err(limited);
        }
        let stored_head = commit.map(|commit| KnownHead { commit, etag });
        match heads::refresh(&*self.app.store, source, self.repo, self.branch, stored_head.as_ref()).await {
            Ok(_) => Ok(()),
            Err(error) => match ApiError::from(error) {
                // The recorded failure in the store decides when the head is fetched again.
                error if error.is_of_source() && stored_head.is_some() => Ok(()),
                error => Err(error),
            },
        }
    }

    /// If `error` says that the repository was renamed, the stored head is no longer trusted. Otherwise other processes
    /// would continue with it. Returns `error`.
    pub(super) async fn distrust_if_renamed(&self, error: ApiError) -> Result<ApiError, ApiError> {
        if let (
            Some(source),
            ApiError::UnknownRepository {
                renamed_to: Some(_), ..
            },
        ) = (self.stored_head_source, &error)
        {
            heads::refresh(&*self.app.store, source, self.repo, self.branch, None).await?;
        }
        Ok(error)
    }

    /// Asks the source about commits of the caller that the store does not know. An old head is fetched first, because
    /// the branch may have moved to these commits.
    async fn look_up_ancestry(&mut self, stored_head: KnownHead, age: u64) -> Result<(), ApiError> {
        let source = self.stored_head_source.ok_or(ApiError::Internal)?;
        let is_old = age > u64::from(self.app.head_ages.refresh_after);
        let head = if is_old {
            heads::refresh(&*self.app.store, source, self.repo, self.branch, Some(&stored_head)).await?
        } else {
            stored_head.commit
        };
        self.check_known_commits(source, &head).await
    }

    /// Asks the source whether one of the caller's commits contains `head`.
    pub(super) async fn check_known_commits(&mut self, source: &dyn Source, head: &CommitSha) -> Result<(), ApiError> {
        if self.known_commits.iter().any(|commit| commit.matches(head)) {
            return Ok(());
        }
        for commit in self.commits_to_look_up(source) {
            match source.is_ancestor(self.repo, head, &commit).await? {
                Reachable::Yes => {
                    self.known_commits.push(head.clone());
                    self.ancestry = Ancestry::Checked;
                    break;
                }
                Reachable::No => self.ancestry = Ancestry::Behind,
                Reachable::Unknown => {}
            }
        }
        Ok(())
    }

    /// The caller's commits that the source is asked about: only the last, if lookups are expensive. The last is
    /// `base_head` if the caller sends it, because its own newest commit may not be pushed yet.
    fn commits_to_look_up(&self, source: &dyn Source) -> Vec<CommitSha> {
        let skipped = if source.keeps_heads_in_store(self.repo) {
            self.known_commits.len().saturating_sub(1)
        } else {
            0
        };
        self.known_commits.iter().skip(skipped).cloned().collect()
    }
}
