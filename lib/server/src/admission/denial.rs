//! Denials of the store as errors.

use crate::app::App;
use crate::error::ApiError;
use crate::heads;
use coord_domain::{Branch, Holder, RepoId};
use coord_sources::Source;
use coord_state::Read;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, LimitSubject, admit};

/// The error of a denial that ends a request about `branch` of `repo`.
pub(super) fn refusal(denial: Denial, repo: &RepoId, branch: &Branch) -> ApiError {
    match denial {
        Denial::Limited {
            retry_after_seconds,
            whose,
        } => limited(retry_after_seconds, whose),
        Denial::AwaitHead { retry_after_seconds } => ApiError::SourceLimited { retry_after_seconds },
        Denial::UnknownHead => ApiError::SourceUnavailable(format!(
            "the head of branch {branch} of {repo} is not known yet: no server that can read the repository has reported it"
        )),
        Denial::TooMuch(subject) => ApiError::TooMuchAtOnce(subject),
        Denial::Full(subject) => ApiError::TooManyLocks(subject),
        Denial::ForceReleased(taken) => ApiError::LockTaken(Box::new(taken)),
        // Only `Admission::run` has answers.
        Denial::Question(_) => ApiError::Internal,
    }
}

/// The error for a caller that may read but not push. It counts as a request.
pub(super) async fn no_push(app: &App, repo: &RepoId, branch: &Branch, holder: &Holder) -> Result<ApiError, ApiError> {
    count_denied(app, repo, branch, holder).await?;
    let login = &holder.user_id;
    Ok(ApiError::ForbiddenRepository(format!(
        "{login} may read {repo} with this token, but claims require the right to push"
    )))
}

/// Refuses a repository that `source` knows by another name, whatever head is stored. The head is fetched again, which ends the trust in
/// the stored one, so that other processes see the new name too. It counts as a request.
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
    count_denied(app, repo, branch, holder).await?;
    heads::refresh(&*app.store, source, repo, branch, None).await?;
    Ok(())
}

/// Counts a request that is refused before its script runs.
async fn count_denied(app: &App, repo: &RepoId, branch: &Branch, holder: &Holder) -> Result<(), ApiError> {
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

pub(super) fn limited(retry_after_seconds: u64, whose: LimitSubject) -> ApiError {
    ApiError::RateLimited {
        retry_after_seconds,
        whose: match whose {
            LimitSubject::Holder => "you send too many requests",
            LimitSubject::Person => "your agents together send too many requests",
            LimitSubject::Repository => "the callers of this repository together send too many requests",
            LimitSubject::Source => {
                "your requests name too many commits that Coord does not know; send base_head, and pushed commits"
            }
            LimitSubject::New => "your requests name too many branches that Coord does not know",
            LimitSubject::Ledger => {
                "your login has used its share of this repository's ledger (half of COORD_LEDGER_MAX_LINES a day); record less, or ask \
                 the operator to raise COORD_LEDGER_MAX_LINES. Nothing was changed or recorded"
            }
        },
    }
}
