//! Each bound takes its most, and not one more; no text has what a terminal or a reader would not see.

use reqwest::Method;
use serde_json::{Value, json};

use super::{body, error};
use crate::api::Api;

/// A request of `who`, and the field that it is about.
struct Case {
    who: &'static str,
    method: Method,
    path: &'static str,
    field: &'static str,
    /// Accepted.
    most: Value,
    /// Refused, and nothing is changed.
    more: Value,
}

fn case(who: &'static str, method: Method, path: &'static str, field: &'static str, most: Value, more: Value) -> Case {
    Case {
        who,
        method,
        path,
        field,
        most,
        more,
    }
}

fn post(who: &'static str, path: &'static str, field: &'static str, most: Value, more: Value) -> Case {
    case(who, Method::POST, path, field, most, more)
}

impl Api {
    async fn tries(&self, case: &Case, sent: &Value) -> (u16, Value) {
        let (user, body) = body(case.who, sent.clone());
        let headers = [("x-coord-user", user.as_str()), ("content-type", "application/json")];
        let answer = self
            .request(case.method.clone(), case.path, &headers, body.to_string())
            .await;
        (answer.status, answer.json())
    }
}

fn text(letter: &str, count: usize) -> String {
    letter.repeat(count)
}

// rule: teams#text-bounds
#[tokio::test]
async fn each_bound_takes_its_most_and_not_one_more() {
    const LONG: usize = 16 * 1024;
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B" }])).await;
    let new_task = |more: Value| json!({ "tasks": [more] });
    let some = |count: usize| (0..count).map(|number| format!("src/{number}.ts")).collect::<Vec<_>>();
    let message = |more: Value| {
        let mut sent = json!({ "to": ["two"], "message": "x" });
        sent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        sent
    };
    let cases = [
        post(
            "eve/one",
            "/api/teams",
            "name",
            json!({ "name": text("n", 64) }),
            json!({ "name": text("m", 65) }),
        ),
        post(
            "eve/two",
            "/api/teams/alpha/join",
            "handle",
            json!({ "handle": text("h", 64) }),
            json!({ "handle": text("i", 65) }),
        ),
        post(
            "eve/three",
            "/api/teams/alpha/join",
            "agent_name",
            json!({ "agent_name": text("ö", 500) }),
            json!({ "agent_name": text("ö", 501) }),
        ),
        // Characters, not bytes.
        post(
            "ann/lead",
            "/api/tasks",
            "title",
            new_task(json!({ "title": text("\u{1f600}", 200) })),
            new_task(json!({ "title": text("x", 201) })),
        ),
        // Bytes, not characters.
        post(
            "ann/lead",
            "/api/tasks",
            "description",
            new_task(json!({ "description": text("ö", LONG / 2) })),
            new_task(json!({ "description": text("ö", LONG / 2) + "x" })),
        ),
        post(
            "ann/lead",
            "/api/tasks",
            "id",
            new_task(json!({ "id": text("i", 64) })),
            new_task(json!({ "id": text("j", 65) })),
        ),
        post(
            "ann/lead",
            "/api/tasks",
            "tasks",
            json!({ "tasks": vec![json!({}); 200] }),
            json!({ "tasks": vec![json!({}); 201] }),
        ),
        post(
            "ann/lead",
            "/api/tasks",
            "dependencies",
            new_task(json!({ "dependencies": vec!["t1"; 256] })),
            new_task(json!({ "dependencies": vec!["t1"; 257] })),
        ),
        post(
            "ann/lead",
            "/api/tasks",
            "files",
            new_task(json!({ "files": some(512) })),
            new_task(json!({ "files": some(513) })),
        ),
        case(
            "ann/lead",
            Method::PATCH,
            "/api/tasks/t2",
            "note",
            json!({ "note": text("n", LONG) }),
            json!({ "note": text("n", LONG + 1) }),
        ),
        post(
            "bob/one",
            "/api/tasks/t1/claim",
            "lease_seconds",
            json!({ "lease_seconds": 86_400 }),
            json!({ "lease_seconds": 86_401 }),
        ),
        post(
            "bob/one",
            "/api/tasks/t1/complete",
            "result",
            json!({ "result": text("r", LONG) }),
            json!({ "result": text("r", LONG + 1) }),
        ),
        post(
            "ann/lead",
            "/api/messages",
            "message",
            message(json!({ "message": text("m", LONG) })),
            message(json!({ "message": text("m", LONG + 1) })),
        ),
        post(
            "ann/lead",
            "/api/messages",
            "summary",
            message(json!({ "summary": text("ö", 500) })),
            message(json!({ "summary": text("ö", 501) })),
        ),
        post(
            "ann/lead",
            "/api/messages",
            "to",
            message(json!({ "to": vec!["one"; 100] })),
            message(json!({ "to": vec!["one"; 101] })),
        ),
        post(
            "bob/two",
            "/api/messages/read",
            "limit",
            json!({ "limit": 500 }),
            json!({ "limit": 501 }),
        ),
        post(
            "ann/lead",
            "/api/teams/alpha/shutdown",
            "reason",
            json!({ "step": "request", "target": "two", "reason": text("ö", 500) }),
            json!({ "step": "request", "target": "two", "reason": text("ö", 501) }),
        ),
    ];
    for case in &cases {
        let before = api.newest_event().await;
        let (status, refused) = api.tries(case, &case.more).await;
        assert_eq!((status, &refused["field"]), (400, &json!(case.field)), "{refused}");
        assert_eq!(api.newest_event().await, before, "{}: nothing has happened", case.field);
        let (status, accepted) = api.tries(case, &case.most).await;
        assert_eq!(status, 200, "{}: {accepted}", case.field);
    }
}

#[tokio::test]
async fn no_text_has_what_a_terminal_obeys_or_a_reader_does_not_see() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
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
            (
                "ann/lead",
                "/api/tasks",
                "title",
                json!({ "tasks": [{ "title": words }] }),
            ),
            (
                "ann/lead",
                "/api/tasks",
                "description",
                json!({ "tasks": [{ "description": words }] }),
            ),
            (
                "bob/one",
                "/api/tasks/t1/complete",
                "result",
                json!({ "result": words }),
            ),
            ("bob/one", "/api/tasks/t1/release", "note", json!({ "note": words })),
            (
                "bob/one",
                "/api/messages",
                "message",
                json!({ "to": ["two"], "message": words }),
            ),
            (
                "bob/one",
                "/api/messages",
                "summary",
                json!({ "to": ["two"], "message": "x", "summary": words }),
            ),
            (
                "bob/one",
                "/api/messages",
                "to",
                json!({ "to": [words], "message": "x" }),
            ),
            (
                "ann/lead",
                "/api/teams/alpha/shutdown",
                "reason",
                json!({ "step": "request", "reason": words }),
            ),
            ("eve/one", "/api/teams/alpha/join", "handle", json!({ "handle": words })),
            (
                "eve/one",
                "/api/teams/alpha/join",
                "agent_name",
                json!({ "agent_name": words }),
            ),
            ("eve/one", "/api/teams", "name", json!({ "name": words })),
        ] {
            let refused = api.sends(who, path, more).await;
            assert_eq!(
                (refused.status, &refused.json()["field"]),
                (400, &json!(field)),
                "{hidden:?}: {:?}",
                error(&refused)
            );
            let shown = String::from_utf8(refused.bytes).unwrap();
            assert!(!shown.contains(hidden), "{field}: {shown:?}");
        }
    }
    assert_eq!(api.newest_event().await, before, "nothing has happened");
}
