use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::{AuthError, Identity};
use crate::domain::UserId;

/// The audience that a token must be made for.
pub const AUDIENCE: &str = "coord";

/// Longest token that is looked at, in bytes.
const MAX_TOKEN_BYTES: usize = 8192;

/// Verifies JWTs signed with a shared secret: HS256 and nothing else; `exp` and `aud: "coord"` required, 60 s leeway.
#[derive(Clone)]
pub struct JwtVerifier {
    key: DecodingKey,
    validation: Validation,
}

impl std::fmt::Debug for JwtVerifier {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("JwtVerifier")
    }
}

#[derive(Deserialize)]
struct Claims {
    sub: String,
    name: Option<String>,
}

impl JwtVerifier {
    /// A verifier for tokens signed with `secret`.
    pub fn hs256(secret: &SecretString) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["exp", "aud", "sub"]);
        validation.validate_nbf = true;
        JwtVerifier {
            key: DecodingKey::from_secret(secret.expose_secret().as_bytes()),
            validation,
        }
    }

    /// The person that `token` names: `sub` is the login, `name` what to show.
    ///
    /// # Errors
    /// When the token is not valid, with a sentence that says why.
    pub fn verify(&self, token: &str) -> Result<Identity, AuthError> {
        use jsonwebtoken::errors::ErrorKind;
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError(format!("the token is longer than {MAX_TOKEN_BYTES} bytes")));
        }
        let claims = decode::<Claims>(token, &self.key, &self.validation).map_err(|error| {
            AuthError(match error.kind() {
                ErrorKind::ExpiredSignature => "the token has expired; get a new one".to_owned(),
                ErrorKind::ImmatureSignature => "the token is not valid yet".to_owned(),
                ErrorKind::InvalidAudience => format!("the token is for another audience; aud must be {AUDIENCE}"),
                ErrorKind::MissingRequiredClaim(claim) => format!("the token has no {claim}"),
                _ => "the token is not a JWT signed with this deployment's secret (HS256) whose sub is a login"
                    .to_owned(),
            })
        })?;
        let Claims { sub, name } = claims.claims;
        let user_id = UserId::parse(&sub).map_err(|error| AuthError(format!("sub of the token: {error}")))?;
        let shown = name.unwrap_or_default();
        let shown: String = shown
            .trim()
            .chars()
            .filter(|character| !character.is_control())
            .take(128)
            .collect();
        let user_name = if shown.is_empty() { user_id.to_string() } else { shown };
        Ok(Identity { user_id, user_name })
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{EncodingKey, Header, encode};
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &str = "a secret of the test";
    const FAR: u64 = 4_000_000_000;

    fn token(header: &Header, claims: &Value, secret: &str) -> String {
        encode(header, claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
    }

    fn verify(token: &str) -> Result<Identity, AuthError> {
        JwtVerifier::hs256(&SecretString::from(SECRET.to_owned())).verify(token)
    }

    #[test]
    fn a_good_token_names_its_subject() {
        let claims = json!({"sub": "octocat", "name": "Octo Cat", "exp": FAR, "aud": "coord"});
        let identity = verify(&token(&Header::default(), &claims, SECRET)).unwrap();
        assert_eq!(
            (identity.user_id.as_str(), identity.user_name.as_str()),
            ("octocat", "Octo Cat")
        );
        let claims = json!({"sub": "octocat", "exp": FAR, "aud": ["x", "coord"]});
        assert_eq!(
            verify(&token(&Header::default(), &claims, SECRET)).unwrap().user_name,
            "octocat"
        );
    }

    #[test]
    fn every_other_token_is_refused() {
        let good = json!({"sub": "octocat", "exp": FAR, "aud": "coord"});
        let with = |name: &str, value: Value| {
            let mut claims = good.clone();
            claims[name] = value;
            token(&Header::default(), &claims, SECRET)
        };
        let without = |name: &str| {
            let mut claims = good.clone();
            claims.as_object_mut().unwrap().remove(name);
            token(&Header::default(), &claims, SECRET)
        };
        // {"alg":"none"} and the same claims, without a signature.
        let unsigned = format!(
            "eyJhbGciOiJub25lIn0.{}.",
            with("sub", json!("octocat")).split('.').nth(1).unwrap()
        );
        for (what, token) in [
            ("another secret", token(&Header::default(), &good, "another")),
            (
                "another algorithm",
                token(&Header::new(Algorithm::HS512), &good, SECRET),
            ),
            ("alg none", unsigned),
            ("expired", with("exp", json!(1_000_000_000))),
            ("not yet valid", with("nbf", json!(FAR))),
            ("another audience", with("aud", json!("other"))),
            ("no exp", without("exp")),
            ("no aud", without("aud")),
            ("no sub", without("sub")),
            ("an empty sub", with("sub", json!(""))),
            ("a sub with a line break", with("sub", json!("a\nb"))),
            ("a sub that is no text", with("sub", json!(7))),
            ("nothing", String::new()),
            ("rubbish", "a.b.c".to_owned()),
            ("too long", "x".repeat(9000)),
        ] {
            assert!(verify(&token).is_err(), "{what}");
        }
    }
}
