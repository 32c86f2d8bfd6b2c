use std::sync::Arc;

use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::issuer_keys::IssuerKeys;
use super::repo_limit::RepoLimit;
use super::verification_key::VerificationKey;
use super::{AuthError, Caller, Identity};
use coord_domain::{Invalid, UserId, plain_text};

/// The required audience of a token, unless the configuration names another.
pub const AUDIENCE: &str = "coord";

/// Maximum length of a token in bytes.
const MAX_TOKEN_BYTES: usize = 8192;

/// Maximum length of a `kid` in bytes. It is only compared with those of the keys.
const MAX_KID_BYTES: usize = 256;

/// Tolerated difference of clocks in seconds.
const LEEWAY_SECONDS: u64 = 60;

/// Verifies JWTs: `exp`, `aud` and `sub` required, 60 s leeway; `iss` as configured. The configured key determines the
/// algorithm that a token must have.
#[derive(Clone, Debug)]
pub struct JwtVerifier {
    keys: Keys,
    issuer: Option<String>,
    audience: String,
}

#[derive(Clone, Debug)]
enum Keys {
    One(Arc<VerificationKey>),
    OfIssuer(IssuerKeys),
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    name: Option<String>,
    /// Declared as text, because the library would also accept a list.
    #[serde(rename = "iss")]
    _iss: Option<String>,
    #[serde(default, deserialize_with = "null_as_value")]
    repos: Option<Value>,
}

/// A claim that is present, even if it is `null`: that must not count as absent.
fn null_as_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl JwtVerifier {
    /// A verifier for tokens signed with `secret`: HS256.
    pub fn hs256(secret: &SecretString) -> Self {
        Self::new(Keys::One(Arc::new(VerificationKey::secret(secret))))
    }

    /// A verifier for tokens signed with the private half of the key in `pem`: RS256 for an RSA key, ES256 for EC
    /// P-256, EdDSA for Ed25519.
    ///
    /// # Errors
    /// When it contains no such key. The error states the problem, to follow the name of the setting.
    pub fn public_key(pem: &str) -> Result<Self, Invalid> {
        Ok(Self::new(Keys::One(Arc::new(VerificationKey::from_pem(pem)?))))
    }

    /// A verifier for tokens of `issuer`, signed with one of its `keys`. Each key verifies the algorithm of its kind.
    pub fn key_set(keys: IssuerKeys, issuer: &str) -> Self {
        Self::new(Keys::OfIssuer(keys)).with_issuer(issuer)
    }

    fn new(keys: Keys) -> Self {
        JwtVerifier {
            keys,
            issuer: None,
            audience: AUDIENCE.to_owned(),
        }
    }

    /// The same verifier, for tokens whose `iss` is `issuer` and nothing else.
    #[must_use]
    pub fn with_issuer(mut self, issuer: &str) -> Self {
        self.issuer = Some(issuer.to_owned());
        self
    }

    /// The required value of `iss`, if any.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// The same verifier, for tokens with the audience `audience` instead of [`AUDIENCE`].
    #[must_use]
    pub fn with_audience(mut self, audience: &str) -> Self {
        audience.clone_into(&mut self.audience);
        self
    }

    /// The caller that `token` names: `sub` is the login, `name` the display name, `repos` the repositories where it
    /// counts.
    ///
    /// # Errors
    /// [`AuthError::Refused`] when the token is not valid, with a sentence that says why; [`AuthError::Unavailable`]
    /// when the issuer's keys cannot be fetched.
    pub async fn verify(&self, token: &str) -> Result<Caller, AuthError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError::Refused(format!(
                "the token is longer than {MAX_TOKEN_BYTES} bytes"
            )));
        }
        let key = self.key_for(token).await?;
        let mut validation = Validation::new(key.algorithm);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "aud", "sub"]);
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            validation.set_required_spec_claims(&["exp", "aud", "sub", "iss"]);
        }
        let token = decode::<Claims>(token, &key.key, &validation).map_err(|error| self.refusal(&error))?;
        caller(token.claims)
    }

    /// The key for `token`. Only `alg`, `kid` and `crit` of its header are read.
    async fn key_for(&self, token: &str) -> Result<Arc<VerificationKey>, AuthError> {
        let header = decode_header(token).map_err(|error| self.refusal(&error))?;
        if header.crit.is_some() {
            // RFC 7515, section 4.1.11: a critical header that is not understood makes the token invalid.
            return Err(AuthError::refused(
                "the token has a critical header (crit), and Coord supports none",
            ));
        }
        match &self.keys {
            Keys::One(key) => Ok(Arc::clone(key)),
            Keys::OfIssuer(keys) => {
                if !matches!(header.alg, Algorithm::RS256 | Algorithm::ES256 | Algorithm::EdDSA) {
                    return Err(self.invalid_token_error());
                }
                let kid = header.kid.as_deref();
                if kid.is_some_and(|kid| kid.len() > MAX_KID_BYTES) {
                    return Err(AuthError::Refused(format!(
                        "kid of the token is longer than {MAX_KID_BYTES} bytes"
                    )));
                }
                keys.key(header.alg, kid).await
            }
        }
    }

    fn refusal(&self, error: &Error) -> AuthError {
        AuthError::Refused(match error.kind() {
            ErrorKind::ExpiredSignature => "the token has expired; get a new one".to_owned(),
            ErrorKind::ImmatureSignature => "the token is not valid yet".to_owned(),
            ErrorKind::InvalidAudience => {
                format!("the token is for another audience; aud must be {}", self.audience)
            }
            ErrorKind::InvalidIssuer => "the token is from another issuer (iss)".to_owned(),
            ErrorKind::MissingRequiredClaim(claim) => format!("the token has no {claim}"),
            _ => return self.invalid_token_error(),
        })
    }

    fn invalid_token_error(&self) -> AuthError {
        let signer = match &self.keys {
            Keys::One(key) if key.algorithm == Algorithm::HS256 => "with this deployment's secret (HS256)".to_owned(),
            Keys::One(key) => format!(
                "with the private key of this deployment's public key ({:?})",
                key.algorithm
            ),
            Keys::OfIssuer(_) => "with a key of this deployment's issuer (RS256, ES256 or EdDSA)".to_owned(),
        };
        AuthError::Refused(format!("the token must be a JWT signed {signer}, with a login as sub"))
    }
}

fn caller(claims: Claims) -> Result<Caller, AuthError> {
    let Claims { sub, name, repos, .. } = claims;
    let claim_error = |claim: &str, error: &Invalid| AuthError::Refused(format!("{claim} of the token: {error}"));
    let user_id = UserId::parse(&sub).map_err(|error| claim_error("sub", &error))?;
    let limit = repos.as_ref().map(RepoLimit::parse).transpose();
    let limit = limit.map_err(|error| claim_error("repos", &error))?;
    let mut user_name: String = plain_text(&name.unwrap_or_default()).chars().take(128).collect();
    if user_name.is_empty() {
        user_name = user_id.to_string();
    }
    Ok(Caller::limited(Identity { user_id, user_name }, limit))
}
