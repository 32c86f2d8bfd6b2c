//! Denials of the store: the missing data is fetched, or the denial becomes an error.

use std::time::Duration;

use super::Admission;
use crate::app::App;
use crate::domain::{Branch, CommitSha, Holder, RepoId};
use crate::error::ApiError;
use crate::heads;
use crate::source::{KnownHead, Reachable, Source};
use crate::state::Read;
use crate::state::admission::{AdmissionTerms, Admitted, Denial, Limited, Lookup, admit};
use crate::state::heads::fail_head;

/// Maximum reruns of a script for one request: for the head, for facts about commits, and while another request fetches the
/// head.
const MOST_ROUNDS: u32 = 30;

/// The pause before a script is run again while another request fetches the head.
const PAUSE: Duration = Duration::from_millis(100);

impl Admission<'_> {
    /// Counts a run of the script; an error when there were too many.
    pub(super) fn next_round(&mut self) -> Result<(), ApiError> {
        self.rounds += 1;
        if self.rounds > MOST_ROUNDS {
            return Err(ApiError::SourceUnavailable(
                "the head of the branch is still being fetched; try again soon".to_owned(),
            ));
        }
        Ok(())
    }

    /// Fetches the data that `denial` asks for; an error when the denial is final.
    pub(super) async fn resolve(&mut self, denial: Denial) -> Result<(), ApiError> {
        self.next_round()?;
        match denial {
            // Handled like a GitHub that cannot be asked: only a release depends on the answer.
            Denial::Limited {
                whose: Limited::Source, ..
            } if !self.is_release => {
                self.is_counted = true;
                self.is_unsure = true;
                self.is_asked = true;
            }
            Denial::Limited {
                retry_after_seconds,
                whose,
            } => return Err(limited(retry_after_seconds, whose)),
            Denial::RefreshHead { commit, etag } => {
                self.is_counted = true;
                if commit.is_none()
                    && let Err(limited) = self.take_lookups(Lookup::Branch, (1, 0))
                {
                    // Ends the lease, so that another caller can fetch the head.
                    fail_head(&*self.app.store, self.repo, self.branch, 0).await?;
                    return Err(limited);
                }
                self.refresh(commit, etag).await?;
            }
            Denial::AwaitHead { retry_after_seconds: 0 } => {
                self.is_counted = true;
                tokio::time::sleep(PAUSE).await;
            }
            Denial::AwaitHead { retry_after_seconds } => return Err(ApiError::SourceLimited { retry_after_seconds }),
            // The call itself takes this question.
            Denial::AskScope(_) | Denial::AskPolicy(_) | Denial::AskTeam { .. } => return Err(ApiError::Internal),
            Denial::UnknownHead => return Err(self.unknown_head()),
            Denial::TooMuch(what) => return Err(ApiError::TooMuchAtOnce(what)),
            Denial::Full(what) => return Err(ApiError::TooManyLocks(what)),
            Denial::Taken(taken) => return Err(ApiError::LockTaken(Box::new(taken))),
            Denial::AskSource { head, age, etag } => {
                self.is_counted = true;
                self.is_asked = true;
                match self.take_lookups(Lookup::Commits, (1, 0)) {
                    Err(limited) if self.is_release => return Err(limited),
                    Err(_) => self.is_unsure = true,
                    Ok(()) => match self.ask_source(KnownHead { commit: head, etag }, age).await {
                        Err(error @ ApiError::UnknownRepository { .. }) => return Err(self.end_trust(error).await?),
                        // A command to pull without need does the caller no harm.
                        Err(error) if error.is_of_source() => self.is_unsure = true,
                        asked => asked?,
                    },
                }
            }
        }
        Ok(())
    }

    /// The error for a branch whose head is known to neither the source nor the store.
    fn unknown_head(&self) -> ApiError {
        ApiError::SourceUnavailable(format!(
            "the head of branch {} of {} is not known yet: no server that can read the repository has reported it",
            self.branch, self.repo
        ))
    }

    /// Fetches the head. If the source fails, a known head that is not too old will do.
    async fn refresh(&self, commit: Option<CommitSha>, etag: Option<String>) -> Result<(), ApiError> {
        let Some(source) = self.keeper else {
            return Err(ApiError::Internal);
        };
        let known = commit.map(|commit| KnownHead { commit, etag });
        match heads::refresh(&*self.app.store, source, self.repo, self.branch, known.as_ref()).await {
            Ok(_) => Ok(()),
            Err(error) => match ApiError::from(error) {
                // The recorded failure in the store decides when the head is fetched again.
                error if error.is_of_source() && known.is_some() => Ok(()),
                error => Err(error),
            },
        }
    }

    /// Ends the trust in the stored head, with which other processes would go on, where `error` says that the repository has another
    /// name. Returns that error.
    pub(super) async fn end_trust(&self, error: ApiError) -> Result<ApiError, ApiError> {
        if let (
            Some(source),
            ApiError::UnknownRepository {
                renamed_to: Some(_), ..
            },
        ) = (self.keeper, &error)
        {
            heads::refresh(&*self.app.store, source, self.repo, self.branch, None).await?;
        }
        Ok(error)
    }

    /// Asks the source about commits of the caller that the store does not know. A head that is not fresh is fetched first,
    /// because it may have moved to them.
    async fn ask_source(&mut self, known: KnownHead, age: u64) -> Result<(), ApiError> {
        let Some(source) = self.keeper else {
            return Err(ApiError::Internal);
        };
        let is_old = age > u64::from(self.app.head_ages.refresh_after);
        let head = if is_old {
            heads::refresh(&*self.app.store, source, self.repo, self.branch, Some(&known)).await?
        } else {
            known.commit
        };
        self.learn_known_commits(source, &head).await
    }

    /// Finds out whether one of the caller's commits contains `head`.
    pub(super) async fn learn_known_commits(&mut self, source: &dyn Source, head: &CommitSha) -> Result<(), ApiError> {
        if self.known_commits.iter().any(|commit| commit.matches(head)) {
            return Ok(());
        }
        for commit in self.to_ask_about(source) {
            match source.is_ancestor(self.repo, head, &commit).await? {
                Reachable::Yes => {
                    self.known_commits.push(head.clone());
                    break;
                }
                Reachable::No => self.is_behind = true,
                Reachable::Unknown => {}
            }
        }
        Ok(())
    }

    /// The caller's commits that the source is asked about: only the last, if a lookup is expensive. If the caller sends
    /// `base_head`, that is the last; its own newest commit may not be pushed yet.
    fn to_ask_about(&self, source: &dyn Source) -> Vec<CommitSha> {
        let skipped = if source.keeps_heads_in_store(self.repo) {
            self.known_commits.len().saturating_sub(1)
        } else {
            0
        };
        self.known_commits.iter().skip(skipped).cloned().collect()
    }
}

/// The error for a caller that may read but not push. It counts as a request.
pub(super) async fn no_push(app: &App, repo: &RepoId, branch: &Branch, holder: &Holder) -> Result<ApiError, ApiError> {
    count_refused(app, repo, branch, holder).await?;
    let login = &holder.user_id;
    Ok(ApiError::ForbiddenRepository(format!(
        "{login} may read {repo} with this token, but claims require the right to push"
    )))
}

/// Refuses a repository that `source` knows by another name, whatever head is stored. The head is fetched again, which ends the trust in
/// the stored one, so that other processes learn the new name too. It counts as a request.
///
/// # Errors
/// The refusal. None if the repository has its old name again.
pub(super) async fn refuse_renamed(
    app: &App,
    source: &dyn Source,
    repo: &RepoId,
    branch: &Branch,
    holder: &Holder,
) -> Result<(), ApiError> {
    count_refused(app, repo, branch, holder).await?;
    heads::refresh(&*app.store, source, repo, branch, None).await?;
    Ok(())
}

/// Counts a request that is refused before its script runs.
async fn count_refused(app: &App, repo: &RepoId, branch: &Branch, holder: &Holder) -> Result<(), ApiError> {
    let terms = AdmissionTerms {
        rates: app.rates,
        ..AdmissionTerms::of(repo, branch, holder, None, &[])
    };
    match admit(&*app.store, &terms, Read::nothing()).await? {
        Admitted::Denied(Denial::Limited {
            retry_after_seconds,
            whose,
        }) => Err(limited(retry_after_seconds, whose)),
        _ => Ok(()),
    }
}

pub(super) fn limited(retry_after_seconds: u64, whose: Limited) -> ApiError {
    ApiError::RateLimited {
        retry_after_seconds,
        whose: match whose {
            Limited::Holder => "you send too many requests",
            Limited::Person => "your agents together send too many requests",
            Limited::Repository => "the callers of this repository together send too many requests",
            Limited::Source => {
                "your requests name too many commits that Coord does not know; send base_head, and pushed commits"
            }
            Limited::New => "your requests name too many branches that Coord does not know",
            Limited::Ledger => {
                "your login has used its share of this repository's ledger (half of COORD_LEDGER_MAX_LINES a day); record less, or ask \
                 the operator to raise COORD_LEDGER_MAX_LINES. Nothing was changed or recorded"
            }
        },
    }
}
