//! Who is calling. A caller never names itself: it shows a credential, or, on one machine, it is the user of that machine.

mod jwt;

pub use jwt::JwtVerifier;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::domain::UserId;

/// A verified caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The login.
    pub user_id: UserId,
    /// A name to show; the login where none is known.
    pub user_name: String,
}

/// Why a caller is nobody. The sentence may be shown to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuthError(pub String);

/// How callers are verified.
#[derive(Clone, Debug)]
pub enum Authenticator {
    /// By a JWT. Without a verifier (no secret is configured), nobody is let in.
    Jwt(Option<JwtVerifier>),
    /// On one machine, on a loopback address: a JWT if one is shown and can be verified, else the user that
    /// `X-Coord-User` names (so that several people can be played), else the user of the operating system.
    Local {
        /// User of the operating system.
        user: UserId,
        /// Verifies a JWT that is shown all the same.
        jwt: Option<JwtVerifier>,
    },
}

impl Authenticator {
    /// The caller of a request with these headers.
    ///
    /// # Errors
    /// When no credential is shown, or it is not valid.
    pub fn authenticate(&self, headers: &HeaderMap) -> Result<Identity, AuthError> {
        match self {
            Authenticator::Jwt(None) => Err(AuthError(
                "this deployment has no COORD_JWT_SECRET, so that it cannot verify anybody; its operator must set it"
                    .to_owned(),
            )),
            Authenticator::Jwt(Some(verifier)) => match bearer_token(headers) {
                Some(token) => verifier.verify(token),
                None => Err(AuthError("send a token: Authorization: Bearer JWT".to_owned())),
            },
            Authenticator::Local { user, jwt } => {
                if let (Some(verifier), Some(token)) = (jwt, bearer_token(headers)) {
                    return verifier.verify(token);
                }
                let user_id = match headers.get("x-coord-user") {
                    Some(value) => value
                        .to_str()
                        .map_err(|_| AuthError("X-Coord-User is not printable ASCII".to_owned()))
                        .and_then(|text| {
                            UserId::parse(text).map_err(|error| AuthError(format!("X-Coord-User: {error}")))
                        })?,
                    None => user.clone(),
                };
                Ok(Identity {
                    user_name: user_id.to_string(),
                    user_id,
                })
            }
        }
    }
}

/// The token of `Authorization: Bearer TOKEN`.
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether the request shows `secret` as its bearer token. Takes as long for a wrong token as for a right one of that length.
pub fn has_bearer_secret(headers: &HeaderMap, secret: &SecretString) -> bool {
    bearer_token(headers).is_some_and(|token| token.as_bytes().ct_eq(secret.expose_secret().as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn without_a_secret_nobody_is_let_in() {
        let nobody = Authenticator::Jwt(None);
        assert!(nobody.authenticate(&headers(&[])).is_err());
        assert!(
            nobody
                .authenticate(&headers(&[("authorization", "Bearer undefined")]))
                .is_err()
        );
    }

    #[test]
    fn a_deployed_function_ignores_the_header_that_names_a_user() {
        let verifier = JwtVerifier::hs256(&SecretString::from("a secret of the test".to_owned()));
        let deployed = Authenticator::Jwt(Some(verifier));
        assert!(deployed.authenticate(&headers(&[("x-coord-user", "alice")])).is_err());
    }

    #[test]
    fn on_one_machine_several_people_can_be_played() {
        let local = Authenticator::Local {
            user: UserId::parse("root").unwrap(),
            jwt: None,
        };
        let user = |pairs: &[(&'static str, &str)]| {
            local
                .authenticate(&headers(pairs))
                .map(|identity| identity.user_id.to_string())
        };
        assert_eq!(user(&[]).unwrap(), "root");
        assert_eq!(user(&[("x-coord-user", "alice")]).unwrap(), "alice");
        assert!(user(&[("x-coord-user", "")]).is_err());
        assert!(user(&[("x-coord-user", "al ice")]).is_err());
    }

    #[test]
    fn only_the_whole_secret_opens() {
        let secret = SecretString::from("right".to_owned());
        for (value, opens) in [
            ("Bearer right", true),
            ("bearer right", true),
            ("Bearer righ", false),
            ("Bearer ", false),
            ("right", false),
            ("Basic right", false),
        ] {
            assert_eq!(
                has_bearer_secret(&headers(&[("authorization", value)]), &secret),
                opens,
                "{value}"
            );
        }
    }
}
