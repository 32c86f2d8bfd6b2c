//! The headers of a request that have its credential: `Authorization`, or `X-API-Key`. A proxy sends `X-API-Key` if its platform
//! reserves `Authorization` for itself.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::AuthError;

/// The header of proxies. It contains only a token, without a scheme such as `Bearer`.
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The headers that may have a credential.
pub const CREDENTIAL_HEADERS: [HeaderName; 2] = [AUTHORIZATION, X_API_KEY];

/// Whether the request has a credential, good or bad.
pub fn presents_credential(headers: &HeaderMap) -> bool {
    CREDENTIAL_HEADERS.iter().any(|name| headers.contains_key(name))
}

/// The caller's token, from `Authorization: Bearer TOKEN` or `X-API-Key: TOKEN`.
///
/// # Errors
/// When the request has one of the headers twice, `X-API-Key` is not a token, or the two headers differ.
pub(super) fn presented_token(headers: &HeaderMap) -> Result<Option<&str>, AuthError> {
    if headers.get_all(AUTHORIZATION).iter().nth(1).is_some() {
        return Err(AuthError::refused("Authorization was sent twice; send it once"));
    }
    let bearer = bearer_token(headers);
    let mut keys = headers.get_all(X_API_KEY).iter();
    let Some(key) = keys.next() else {
        return Ok(bearer);
    };
    if keys.next().is_some() {
        return Err(AuthError::refused("X-API-Key was sent twice; send it once"));
    }
    let key = key.to_str().map(str::trim).unwrap_or_default();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(AuthError::refused(
            "X-API-Key is not a token; send the token alone, without a word such as Bearer before it",
        ));
    }
    if bearer.is_some_and(|bearer| bearer != key) {
        return Err(AuthError::refused(
            "Authorization and X-API-Key have different tokens; send one of the two headers",
        ));
    }
    Ok(Some(key))
}

/// The token of `Authorization: Bearer TOKEN`, if the request has that header exactly once.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether the bearer token of the request is `secret`. The comparison takes the same time for all tokens of that
/// length.
pub fn has_bearer_secret(headers: &HeaderMap, secret: &SecretString) -> bool {
    bearer_token(headers).is_some_and(|token| token.as_bytes().ct_eq(secret.expose_secret().as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_token_is_read_from_either_header() {
        for (pairs, token) in [
            (&[][..], None),
            (&[("authorization", "Bearer one")], Some("one")),
            (&[("x-api-key", "one")], Some("one")),
            (&[("x-api-key", " one ")], Some("one")),
            (&[("authorization", "bearer one"), ("x-api-key", "one")], Some("one")),
            // The password of a proxy in between, for example.
            (&[("authorization", "Basic YTpi"), ("x-api-key", "one")], Some("one")),
            (&[("authorization", "Basic YTpi")], None),
        ] {
            assert_eq!(presented_token(&headers(pairs)), Ok(token), "{pairs:?}");
        }
    }

    #[test]
    fn headers_that_contradict_each_other_are_refused_with_a_sentence() {
        for (pairs, start) in [
            (
                &[("authorization", "Bearer one"), ("x-api-key", "two")][..],
                "Authorization and X-API-Key have",
            ),
            (
                &[("authorization", "Bearer "), ("x-api-key", "two")],
                "Authorization and X-API-Key have",
            ),
            (
                &[("x-api-key", "one"), ("x-api-key", "one")],
                "X-API-Key was sent twice",
            ),
            (
                &[("authorization", "Bearer one"), ("authorization", "Bearer two")],
                "Authorization was sent twice",
            ),
            (
                &[("authorization", "Basic YTpi"), ("authorization", "Bearer one")],
                "Authorization was sent twice",
            ),
            (&[("x-api-key", "Bearer one")], "X-API-Key is not a token"),
            (&[("x-api-key", "")], "X-API-Key is not a token"),
            (&[("x-api-key", "töken")], "X-API-Key is not a token"),
        ] {
            let Err(AuthError::Refused(sentence)) = presented_token(&headers(pairs)) else {
                panic!("{pairs:?} is not refused");
            };
            assert!(sentence.starts_with(start), "{sentence}");
        }
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
            let request = headers(&[("authorization", value)]);
            assert_eq!(has_bearer_secret(&request, &secret), opens, "{value}");
        }
        assert!(!has_bearer_secret(&headers(&[("x-api-key", "right")]), &secret));
        let twice = headers(&[("authorization", "Bearer right"), ("authorization", "Bearer wrong")]);
        assert!(!has_bearer_secret(&twice, &secret));
    }
}
