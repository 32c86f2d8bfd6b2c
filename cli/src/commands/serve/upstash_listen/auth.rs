//! Authentication: `Authorization: Bearer TOKEN`, or `_token=TOKEN` in the query.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::answer::Refusal;

const TOKEN_PARAMETER: &str = "_token";

/// Compares the request's token with `token`, in a time that does not depend on the first difference. Returns the rest of
/// the query, in order.
///
/// # Errors
/// 401 without a token, with a wrong one or several, and whenever `token` is empty.
pub(super) fn check(token: &SecretString, request: &Request) -> Result<Vec<(String, String)>, Refusal> {
    let query = request.uri().query().unwrap_or_default();
    let (tokens, rest): (Vec<_>, Vec<_>) = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .partition(|(name, _)| name == TOKEN_PARAMETER);
    let mut headers = request.headers().get_all(AUTHORIZATION).iter();
    let bearer = headers.next().and_then(|value| bearer(value.as_bytes()));
    let given = bearer
        .or_else(|| tokens.first().map(|(_, value)| value.as_bytes()))
        .filter(|_| headers.next().is_none() && tokens.len() <= 1)
        .unwrap_or_default();
    let expected = token.expose_secret().as_bytes();
    if expected.is_empty() || !bool::from(given.ct_eq(expected)) {
        return Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "WRONGPASS invalid or missing auth token. Unauthorized: send Authorization: Bearer TOKEN",
        ));
    }
    Ok(rest)
}

fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token.trim_ascii())
}
