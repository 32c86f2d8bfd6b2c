//! Each bound takes its most, and not one more; no text has what a terminal or a reader would not see.

use reqwest::Method;
use serde_json::{Value, json};

use super::{with, wrong_field};
use crate::api::Api;

/// A body whose `field` has so many characters, bytes, items or seconds.
fn body_of(field: &str, count: usize) -> Value {
    let text = |letter: &str| letter.repeat(count);
    let task = |value: Value| json!({ "tasks": [{ field: value }] });
    match field {
        "name" | "handle" | "note" | "result" => json!({ field: text("n") }),
        "agent_name" => json!({ field: text("ö") }),
        // Characters, not bytes.
        "title" => task(json!(text("\u{1f600}"))),
        // Bytes, not characters.
        "description" => task(json!("ö".repeat(count / 2) + &"x".repeat(count % 2))),
        "id" => task(json!(text("i"))),
        "tasks" => json!({ field: vec![json!({}); count] }),
        "dependencies" => task(json!(vec!["t1"; count])),
        "files" => task((0..count).map(|number| format!("src/{number}.ts")).collect()),
        "lease_seconds" | "limit" => json!({ field: count }),
        "message" => json!({ "to": ["two"], field: text("m") }),
        "summary" => json!({ "to": ["two"], "message": "x", field: text("ö") }),
        "to" => json!({ field: vec!["one"; count], "message": "x" }),
        "reason" => json!({ "step": "request", "target": "two", field: text("ö") }),
        _ => panic!("no body for {field}"),
    }
}

// rule: teams#text-bounds
#[tokio::test]
async fn each_bound_takes_its_most_and_not_one_more() {
    const LONG: usize = 16 * 1024;
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B" }])).await;
    for (who, path, field, most) in [
        ("eve/one", "teams", "name", 64),
        ("eve/two", "teams/alpha/join", "handle", 64),
        ("eve/three", "teams/alpha/join", "agent_name", 500),
        ("ann/lead", "tasks", "title", 200),
        ("ann/lead", "tasks", "description", LONG),
        ("ann/lead", "tasks", "id", 64),
        ("ann/lead", "tasks", "tasks", 200),
        ("ann/lead", "tasks", "dependencies", 256),
        ("ann/lead", "tasks", "files", 512),
        ("ann/lead", "tasks/t2", "note", LONG),
        ("bob/one", "tasks/t1/claim", "lease_seconds", 86_400),
        ("bob/one", "tasks/t1/complete", "result", LONG),
        ("ann/lead", "messages", "message", LONG),
        ("ann/lead", "messages", "summary", 500),
        ("ann/lead", "messages", "to", 100),
        ("bob/two", "messages/read", "limit", 500),
        ("ann/lead", "teams/alpha/shutdown", "reason", 500),
    ] {
        let method = if field == "note" { Method::PATCH } else { Method::POST };
        let before = api.newest_event().await;
        let more = body_of(field, most + 1);
        let refused = api.sends_by(method.clone(), who, path, &more).await;
        assert_eq!(wrong_field(&refused), field);
        assert_eq!(api.newest_event().await, before, "{field}: nothing has happened");
        let accepted = api.sends_by(method, who, path, &body_of(field, most)).await;
        assert_eq!(accepted.status, 200, "{field}: {}", accepted.json());
    }
}

#[tokio::test]
async fn no_text_has_what_a_terminal_obeys_or_a_reader_does_not_see() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.claims_task("bob/one", "t1").await;
    let before = api.newest_event().await;
    for hidden in [
        "\u{1b}[2J",
        "\u{7}",
        "\u{9b}31m",
        "\0",
        "\u{202e}",
        "\u{200b}",
        "\u{feff}",
        "\u{7f}",
    ] {
        let words = format!("Fine{hidden}words");
        for (who, path, field, more) in [
            ("ann/lead", "tasks", "title", json!({})),
            ("ann/lead", "tasks", "description", json!({})),
            ("bob/one", "tasks/t1/complete", "result", json!({})),
            ("bob/one", "tasks/t1/release", "note", json!({})),
            ("bob/one", "messages", "message", json!({ "to": ["two"] })),
            (
                "bob/one",
                "messages",
                "summary",
                json!({ "to": ["two"], "message": "x" }),
            ),
            ("bob/one", "messages", "to", json!({ "message": "x" })),
            (
                "ann/lead",
                "teams/alpha/shutdown",
                "reason",
                json!({ "step": "request" }),
            ),
            ("eve/one", "teams/alpha/join", "handle", json!({})),
            ("eve/one", "teams/alpha/join", "agent_name", json!({})),
            ("eve/one", "teams", "name", json!({})),
        ] {
            let written = match (path, field) {
                ("tasks", _) => json!({ "tasks": [{ field: words }] }),
                (_, "to") => json!({ "to": [words] }),
                _ => json!({ field: words }),
            };
            let refused = api.sends(who, path, with(more, written)).await;
            assert_eq!(wrong_field(&refused), field, "{hidden:?}");
            let shown = String::from_utf8(refused.bytes).unwrap();
            assert!(!shown.contains(hidden), "{field}: {shown:?}");
        }
    }
    assert_eq!(api.newest_event().await, before, "nothing has happened");
}
