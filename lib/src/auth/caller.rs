use super::AuthError;
use super::repo_limit::RepoLimit;
use crate::domain::{RepoId, UserId};

/// Who acts in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The login.
    pub user_id: UserId,
    /// A name to show; the login where none is known.
    pub user_name: String,
}

/// A verified caller, who is not let in anywhere yet: who it is comes out by [`Caller::enter`] alone, which asks whether its
/// credential counts in the repository. So no handler can act for somebody without that question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "whether a caller may go on is decided by `enter`"]
pub struct Caller {
    identity: Identity,
    limit: Option<RepoLimit>,
}

impl Caller {
    /// A caller whose credential counts in every repository.
    pub(super) fn unlimited(identity: Identity) -> Self {
        Caller { identity, limit: None }
    }

    /// A caller whose credential counts where `limit` says.
    pub(super) fn limited(identity: Identity, limit: Option<RepoLimit>) -> Self {
        Caller { identity, limit }
    }

    /// Who it is, for what it does in `repo`.
    ///
    /// # Errors
    /// [`AuthError::ForbiddenRepository`] when its credential does not count there.
    pub fn enter(self, repo: &RepoId) -> Result<Identity, AuthError> {
        match self.limit {
            Some(limit) if !limit.takes_in(repo) => Err(AuthError::ForbiddenRepository(repo.clone())),
            _ => Ok(self.identity),
        }
    }
}
