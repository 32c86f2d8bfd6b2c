//! Requests that are meant to reach what is not the caller's.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::{about_repo, intent};
use crate::api::{Answer, Api, repo};
use crate::ledger::{HASH, call, change, record};
use crate::teams::{assert_has, with, wrong_field};

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
    let registry = coord_intents_state::intents::keys::intents(&repo());
    (ends, texts(["HKEYS", &registry]).await)
}

#[tokio::test]
async fn no_id_of_an_intent_escapes_its_key_wherever_it_is_sent() {
    let api = Api::start().await;
    api.begins_intent(json!({})).await;
    let before = (api.ledger_lines().await, api.reads_intents("ann", "").await);
    let is_refused = |place: &str, id: &str, answer: Answer| {
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
        let path = encoded(id);
        let of_intent = |field: &str| with(intent("REQ-2", &["src/auth.ts"]), json!({ field: id }));
        let mut posts = vec![
            ("intents".to_owned(), of_intent("id")),
            ("intents".to_owned(), of_intent("supplements")),
            (
                "post_status".to_owned(),
                api.post_body("WRITING", &["src/db.ts"], json!({ "intent_id": id })),
            ),
            (
                "check_status".to_owned(),
                api.check_body(&["src/db.ts"], json!({ "intent_id": id })),
            ),
            (
                "ledger".to_owned(),
                about_repo(json!({ "intent_id": id, "entries": [call("t")] })),
            ),
            ("intents/REQ-1/allow".to_owned(), about_repo(json!({ "other": id }))),
        ];
        for act in ["select", "complete", "unblock", "usage", "take_over"] {
            let body = about_repo(json!({ "reason": "x", "file_paths": ["src/db.ts"] }));
            posts.push((format!("intents/{path}/{act}"), body));
        }
        for (place, body) in posts {
            is_refused(&place, id, api.post("ann", &format!("/api/{place}"), &body).await);
        }
        is_refused("PATCH", id, api.edits("ann", &path, json!({ "name": "x" })).await);
        for (place, query) in [
            (format!("intents/{path}"), String::new()),
            ("ledger".to_owned(), format!("&intent={path}")),
        ] {
            is_refused("GET", id, api.gets("ann", &place, &query).await);
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
    let owned = api.post("eve", "/api/post_status", &claim).await;
    owned.expect("409 FILE_OWNED");
    let lines = record(&api, "eve", &[change("t1", "src/db.ts", HASH)], of_ann.clone()).await;
    assert_eq!(lines["recorded"], json!(["FAILURE"]), "without a lock of her own");
    // The end of her session, and her prompts, are not Ann's.
    let ends = [
        json!({ "trace_id": "t2", "kind": "prompt" }),
        json!({ "trace_id": "t3", "kind": "end" }),
    ];
    record(&api, "eve", &ends, of_ann.clone()).await;
    for agent in ["ann/one", "ann\none", "../ann"] {
        let more = json!({ "agent_id": agent });
        let answer = api.post_status("eve", "WRITING", &["src/auth.ts"], more).await;
        assert_eq!(answer.status, 400, "{agent}");
    }
    let headers = [("x-coord-user", "ann"), ("x-coord-agent", "one")];
    let path = format!("/api/intents?repo_url={}", api.repo_url);
    assert_has!(api.get(&path, &headers).await.json(), { "state": "ACTION", "selected": "REQ-1" });
    let lines = record(&api, "ann", &[change("t1", "src/db.ts", HASH)], of_ann).await;
    assert_eq!(
        lines["recorded"],
        json!(["SUCCESS"]),
        "Eve's use of the trace id takes it from nobody"
    );
    let mut lines = api.ledger_lines().await;
    lines.retain(|line| line.starts_with("eve/one "));
    assert!(
        lines.iter().all(|line| !line.contains(" ACTION ")),
        "each line has the verified login: {lines:#?}"
    );
}

#[tokio::test]
async fn an_agent_finds_no_way_to_unblock_itself() {
    let api = Api::start().await;
    let budget = json!({ "budget": { "max_turns": 5 } });
    api.writes_intent("ann", &with(intent("REQ-1", &["src/db.ts"]), budget))
        .await;
    api.does("ann", "select", "REQ-1", json!({ "agent_id": "one" })).await;
    let block = json!({ "agent_id": "one", "reason": "Wait" });
    api.does("ann", "block", "REQ-1", block).await;
    let headers = [
        ("x-coord-user", "ann"),
        ("x-coord-agent", "one"),
        ("content-type", "application/json"),
    ];
    let repo = format!("\"repo_url\":\"{}\"", api.repo_url);
    let is_refused = async |path: &str, more: &str| {
        let body = format!("{{{repo}{more}}}");
        let path = format!("/api/intents{path}");
        let answer = api.request(Method::POST, &path, &headers, body).await;
        assert!(answer.status >= 400, "{path} {more}: {}", answer.json());
    };
    // A name in the header alone, no name, two names, or a person's name: the caller is still an agent.
    for agent in [
        "",
        ",\"agent_id\":null",
        ",\"agent_id\":\"\"",
        ",\"agent_id\":\"ann\"",
        ",\"agent_id\":\"one\",\"agent_id\":null",
    ] {
        let forced = format!(",\"force\":true,\"reason\":\"x\"{agent}");
        is_refused("/REQ-1/unblock", agent).await;
        is_refused("/REQ-1/complete", &forced).await;
        is_refused("/REQ-1/abandon", &format!(",\"reason\":\"x\"{agent}")).await;
    }
    is_refused("/REQ-1/select", "").await;
    is_refused("/REQ-1/complete", "").await;
    let again = ",\"id\":\"REQ-1\",\"name\":\"x\",\"status\":\"IN_PROGRESS\"";
    is_refused("", again).await;
    for more in [
        json!({ "status": "IN_PROGRESS" }),
        json!({ "budget": { "max_turns": 500 } }),
        json!({ "budget": {} }),
        json!({ "budget": { "max_turns": 5, "consumed_turns": 0 } }),
        json!({ "owned_scope": ["src/**"] }),
    ] {
        let body = about_repo(more.clone()).to_string();
        let answer = api.request(Method::PATCH, "/api/intents/REQ-1", &headers, body).await;
        let read = api.reads_intents("ann", "").await;
        assert_has!(read["intents"][0], {
            "status": "BLOCKED", "budget": { "max_turns": 5 }, "owned_scope": ["src/db.ts"],
        }, "{more}: {}", answer.json());
    }
}

// rule: intents#comparison-cost
#[tokio::test]
async fn slow_patterns_against_slow_paths_are_answered_in_time() {
    let api = Api::start().await;
    let started = Instant::now();
    for (number, id) in ["SLOW-1", "SLOW-2"].into_iter().enumerate() {
        let pattern = |pattern: usize| match pattern % 3 {
            0 => format!("s{number}/{}b{pattern}", "*a".repeat(200)),
            1 => format!("s{number}/{}b{pattern}", "**/a/".repeat(90)),
            _ => format!("s{number}/{}b{pattern}", "[a-z]*?".repeat(60)),
        };
        let scope: Vec<String> = (0..64).map(pattern).collect();
        let slow = with(intent(id, &[]), json!({ "owned_scope": scope }));
        api.writes_intent("ann", &slow).await;
    }
    api.does("ann", "select", "SLOW-1", json!({})).await;
    let paths: Vec<String> = (0..128)
        .map(|number| format!("s0/{}{}{number}", "a".repeat(150), "/a".repeat(150)))
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let more = json!({ "intent_id": "SLOW-1" });
    let answer = api.post_status("ann", "WRITING", &paths, more).await;
    answer.expect("409 SCOPE_VIOLATION");
    // Each braces doubles what is before it.
    let laughs = intent("LAUGHS", &[&"{a,b}".repeat(100)]);
    assert_eq!(api.post("ann", "/api/intents", &laughs).await.status, 400);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

// rule: intents#whose
#[tokio::test]
async fn an_agent_of_another_login_neither_rewrites_nor_stops_an_active_intent() {
    let api = Api::start().await;
    api.begins_intent(json!({})).await;
    let by_agent = |more: Value| with(json!({ "agent_id": "one" }), more);
    for act in ["block", "abandon"] {
        let more = by_agent(json!({ "reason": "x" }));
        api.denies("eve", act, "REQ-1", more, "403 PERSON_REQUIRED").await;
    }
    for field in [
        json!({ "description": "Delete everything" }),
        json!({ "constraints": ["Delete everything"] }),
        json!({ "assigned_agent": "eve" }),
    ] {
        let answer = api.edits("eve", "REQ-1", by_agent(field)).await;
        answer.expect("403 PERSON_REQUIRED");
    }
    // Her tool calls in a row stop her, and nobody else.
    api.does("eve", "select", "REQ-1", by_agent(json!({}))).await;
    let call = by_agent(json!({
        "tool_call": { "name": "t", "digest": "d" },
        "tokens": { "session_id": "s", "total": 1_000_000_000_000_u64 },
    }));
    for _ in 0..5 {
        api.acts("eve", "usage", "REQ-1", call.clone()).await;
    }
    let read = api.reads_intents("ann", "").await["intents"][0].clone();
    assert_eq!(read["status"], "IN_PROGRESS", "{read}");
    let consumed = read["budget"]["consumed_tokens"].as_u64();
    assert_eq!(consumed.unwrap_or(0), 0, "{read}");
    // Assigned to her, it is hers.
    let assigned = json!({ "assigned_agent": "eve/one" });
    api.edited("ann", "REQ-1", assigned).await;
    let block = by_agent(json!({ "reason": "x" }));
    let blocked = api.does("eve", "block", "REQ-1", block).await;
    assert_eq!(blocked["intent"]["status"], "BLOCKED");
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
        assert_eq!(wrong_field(&answer), "owned_scope", "{hostile:?}");
    }
}
