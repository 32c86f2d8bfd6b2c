//! Deliveries of GitHub's webhooks: their signature and their content. Nothing here sends a request.
//!
//! - `signature`: whether a delivery is signed with the secret
//! - `delivery`: the content of a delivery; `payload_repository`: its repository
//! - `push`: pushed branches and commits; `pull_request`: pull requests; `renaming`: old names of repositories
//!
//! <https://docs.github.com/en/webhooks/webhook-events-and-payloads>

mod delivery;
mod payload_repository;
mod pull_request;
mod push;
mod renaming;
mod signature;

use std::borrow::Cow;

use secrecy::SecretString;

pub use delivery::{Delivery, PullRequest, Push};
pub use push::MAX_COMMITS;
pub use signature::is_signed;

use coord_domain::Invalid;

/// Maximum size of a delivery: GitHub's own limit.
pub const MAX_BYTES: usize = 25 << 20;

/// The settings that verify deliveries.
#[derive(Debug)]
pub struct Webhook {
    /// The secret with which GitHub signs deliveries.
    pub secret: SecretString,
    /// The host of the served repositories.
    pub host: String,
}

impl Webhook {
    pub fn new(secret: SecretString, host: &str) -> Self {
        Webhook {
            secret,
            host: host.to_owned(),
        }
    }
}

/// The delivery with this `body` in JSON. `event` is the value of `X-GitHub-Event`, and `host` the host of the served
/// repositories, from [`ApiBase::served_host`](super::ApiBase::served_host).
///
/// # Errors
/// When a push, a pull request or an event of a repository does not have the documented form, is about a repository on
/// another host, or contains an invalid name.
pub fn parse(event: &str, body: &[u8], host: &str) -> Result<Delivery, Invalid> {
    if body.len() > MAX_BYTES {
        return Err(Invalid(format!(
            "the delivery has {} bytes; at most {MAX_BYTES} are allowed",
            body.len()
        )));
    }
    match event {
        "push" => push::parse(body, host),
        "pull_request" => pull_request::parse(body, host),
        "repository" => renaming::parse(body, host),
        "ping" => Ok(Delivery::Ping),
        _ => Ok(Delivery::Other),
    }
}

/// The JSON in a body of this type: the whole body, or the field `payload` of a form. The signature is always that of
/// the body.
///
/// # Errors
/// When the type is another one, or the form does not have exactly one field `payload`.
pub fn payload<'a>(content_type: &str, body: &'a [u8]) -> Result<Cow<'a, [u8]>, Invalid> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(Cow::Borrowed(body));
    }
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(Invalid(
            "a delivery is application/json or application/x-www-form-urlencoded; set one as the content type of the \
             webhook"
                .to_owned(),
        ));
    }
    let mut payloads = url::form_urlencoded::parse(body).filter(|(name, _)| name == "payload");
    match (payloads.next(), payloads.next()) {
        (Some((_, payload)), None) => Ok(match payload {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }),
        (None, _) => Err(Invalid("the form has no field payload".to_owned())),
        (Some(_), Some(_)) => Err(Invalid("the form has more than one field payload".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_the_body_or_a_field_of_the_form() {
        let json = br#"{"ref": "refs/heads/a+b&c=d%"}"#;
        for content_type in [
            "application/json",
            "application/json; charset=utf-8",
            " Application/JSON ;x",
        ] {
            assert_eq!(*payload(content_type, json).unwrap(), json[..], "{content_type}");
        }
        let form = b"payload=%7B%22ref%22%3A+%22refs%2Fheads%2Fa%2Bb%26c%3Dd%25%22%7D";
        let both = [&b"x=1&"[..], form, b"&y=payload"].concat();
        for body in [&form[..], &both] {
            assert_eq!(*payload("application/x-www-form-urlencoded", body).unwrap(), json[..]);
        }
        assert_eq!(
            *payload("application/x-www-form-urlencoded", b"payload").unwrap(),
            b""[..]
        );
    }

    #[test]
    fn another_type_or_form_is_refused() {
        for (content_type, body) in [
            ("", &b"{}"[..]),
            ("text/plain", b"{}"),
            ("application/jsonx", b"{}"),
            ("multipart/form-data; boundary=x", b"payload={}"),
            ("application/x-www-form-urlencoded", b""),
            ("application/x-www-form-urlencoded", b"{}"),
            ("application/x-www-form-urlencoded", b"Payload={}"),
            ("application/x-www-form-urlencoded", b"payload={}&payload={}"),
            ("application/x-www-form-urlencoded", b"payload={}&p%61yload={}"),
        ] {
            assert!(payload(content_type, body).is_err(), "{content_type} {body:?}");
        }
    }

    #[test]
    fn only_a_push_is_read() {
        assert_eq!(parse("ping", b"", "github.com"), Ok(Delivery::Ping));
        for event in ["", "issues", "Push", "push ", "workflow_run", "\u{0}"] {
            assert_eq!(parse(event, b"\xff", "github.com"), Ok(Delivery::Other), "{event:?}");
        }
        assert!(parse("push", b"\xff", "github.com").is_err());
        assert!(parse("ping", &vec![b' '; MAX_BYTES + 1], "github.com").is_err());
    }
}
