//! Deliveries that are refused, and those that change nothing.

use serde_json::Value;

use crate::cloud::{WEBHOOK_SECRET, signature, started};
use crate::deliveries::{next, push};

const JSON: (&str, &str) = ("content-type", "application/json");
const PUSH: (&str, &str) = ("x-github-event", "push");

#[tokio::test]
async fn a_delivery_that_github_did_not_sign_is_refused_and_changes_nothing() {
    let (cloud, instance) = started().await;
    let body = push(&cloud.head, &next(&cloud), 1).to_string().into_bytes();
    let right = signature(&body, WEBHOOK_SECRET);
    let before = cloud.all_but_limits().await;
    let of_another_body = signature(b"{}", WEBHOOK_SECRET);
    let by_another = signature(&body, "it's a secret to everybody");
    let by_nothing = signature(&body, "");
    let other_case = right.to_uppercase();
    let sha1 = "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6";
    for (name, value) in [
        ("x-other", ""),
        ("x-hub-signature-256", ""),
        ("x-hub-signature-256", &of_another_body),
        ("x-hub-signature-256", &by_another),
        ("x-hub-signature-256", &by_nothing),
        ("x-hub-signature-256", &other_case),
        ("x-hub-signature-256", &right[..right.len() - 1]),
        ("x-hub-signature-256", sha1),
        ("x-hub-signature", sha1),
        ("x-hub-signature", &right),
        ("authorization", &right),
    ] {
        let refused = instance.deliver_as(&[JSON, PUSH, (name, value)], body.clone()).await;
        assert_eq!(refused.error(), (401, "UNAUTHORIZED"), "{name}: {value}: {refused:?}");
    }
    assert_eq!(cloud.all_but_limits().await, before);
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}

#[tokio::test]
async fn without_a_secret_nothing_is_taken() {
    let (cloud, _) = started().await;
    let delivery = push(&cloud.head, &next(&cloud), 1);
    let before = cloud.all_but_limits().await;
    let body = delivery.to_string().into_bytes();
    for value in ["", "undefined", "null", "  "] {
        let instance = cloud.instance(&[("GITHUB_WEBHOOK_SECRET", value)]).await;
        let signed = signature(&body, value);
        let headers = [JSON, PUSH, ("x-hub-signature-256", &signed)];
        for answer in [
            instance.deliver("push", &delivery).await,
            instance.deliver_as(&headers, body.clone()).await,
        ] {
            assert_eq!(answer.error(), (401, "UNAUTHORIZED"), "{value:?}: {answer:?}");
            assert!(answer.message().contains("GITHUB_WEBHOOK_SECRET"), "{answer:?}");
        }
    }
    assert_eq!(cloud.all_but_limits().await, before);
}

#[tokio::test]
async fn a_delivery_has_bounds_and_a_form() {
    let (cloud, instance) = started().await;
    let large = instance.deliver_as(&[JSON, PUSH], vec![b' '; (5 << 20) + 1]).await;
    large.expect_error(413, "BODY_TOO_LARGE");
    // One of the largest allowed size is read to its end.
    let mut padded = push(&cloud.head, &next(&cloud), 1).to_string().into_bytes();
    padded.resize(5 << 20, b' ');
    let signed = signature(&padded, WEBHOOK_SECRET);
    let headers = [JSON, PUSH, ("x-hub-signature-256", &signed)];
    assert_eq!(instance.deliver_as(&headers, padded).await.outcome(), "moved");

    let before = cloud.all_but_limits().await;
    let deliver = async |content_type: &str, event: Option<&str>, body: &[u8]| {
        let signed = signature(body, WEBHOOK_SECRET);
        let mut headers = vec![("x-hub-signature-256", signed.as_str())];
        headers.extend(Some(("content-type", content_type)).filter(|(_, value)| !value.is_empty()));
        headers.extend(event.map(|event| ("x-github-event", event)));
        instance.deliver_as(&headers, body.to_vec()).await
    };
    let json = "application/json";
    for (content_type, event, body) in [
        (json, Some("push"), &b"no JSON"[..]),
        (json, Some("push"), b""),
        (json, Some("push"), b"\xff\xfe"),
        (json, Some("push"), b"[]"),
        (json, Some("push"), b"{}"),
        (json, Some("push"), b"null"),
        (json, None, b"{}"),
        ("text/plain", Some("push"), b"{}"),
        ("", Some("push"), b"{}"),
        ("application/x-www-form-urlencoded", Some("push"), b"{}"),
        ("application/x-www-form-urlencoded", Some("push"), b"payload=%7B%7D"),
    ] {
        let refused = deliver(content_type, event, body).await;
        assert_eq!(refused.status, 400, "{content_type} {event:?} {body:?}: {refused:?}");
        assert!(refused.body["message"].is_string());
    }
    for event in ["ping", "issues", "workflow_run", "", "Push", "no such event"] {
        let answer = deliver(json, Some(event), b"{\"zen\": \"Keep it\"}").await;
        assert_eq!(answer.outcome(), "ignored", "{event}");
    }
    assert_eq!(cloud.all_but_limits().await, before);
}

#[tokio::test]
async fn a_payload_in_a_form_is_the_same() {
    let (cloud, instance) = started().await;
    let next = next(&cloud);
    let payload = push(&cloud.head, &next, 1).to_string();
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    let body = form.append_pair("payload", &payload).finish().into_bytes();
    let signed = signature(&body, WEBHOOK_SECRET);
    let content_type = ("content-type", "application/x-www-form-urlencoded");
    let headers = [content_type, PUSH, ("x-hub-signature-256", &signed)];
    assert_eq!(instance.deliver_as(&headers, body).await.outcome(), "moved");
    assert_eq!(cloud.head_field("commit").await, Some(next));
}

#[tokio::test]
async fn an_irrelevant_delivery_touches_no_key() {
    let (cloud, instance) = started().await;
    let next = next(&cloud);
    let before = cloud.all_but_limits().await;
    let with = |changes: &[(&str, &str)]| {
        let mut payload = push(&cloud.head, &next, 1);
        for (pointer, value) in changes {
            *payload.pointer_mut(pointer).unwrap() = Value::from(*value);
        }
        payload
    };
    for (changes, outcome) in [
        (&[("/ref", "refs/tags/v1")][..], "ignored"),
        (&[("/ref", "refs/heads/of/nobody")], "unused"),
        (
            &[
                ("/repository/full_name", "acme/gadgets"),
                ("/repository/html_url", "https://127.0.0.1/acme/gadgets"),
            ],
            "unused",
        ),
    ] {
        assert_eq!(instance.push(&with(changes)).await, outcome, "{changes:?}");
    }
    for change in [
        ("/repository/html_url", "https://github.com/acme/widgets"),
        ("/repository/full_name", "acme/widgets}:main"),
        ("/ref", "refs/heads/a:b"),
    ] {
        let refused = instance.deliver("push", &with(&[change])).await;
        assert_eq!(refused.status, 400, "{change:?}: {refused:?}");
    }
    assert_eq!(cloud.all_but_limits().await, before);
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}
