//! The id of a request, in its response and in the log.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header of the id, in requests and in responses.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const X_VERCEL_ID: HeaderName = HeaderName::from_static("x-vercel-id");

/// Maximum number of characters in an id.
const MAX_LENGTH: usize = 128;

/// The caller's id if it is valid, otherwise a UUID (version 7). It has only letters, digits, `.`, `_`, `-` and `:`, so
/// that it breaks neither a header nor a line of the log.
pub fn request_id(headers: &HeaderMap) -> HeaderValue {
    let caller_id = headers.get(X_REQUEST_ID).filter(|value| is_valid_id(value)).cloned();
    caller_id.unwrap_or_else(|| {
        let id = uuid::Uuid::now_v7().hyphenated().to_string();
        HeaderValue::from_str(&id).expect("a UUID is ASCII")
    })
}

/// Vercel's id of the request.
pub fn vercel_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get(X_VERCEL_ID).filter(|value| is_valid_id(value))?;
    id.to_str().ok()
}

fn is_valid_id(value: &HeaderValue) -> bool {
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:-".contains(byte);
    (1..=MAX_LENGTH).contains(&value.len()) && value.as_bytes().iter().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(sent: &[u8]) -> HeaderValue {
        let value = HeaderValue::from_bytes(sent).unwrap();
        request_id(&[(X_REQUEST_ID, value)].into_iter().collect())
    }

    #[test]
    fn a_good_id_is_kept() {
        for id in ["a", "7f.A_b-c:9", &"x".repeat(128)] {
            assert_eq!(given(id.as_bytes()), id);
        }
    }

    #[test]
    fn any_other_is_replaced() {
        for id in [
            &b""[..],
            b"a b",
            b"a\tb",
            b"a\"b",
            b"a,b",
            b"a;b",
            b"<script>",
            b"{}",
            b"\xc3\xa9",
            b"\xff",
            "x".repeat(129).as_bytes(),
        ] {
            let given = given(id);
            assert_ne!(given.as_bytes(), id);
            assert_eq!(given.len(), 36);
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }
}
