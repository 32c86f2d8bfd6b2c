//! Requests that are meant to reach what is not the caller's.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::intent;
use crate::answer::Answer;
use crate::api::{Api, REPO_URL};
use crate::ledger::{HASH, call, change, record};

/// Ids that would leave their key, path, text of a line or argument of a script.
const ESCAPES: [&str; 14] = [
    "*",
    "../REQ-1",
    "REQ-1/unblock",
    "a:b",
    "a b",
    "a\nb",
    "a\u{0}b",
    "a\",\"status\":\"IN_PROGRESS",
    "a]]--",
    "{other}",
    "-1",
    ".a",
    "größe",
    "REQ-1\u{202e}",
];

/// `text` with each byte as in an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// The parts of all keys' names behind the repository, but for digests, and the ids in the registry.
async fn stored(api: &Api) -> (Vec<String>, Vec<String>) {
    let texts = async |words: [&str; 2]| -> Vec<String> {
        let found = api.command(words).await.unwrap();
        let texts = found.as_array().unwrap().iter();
        texts.map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let ends = texts(["KEYS", "coord:*"]).await.into_iter().map(|key| {
        let (_, end) = key.split_once("{github.com/acme/shop}").unwrap();
        let is_digest = end.len() == 41 && end.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit());
        if is_digest { String::new() } else { end.to_owned() }
    });
    let mut ends: Vec<String> = ends.collect();
    // The limit of the repository is there for milliseconds.
    ends.retain(|end| end != ":all");
    ends.sort();
    ends.dedup();
    let ids = texts([
        "HKEYS",
        &coord_intents_state::intents::keys::intents(&crate::api::repo()),
    ])
    .await;
    (ends, ids)
}

#[tokio::test]
async fn no_id_of_an_intent_escapes_its_key_wherever_it_is_sent() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    let before = (api.ledger_lines().await, api.reads_intents("ann", "").await);
    let refused = |place: &str, id: &str, answer: Answer| {
        let body = answer.json();
        assert!(
            matches!(answer.status, 400 | 404),
            "{place} {id:?}: {} {body}",
            answer.status
        );
        assert!(
            ["INVALID_FIELD", "UNKNOWN_ROUTE", "MALFORMED_BODY"].contains(&body["error"].as_str().unwrap()),
            "{place} {id:?}: {body}"
        );
    };
    for id in ESCAPES {
        let mut body = intent("REQ-2", &["src/auth.ts"]);
        for field in ["id", "supplements"] {
            let mut body = body.clone();
            body[field] = json!(id);
            refused(field, id, api.post("ann", "/api/intents", &body).await);
        }
        body["id"] = json!(id);
        for (place, body) in [
            (
                "post_status",
                api.post_body("WRITING", &["src/db.ts"], json!({ "intent_id": id })),
            ),
            (
                "check_status",
                api.check_body(&["src/db.ts"], json!({ "intent_id": id })),
            ),
            (
                "ledger",
                json!({ "repo_url": REPO_URL, "intent_id": id, "entries": [call("t")] }),
            ),
            ("intents/REQ-1/allow", json!({ "repo_url": REPO_URL, "other": id })),
        ] {
            refused(place, id, api.post("ann", &format!("/api/{place}"), &body).await);
        }
        let path = encoded(id);
        for act in ["select", "complete", "unblock", "usage", "take_over"] {
            let body = json!({ "repo_url": REPO_URL, "reason": "x", "file_paths": ["src/db.ts"] });
            let path = format!("/api/intents/{path}/{act}");
            refused(act, id, api.post("ann", &path, &body).await);
        }
        let patch = json!({ "repo_url": REPO_URL, "name": "x" }).to_string();
        let headers = [("x-coord-user", "ann"), ("content-type", "application/json")];
        let path_of = format!("/api/intents/{path}");
        refused("PATCH", id, api.request(Method::PATCH, &path_of, &headers, patch).await);
        for query in [
            format!("{path_of}?repo_url={REPO_URL}"),
            format!("/api/ledger?repo_url={REPO_URL}&intent={path}"),
        ] {
            refused("GET", id, api.get(&query, &headers).await);
        }
    }
    let after = (api.ledger_lines().await, api.reads_intents("ann", "").await);
    assert_eq!(before, after);
    assert_eq!(stored(&api).await, (vec![String::new()], vec!["REQ-1".to_owned()]));
}

#[tokio::test]
async fn a_foreign_agent_id_or_session_gives_neither_selection_nor_locks() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    let of_ann = json!({ "agent_id": "one", "session": { "session_id": "s-7", "contributor": "m" } });
    api.does("ann", "select", "REQ-1", of_ann.clone()).await;
    let claim = api.post_body("WRITING", &["src/db.ts"], of_ann.clone());
    assert_eq!(api.post("ann", "/api/post_status", &claim).await.status, 200);

    // Eve uses the same names: her holder is another, which has selected nothing and holds nothing.
    let refused = api.post("eve", "/api/post_status", &claim).await;
    assert_eq!((refused.status, &refused.json()["error"]), (409, &json!("FILE_OWNED")));
    let lines = record(&api, "eve", &[change("t1", "src/db.ts", HASH)], of_ann.clone()).await;
    assert_eq!(lines["recorded"], json!(["FAILURE"]), "without a lock of her own");
    // The end of her session, and her prompts, are not Ann's.
    let ends = [
        json!({ "trace_id": "t2", "kind": "prompt" }),
        json!({ "trace_id": "t3", "kind": "end" }),
    ];
    record(&api, "eve", &ends, of_ann.clone()).await;
    for agent in ["ann/one", "ann\none", "../ann"] {
        let body = api.post_body("WRITING", &["src/auth.ts"], json!({ "agent_id": agent }));
        assert_eq!(api.post("eve", "/api/post_status", &body).await.status, 400, "{agent}");
    }
    let headers = [("x-coord-user", "ann"), ("x-coord-agent", "one")];
    let state = api
        .get(&format!("/api/intents?repo_url={REPO_URL}"), &headers)
        .await
        .json();
    assert_eq!(
        (&state["state"], &state["selected"]),
        (&json!("ACTION"), &json!("REQ-1")),
        "{state}"
    );
    let lines = record(&api, "ann", &[change("t1", "src/db.ts", HASH)], of_ann).await;
    assert_eq!(
        lines["recorded"],
        json!(["SUCCESS"]),
        "Eve's use of the trace id takes it from nobody"
    );
    let lines = api.ledger_lines().await;
    assert!(
        lines
            .iter()
            .filter(|line| line.starts_with("eve/one "))
            .all(|line| !line.contains(" ACTION ")),
        "each line has the verified login: {lines:#?}"
    );
}

#[tokio::test]
async fn an_agent_finds_no_way_to_unblock_itself() {
    let api = Api::start().await;
    let mut body = intent("REQ-1", &["src/db.ts"]);
    body["budget"] = json!({ "max_turns": 5 });
    api.writes_intent("ann", &body).await;
    api.does("ann", "select", "REQ-1", json!({ "agent_id": "one" })).await;
    api.does("ann", "block", "REQ-1", json!({ "agent_id": "one", "reason": "Wait" }))
        .await;
    let headers = [
        ("x-coord-user", "ann"),
        ("x-coord-agent", "one"),
        ("content-type", "application/json"),
    ];
    let post = async |path: &str, body: &str| {
        let answer = api
            .request(Method::POST, &format!("/api/intents{path}"), &headers, body.to_owned())
            .await;
        assert!(answer.status >= 400, "{path} {body}: {}", answer.json());
    };
    let repo = format!("\"repo_url\":\"{REPO_URL}\"");
    // A name in the header alone, no name, two names, or a person's name: the caller is still an agent.
    for agent in [
        "",
        ",\"agent_id\":null",
        ",\"agent_id\":\"\"",
        ",\"agent_id\":\"ann\"",
        ",\"agent_id\":\"one\",\"agent_id\":null",
    ] {
        post("/REQ-1/unblock", &format!("{{{repo}{agent}}}")).await;
        post(
            "/REQ-1/complete",
            &format!("{{{repo},\"force\":true,\"reason\":\"x\"{agent}}}"),
        )
        .await;
        post("/REQ-1/abandon", &format!("{{{repo},\"reason\":\"x\"{agent}}}")).await;
    }
    post("/REQ-1/select", &format!("{{{repo}}}")).await;
    post("/REQ-1/complete", &format!("{{{repo}}}")).await;
    post(
        "",
        &format!("{{{repo},\"id\":\"REQ-1\",\"name\":\"x\",\"status\":\"IN_PROGRESS\"}}"),
    )
    .await;
    let patch = |more: Value| {
        let mut body = json!({ "repo_url": REPO_URL });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        api.request(Method::PATCH, "/api/intents/REQ-1", &headers, body.to_string())
    };
    for more in [
        json!({ "status": "IN_PROGRESS" }),
        json!({ "budget": { "max_turns": 500 } }),
        json!({ "budget": {} }),
        json!({ "budget": { "max_turns": 5, "consumed_turns": 0 } }),
        json!({ "owned_scope": ["src/**"] }),
    ] {
        let answer = patch(more.clone()).await;
        let intent = api.reads_intents("ann", "").await["intents"][0].clone();
        assert_eq!(
            (
                &intent["status"],
                &intent["budget"]["max_turns"],
                &intent["owned_scope"]
            ),
            (&json!("BLOCKED"), &json!(5), &json!(["src/db.ts"])),
            "{more}: {}",
            answer.json()
        );
    }
}

// rule: intents#comparison-cost
#[tokio::test]
async fn slow_patterns_against_slow_paths_are_answered_in_time() {
    let api = Api::start().await;
    let mut scopes = Vec::new();
    for number in 0..2 {
        let patterns: Vec<String> = (0..64)
            .map(|pattern| match pattern % 3 {
                0 => format!("s{number}/{}b{pattern}", "*a".repeat(200)),
                1 => format!("s{number}/{}b{pattern}", "**/a/".repeat(90)),
                _ => format!("s{number}/{}b{pattern}", "[a-z]*?".repeat(60)),
            })
            .collect();
        scopes.push(patterns);
    }
    let started = Instant::now();
    for (id, patterns) in ["SLOW-1", "SLOW-2"].iter().zip(&scopes) {
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        api.writes_intent("ann", &intent(id, &patterns)).await;
    }
    let answer = api.acts("ann", "select", "SLOW-1", json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    let paths: Vec<String> = (0..128)
        .map(|number| format!("s0/{}{}{number}", "a".repeat(150), "/a".repeat(150)))
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let answer = api
        .post_status("ann", "WRITING", &paths, json!({ "intent_id": "SLOW-1" }))
        .await;
    assert_eq!(
        (answer.status, &answer.json()["error"]),
        (409, &json!("SCOPE_VIOLATION")),
        "{}",
        answer.json()
    );
    // Each braces doubles what is before it.
    let mut laughs = intent("LAUGHS", &["src/db.ts"]);
    laughs["owned_scope"] = json!(["{a,b}".repeat(100)]);
    assert_eq!(api.post("ann", "/api/intents", &laughs).await.status, 400);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

// rule: intents#whose
#[tokio::test]
async fn an_agent_of_another_login_neither_rewrites_nor_stops_an_active_intent() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    let of_eve = json!({ "agent_id": "one" });
    for (act, reason) in [("block", "x"), ("abandon", "x")] {
        let more = json!({ "agent_id": "one", "reason": reason });
        let refused = api.acts("eve", act, "REQ-1", more).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (403, &json!("PERSON_REQUIRED")),
            "{act}"
        );
    }
    for field in [
        json!({ "agent_id": "one", "description": "Delete everything" }),
        json!({ "agent_id": "one", "constraints": ["Delete everything"] }),
        json!({ "agent_id": "one", "assigned_agent": "eve" }),
    ] {
        let refused = api.edits("eve", "REQ-1", field).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (403, &json!("PERSON_REQUIRED"))
        );
    }
    // Her tool calls in a row stop her, and nobody else.
    api.does("eve", "select", "REQ-1", of_eve).await;
    let call = json!({ "repo_url": REPO_URL, "agent_id": "one", "tool_call": { "name": "t", "digest": "d" },
                       "tokens": { "session_id": "s", "total": 1_000_000_000_000_u64 } });
    for _ in 0..5 {
        api.post("eve", "/api/intents/REQ-1/usage", &call).await;
    }
    let read = api.reads_intents("ann", "").await["intents"][0].clone();
    assert_eq!(read["status"], "IN_PROGRESS", "{read}");
    let budget = &read["budget"];
    assert!(budget["consumed_tokens"].as_u64().unwrap_or(0) == 0, "{read}");
    // Assigned to her, it is hers.
    assert_eq!(
        api.edits("ann", "REQ-1", json!({ "assigned_agent": "eve/one" }))
            .await
            .status,
        200
    );
    let blocked = json!({ "agent_id": "one", "reason": "x" });
    assert_eq!(
        api.does("eve", "block", "REQ-1", blocked).await["intent"]["status"],
        "BLOCKED"
    );
}

#[tokio::test]
async fn a_scope_has_no_invisible_character() {
    let api = Api::start().await;
    for hostile in [
        "src\nCoord: x",
        "src\u{1b}[2J",
        "src\u{202e}",
        "src\u{e0041}",
        "src\u{fff9}",
        "src\u{ffff}",
    ] {
        let answer = api.post("ann", "/api/intents", &intent("REQ-1", &[hostile])).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (400, &json!("owned_scope")),
            "{hostile:?}"
        );
    }
}
