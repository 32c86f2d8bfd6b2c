//! Denials of the store as errors.

use crate::app::App;
use crate::error::ApiError;
use crate::heads;
use coord_domain::{Branch, Holder, RepoId};
use coord_sources::Source;
use coord_state::Read;
use coord_state::admission::{AdmissionTerms, Admitted, Denial, LimitSubject, admit};

/// The error of a denial that ends a request about `branch` of `repo`.
pub(super) fn denial_error(denial: Denial, repo: &RepoId, branch: &Branch) -> ApiError {
    match denial {
        Denial::Limited {
            retry_after_seconds,
            whose,
        } => rate_limit_error(retry_after_seconds, whose),
        Denial::AwaitHead { retry_after_seconds } => ApiError::SourceLimited { retry_after_seconds },
        Denial::UnknownHead => ApiError::SourceUnavailable(format!(
            "the head of branch {branch} of {repo} is not known yet: no server that can read the repository has \
             reported it"
        )),
        Denial::TooMuch(subject) => ApiError::TooMuchAtOnce(subject),
        Denial::Full(subject) => ApiError::TooManyLocks(subject),
        Denial::ForceReleased(forced) => ApiError::LockTaken(Box::new(forced)),
        // `Admission::run` answers questions; others cannot.
        Denial::Question(_) => ApiError::Internal,
    }
}

/// The error for a caller that may read but not push. The denied request is counted.
pub(super) async fn cannot_push_error(
    app: &App,
    repo: &RepoId,
    branch: &Branch,
    holder: &Holder,
) -> Result<ApiError, ApiError> {
    count_denied(app, repo, branch, holder).await?;
    let login = &holder.user_id;
    Ok(ApiError::ForbiddenRepository(format!(
        "{login} may read {repo} with this token, but claims require the right to push"
    )))
}

/// Denies a request about a repository that `source` knows by another name, whatever head is stored. It fetches the
/// head again, so that the stored head is no longer trusted and other processes see the new name, too. The denied
/// request is counted.
///
/// # Errors
/// The denial. It returns `Ok` if the repository has its old name again.
pub(super) async fn deny_renamed(
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

/// Counts a request that is denied before its script runs.
async fn count_denied(app: &App, repo: &RepoId, branch: &Branch, holder: &Holder) -> Result<(), ApiError> {
    let terms = AdmissionTerms {
        rates: app.rates,
        ..AdmissionTerms::of(repo, branch, holder, None, &[])
    };
    match admit(&*app.store, &terms, Read::nothing()).await? {
        Admitted::Denied(Denial::Limited {
            retry_after_seconds,
            whose,
        }) => Err(rate_limit_error(retry_after_seconds, whose)),
        _ => Ok(()),
    }
}

pub(super) fn rate_limit_error(retry_after_seconds: u64, whose: LimitSubject) -> ApiError {
    ApiError::RateLimited {
        retry_after_seconds,
        reason: match whose {
            LimitSubject::Holder => "you send too many requests",
            LimitSubject::Person => "your agents together send too many requests",
            LimitSubject::Repository => "the callers of this repository together send too many requests",
            LimitSubject::CommitLookups => {
                "your requests name too many commits that Coord does not know; send base_head, and pushed commits"
            }
            LimitSubject::BranchLookups => "your requests name too many branches that Coord does not know",
            LimitSubject::Ledger => {
                "your login has used its share of this repository's ledger (half of COORD_LEDGER_MAX_LINES a day); \
                 record less, or ask the operator to raise COORD_LEDGER_MAX_LINES. Nothing was changed or recorded"
            }
        },
    }
}
