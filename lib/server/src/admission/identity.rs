//! The caller's identity and rights in the repository, determined before any other work. An unverified caller's
//! credential is looked up in this process's memory, then in one key of the store. After that, within the
//! unverified-caller limit, GitHub verifies it by that credential alone.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use secrecy::ExposeSecret;

use super::caller_address::caller_address;
use super::lookups::Lookups;
use crate::app::App;
use crate::error::ApiError;
use coord_auth::{
    AuthError, CallerIdentity, Credential, Freshness, KnownCredentials, RememberedVerdict, RepoLimit, TokenVerifier,
    VERIFIED_LIFETIME, Verdict, is_well_formed,
};
use coord_domain::{Member, RepoId};
use coord_runtime::after_response::defer;
use coord_runtime::timing::Call;
use coord_sources::SourceError;
use coord_state::admission::{forget, remember};
use coord_store::Store;

/// The member of `repo` that `caller` is.
///
/// # Errors
/// When `repo` is not served, the credential is not valid for it, the unverified-caller limit is exceeded, or the
/// verification service is unavailable.
pub(super) async fn identify(app: &App, caller: CallerIdentity, repo: &RepoId) -> Result<Member, ApiError> {
    let served = app.serves(repo);
    let credential = match caller {
        CallerIdentity::Verified { identity, limit } => {
            served.map_err(|error| hide_other_repositories(limit.as_ref(), error))?;
            return Ok(Member {
                user_id: identity.user_id,
                user_name: identity.user_name,
                can_push: true,
                // The owner is unknown: every caller has the rights of COORD_APPROVERS, unless that is set.
                is_owner: app.approvers.logins().is_empty(),
            });
        }
        // Unverified callers must not find out which repositories are served.
        CallerIdentity::Unverified(_) if served.is_err() => return Err(unreadable_repository(repo)),
        CallerIdentity::Unverified(credential) => credential,
    };
    CredentialCheck::new(app, credential, repo)?.identify().await
}

/// Renews the verdict on `caller` if it is due, and waits for the renewal: a stream must not continue with an old
/// verdict. If GitHub does not respond, the old verdict still counts.
///
/// # Errors
/// When the credential is no longer valid for `repo`.
pub async fn renew_verdict(app: &App, caller: &CallerIdentity, repo: &RepoId) -> Result<(), ApiError> {
    let CallerIdentity::Unverified(credential) = caller else {
        return Ok(());
    };
    let check = CredentialCheck::new(app, credential.clone(), repo)?;
    match check.recall() {
        RememberedVerdict::Member(_, Freshness::Aging) => match check.verify().await {
            Err(ApiError::IdentityUnavailable(_)) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        },
        _ => Ok(()),
    }
}

/// Removes repositories outside of `limit` from `error`: a caller must not see which others are served.
fn hide_other_repositories(limit: Option<&RepoLimit>, mut error: SourceError) -> SourceError {
    if let (Some(limit), SourceError::UnknownRepository { known, renamed_to, .. }) = (limit, &mut error) {
        known.retain(|repo| limit.includes(repo));
        renamed_to.take_if(|repo| !limit.includes(repo));
    }
    error
}

fn unreadable_repository(repo: &RepoId) -> ApiError {
    ApiError::ForbiddenRepository(format!(
        "repository {repo} does not exist, or this token may not read it; send a token that may"
    ))
}

/// The check of a credential in a repository.
#[derive(Clone)]
struct CredentialCheck {
    store: Arc<dyn Store>,
    lookups: Arc<Lookups>,
    people: Arc<dyn TokenVerifier>,
    known: Arc<KnownCredentials>,
    credential: Credential,
    repo: RepoId,
}

impl CredentialCheck {
    fn new(app: &App, credential: Credential, repo: &RepoId) -> Result<Self, ApiError> {
        let (people, known) = app.authenticator.people().ok_or(ApiError::Internal)?;
        Ok(CredentialCheck {
            store: Arc::clone(&app.store),
            lookups: Arc::clone(&app.lookups),
            people: Arc::clone(people),
            known: Arc::clone(known),
            credential,
            repo: repo.clone(),
        })
    }

    async fn identify(self) -> Result<Member, ApiError> {
        let mut remembered = self.recall();
        if remembered == RememberedVerdict::Nothing {
            self.read_store().await?;
            remembered = self.recall();
        }
        match remembered {
            RememberedVerdict::Member(member, freshness) => self.accept_remembered(member, freshness).await,
            RememberedVerdict::Refused(verdict) => member_or_error(verdict),
            RememberedVerdict::Nothing => self.verify_unknown().await,
        }
    }

    fn recall(&self) -> RememberedVerdict {
        self.known.recall(self.credential.name(), &self.repo, SystemTime::now())
    }

    /// Reads the verdict of another process from the store.
    async fn read_store(&self) -> Result<(), ApiError> {
        let name = self.credential.name();
        if let Some((member, age)) = self.lookups.look_up(&*self.store, &self.repo, name).await? {
            self.known.note_member(name, &self.repo, member, SystemTime::now(), age);
        }
        Ok(())
    }

    /// Accepts a known member, and renews the verdict if it is old enough. The unverified-caller limit does not apply,
    /// so others' bad credentials cannot block a known member.
    async fn accept_remembered(self, member: Member, freshness: Freshness) -> Result<Member, ApiError> {
        self.note_address(&member);
        match freshness {
            Freshness::Fresh => Ok(member),
            Freshness::Aging => {
                self.renew_in_background();
                Ok(member)
            }
            Freshness::Old => match self.verify().await {
                Err(ApiError::IdentityUnavailable(why)) => {
                    tracing::warn!(
                        why,
                        "GitHub does not respond: the last verdict on a caller still counts"
                    );
                    Ok(member)
                }
                result => result,
            },
            Freshness::Expired => self.verify().await,
        }
    }

    fn renew_in_background(self) {
        let Some(renewal) = self.known.begin_renewal(self.credential.name(), &self.repo) else {
            return;
        };
        let renewal = Arc::new(renewal);
        let renew = || {
            let (check, renewal) = (self.clone(), Arc::clone(&renewal));
            async move {
                let _renewal = renewal;
                if let Err(error) = check.verify().await {
                    tracing::debug!(%error, "a verdict on a caller was not renewed");
                }
            }
        };
        // In a deployed function, only deferred work runs after the response.
        if !defer(|_| renew()) {
            tokio::spawn(renew());
        }
    }

    /// Notes the current address if `member` may push.
    fn note_address(&self, member: &Member) {
        if member.can_push {
            self.known.unverified.note_member(caller_address());
        }
    }

    async fn verify_unknown(self) -> Result<Member, ApiError> {
        let address = caller_address();
        let token = self.credential.secret();
        let is_well_formed = token.is_some_and(|token| is_well_formed(token.expose_secret()));
        let unverified = &self.known.unverified;
        let taken = unverified.take(address, is_well_formed);
        taken.map_err(|retry_after_seconds| ApiError::RateLimited {
            retry_after_seconds,
            reason: "this server received too many unknown credentials",
        })?;
        let result = self.verify().await;
        if let Ok(member) = &result {
            unverified.refund(address);
            self.note_address(member);
        }
        result
    }

    /// Has GitHub verify the credential, and remembers the verdict.
    async fn verify(&self) -> Result<Member, ApiError> {
        let (name, repo) = (self.credential.name(), &self.repo);
        let verdict = {
            let _call = Call::to_source();
            match self.credential.secret() {
                Some(token) => self.people.verify(token, repo).await,
                None => self.people.verify_without_token(repo).await,
            }
        };
        let now = SystemTime::now();
        match verdict {
            Ok(Verdict::Member(member)) => {
                self.known.note_member(name, repo, member.clone(), now, Duration::ZERO);
                remember(&*self.store, repo, name, &member, VERIFIED_LIFETIME).await?;
                Ok(member)
            }
            Ok(verdict) => {
                let was_known = matches!(self.recall(), RememberedVerdict::Member(..));
                self.known.note_refusal(name, repo, &verdict, now);
                if was_known {
                    forget(&*self.store, repo, name).await?;
                }
                member_or_error(verdict)
            }
            Err(error) => {
                if matches!(error, AuthError::Unavailable(_)) {
                    self.known.note_silence(name, repo, now);
                }
                Err(error.into())
            }
        }
    }
}

fn member_or_error(verdict: Verdict) -> Result<Member, ApiError> {
    match verdict {
        Verdict::Member(member) => Ok(member),
        Verdict::Refused(why) => Err(ApiError::Unauthorized(why)),
        Verdict::NoRight(why) => Err(ApiError::ForbiddenRepository(why)),
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use bytes::Bytes;
    use futures::stream::BoxStream;
    use secrecy::SecretString;

    use super::*;
    use crate::settings::Settings;
    use coord_auth::{Authenticator, Credentials};
    use coord_domain::UserId;
    use coord_store::{Request, StoreError, Value};

    /// A store that forgets.
    struct Forgetful;

    #[async_trait]
    impl Store for Forgetful {
        async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
            Ok(vec![Value::Int(0); batch.len()])
        }

        async fn subscribe(&self, _: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
            Err(StoreError::Unreachable("a test".to_owned()))
        }

        fn describe(&self) -> String {
            "a store of a test".to_owned()
        }
    }

    /// GitHub, which may have revoked the right or be down.
    struct GitHub {
        is_down: bool,
    }

    #[async_trait]
    impl TokenVerifier for GitHub {
        async fn verify(&self, _: &SecretString, _: &RepoId) -> Result<Verdict, AuthError> {
            if self.is_down {
                return Err(AuthError::Unavailable("it is down".to_owned()));
            }
            Ok(Verdict::NoRight("the right was taken away".to_owned()))
        }

        async fn verify_without_token(&self, _: &RepoId) -> Result<Verdict, AuthError> {
            Err(AuthError::Unavailable("nobody asks".to_owned()))
        }
    }

    /// Whether a verdict of this age counts for one who watches already.
    async fn counts(seconds: u64, is_down: bool) -> bool {
        let (known, repo) = (
            Arc::new(KnownCredentials::default()),
            RepoId::parse("https://github.com/acme/shop").unwrap(),
        );
        let credential = Credential::token("ghp_1");
        let member = Member {
            user_id: UserId::parse("ann").unwrap(),
            user_name: "Ann".to_owned(),
            can_push: true,
            is_owner: false,
        };
        let age = Duration::from_secs(seconds);
        known.note_member(credential.name(), &repo, member, SystemTime::now(), age);
        let authenticator = Authenticator::ByCredential(Credentials {
            people: Some(Arc::new(GitHub { is_down })),
            known,
            ..Credentials::default()
        });
        let app = App::new(&Settings::default(), Arc::new(Forgetful), authenticator);
        let caller = CallerIdentity::Unverified(credential);
        renew_verdict(&app, &caller, &repo).await.is_ok() && identify(&app, caller, &repo).await.is_ok()
    }

    #[tokio::test]
    async fn a_revoked_right_counts_for_a_watcher_no_longer_than_for_other_requests() {
        // A watcher is verified once a minute, so that none is believed with a verdict of five minutes.
        for (age, is_believed) in [(0, true), (230, true), (245, false), (295, false), (305, false)] {
            assert_eq!(counts(age, false).await, is_believed, "{age} s");
        }
        assert!(counts(250, true).await, "while GitHub is down, nobody loses a right");
    }
}
