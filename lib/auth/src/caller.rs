use secrecy::SecretString;
use sha2::{Digest, Sha256};

use super::AuthError;
use super::repo_limit::RepoLimit;
use coord_domain::{RepoId, UserId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub user_id: UserId,
    /// A display name, or the login if there is none.
    pub user_name: String,
}

/// A caller that is not admitted anywhere yet. Only [`Caller::in_repository`] returns its identity, after a check that
/// its credential counts in the repository. So no handler can act for a caller without that check.
#[derive(Clone, Debug)]
#[must_use = "`in_repository` decides whether a caller may go on"]
pub struct Caller(CallerIdentity);

/// A caller in one repository.
#[derive(Clone, Debug)]
pub enum CallerIdentity {
    /// A verified caller, with all rights in the repository.
    Verified {
        identity: Identity,
        /// The only repositories that its credential is valid for.
        limit: Option<RepoLimit>,
    },
    /// A caller whose login and permissions GitHub has to verify.
    Unverified(Credential),
}

/// A credential that GitHub has to verify.
#[derive(Clone, Debug)]
pub struct Credential {
    name: String,
    token: Option<SecretString>,
}

impl Credential {
    pub fn token(token: &str) -> Self {
        Credential {
            name: format!("{:x}", Sha256::digest(token.as_bytes())),
            token: Some(token.into()),
        }
    }

    /// No credential: the rights of an anonymous caller.
    pub(super) fn none() -> Self {
        Credential {
            name: "anybody".to_owned(),
            token: None,
        }
    }

    /// The key under which the server remembers it: SHA-256 of the token in hex, or `anybody`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The token, if there is one.
    pub fn secret(&self) -> Option<&SecretString> {
        self.token.as_ref()
    }
}

impl Caller {
    /// A caller whose credential counts in every repository.
    pub(super) fn unlimited(identity: Identity) -> Self {
        Caller::limited(identity, None)
    }

    /// A caller whose credential counts in the repositories of `limit`.
    pub(super) fn limited(identity: Identity, limit: Option<RepoLimit>) -> Self {
        Caller(CallerIdentity::Verified { identity, limit })
    }

    /// The same caller, with `namespace` before its login.
    pub(super) fn with_namespace(self, namespace: &str) -> Result<Self, AuthError> {
        let CallerIdentity::Verified { identity, limit } = self.0 else {
            return Ok(self);
        };
        let user_id = UserId::parse(&format!("{namespace}{}", identity.user_id))
            .map_err(|error| AuthError::Refused(format!("sub of the token: {error}")))?;
        Ok(Caller::limited(Identity { user_id, ..identity }, limit))
    }

    /// A caller whose credential GitHub has to verify for each repository.
    pub(super) fn unverified(credential: Credential) -> Self {
        Caller(CallerIdentity::Unverified(credential))
    }

    /// The identity of the caller in `repo`.
    ///
    /// # Errors
    /// [`AuthError::ForbiddenRepository`] when its credential does not count there.
    pub fn in_repository(self, repo: &RepoId) -> Result<CallerIdentity, AuthError> {
        match self.0 {
            CallerIdentity::Verified { limit: Some(limit), .. } if !limit.includes(repo) => {
                Err(AuthError::ForbiddenRepository(format!(
                    "your token is not valid for {repo}; its claim repos lists the repositories that it is valid for"
                )))
            }
            identity => Ok(identity),
        }
    }
}

impl CallerIdentity {
    /// The identity, if it is known without a lookup.
    pub fn verified(&self) -> Option<&Identity> {
        match self {
            CallerIdentity::Verified { identity, .. } => Some(identity),
            CallerIdentity::Unverified(_) => None,
        }
    }

    /// Whether it has sent no credential.
    pub fn is_anonymous(&self) -> bool {
        matches!(self, CallerIdentity::Unverified(credential) if credential.token.is_none())
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_token_is_remembered_by_its_hash_and_shown_nowhere() {
        let credential = Credential::token("abc");
        assert_eq!(
            credential.name(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(!format!("{credential:?}").contains("abc"));
        assert_eq!(credential.secret().unwrap().expose_secret(), "abc");
        // The name of a token cannot be used as the token.
        assert_ne!(Credential::token(credential.name()).name(), credential.name());
    }
}
