//! Every rule of the fields, each refused with its field and a sentence that says what to send instead.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::api::Api;

/// The refusals of these changes of a good claim, one a line; nothing may be held afterwards.
async fn refusals(api: &Api, cases: impl IntoIterator<Item = (impl Into<String>, Value)>) -> String {
    let mut lines = Vec::new();
    for (name, change) in cases {
        let name = name.into();
        let answer = api.post_status("ann", "WRITING", &["src/auth.ts"], change).await;
        let body = answer.json();
        assert!((400..500).contains(&answer.status), "{name}: {body}");
        let command = &body["orchestration"];
        assert_eq!(command["type"], "orchestration_command", "{name}: {body}");
        assert_eq!(command["action"], "STOP", "{name}: {body}");
        let reason = format!("{}. Fix the field and retry.", body["message"].as_str().unwrap());
        assert_eq!(command["reason"], reason, "{name}: {body}");
        lines.push(format!("{name}\n    {}", answer.refusal()));
    }
    assert_eq!(api.held().await, 0, "nothing is claimed by a bad request");
    lines.join("\n")
}

// rule: locks#fix
// rule: http#errors
#[tokio::test]
async fn every_required_field_is_named_when_it_is_missing() {
    let api = Api::start().await;
    let fields = ["repo_url", "branch", "file_paths", "agent_head", "status", "message"];
    let cases = fields.map(|field| (field, json!({ field: null })));
    assert_snapshot!(refusals(&api, cases).await);
    // Null is missing, too.
    let mut body = api.check_body(&["src/auth.ts"], json!({}));
    body["branch"] = Value::Null;
    let answer = api.post("ann", "/api/check_status", &body).await;
    assert_eq!(answer.refusal(), "400 INVALID_FIELD branch: branch is required");
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_named() {
    let api = Api::start().await;
    let cases = [
        ("repo_url: number", json!({ "repo_url": 5 })),
        ("branch: list", json!({ "branch": ["main"] })),
        ("file_paths: text", json!({ "file_paths": "src/auth.ts" })),
        ("file_paths: number inside", json!({ "file_paths": ["a.ts", 5] })),
        ("file_paths: null inside", json!({ "file_paths": ["a.ts", null] })),
        ("agent_head: object", json!({ "agent_head": {} })),
        ("base_head: bool", json!({ "base_head": true })),
        ("status: unknown", json!({ "status": "WRITTING" })),
        ("status: lower case", json!({ "status": "writing" })),
        ("status: number", json!({ "status": 1 })),
        ("message: number", json!({ "message": 1.5 })),
        ("new_repo_head: list", json!({ "new_repo_head": [] })),
        ("agent_id: number", json!({ "agent_id": 7 })),
        ("abandon: text", json!({ "abandon": "yes" })),
    ];
    assert_snapshot!(refusals(&api, cases).await);
    let intent = api.check("ann", &["src/auth.ts"], json!({ "intent": "OPEN" })).await;
    assert_snapshot!("intent", intent.refusal());
}

#[tokio::test]
async fn a_path_that_is_no_file_in_the_repository_is_refused_by_name() {
    let api = Api::start().await;
    let long = "x".repeat(4097);
    let paths = [
        "",
        ".",
        "./",
        "/",
        "/etc/passwd",
        "C:/src/a.ts",
        "..",
        "../a.ts",
        "a/../a.ts",
        "src/..",
        "src/",
        "src/.",
        "src//",
        "src\\auth.ts",
        "nul\0.ts",
        "src/a\u{200b}.ts",
        "src/a\u{ad}.ts",
        "src/a\u{e0061}.ts",
        &long,
    ];
    let cases = paths.map(|path| {
        let name: String = path.chars().take(20).flat_map(char::escape_debug).collect();
        (name, json!({ "file_paths": ["src/good.ts", path] }))
    });
    assert_snapshot!(refusals(&api, cases).await);
    api.claim("ann", "WRITING", &[&long[1..], "..hidden", "a..b/...", "~x"])
        .await;
}

#[tokio::test]
async fn the_number_of_paths_is_bounded() {
    let api = Api::start().await;
    let paths = |count: usize| (0..count).map(|number| format!("{number}.ts")).collect::<Vec<_>>();
    let numbers: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    let cases = [
        ("none", json!({ "file_paths": [] })),
        ("513", json!({ "file_paths": paths(513) })),
        ("100,000", json!({ "file_paths": numbers })),
    ];
    assert_snapshot!(refusals(&api, cases).await);
    // Spellings of one file count once.
    let spellings: Vec<String> = paths(512)
        .into_iter()
        .flat_map(|path| [format!("./{path}"), path])
        .collect();
    api.granted("ann", "WRITING", &[], json!({ "file_paths": spellings }))
        .await;
    assert_eq!(api.held().await, 512);
}

#[tokio::test]
async fn commits_branches_and_repositories_that_are_none_are_refused() {
    let api = Api::start().await;
    let cases = [
        ("agent_head", &["", "abc123", "HEAD", "zzzzzzz", "0x1234567"][..]),
        ("base_head", &["", "main"]),
        ("new_repo_head", &["", "deadbee!"]),
        (
            "branch",
            &[
                "",
                "a b",
                "-x",
                "a..b",
                "x.lock",
                "HEAD",
                "a~1",
                "refs/heads/",
                "/x",
                "a:b",
                "a\u{7}b",
                "a\u{85}b",
                "a\u{202e}b",
                "a\u{200b}",
            ],
        ),
        ("work_branch", &["", "a b", "a\u{202e}b"]),
        (
            "repo_url",
            &[
                "",
                "shop",
                "acme/shop",
                "https://github.com",
                "https://github.com/shop",
                "ftp://github.com/acme/shop",
                "file:///srv/shop",
                "https://github.com/acme/{shop}",
                "https://github.com/acme/../shop",
                "https://github.com:x/acme/shop",
            ],
        ),
    ];
    let cases = cases.into_iter().flat_map(|(field, values)| {
        let values = values.iter();
        values.map(move |value| (format!("{field} {value:?}"), json!({ field: value })))
    });
    let long = [("agent_head", 65), ("branch", 256), ("repo_url", 2049)]
        .map(|(field, length)| (format!("{field}, {length} bytes"), json!({ field: "a".repeat(length) })));
    assert_snapshot!(refusals(&api, cases.chain(long)).await);
    let wrong = json!({ "work_branch": "a..b" });
    let refusal = api.check("ann", &["src/db.ts"], wrong).await.refusal();
    assert!(refusal.starts_with("400 INVALID_FIELD work_branch: "), "{refusal}");
    let shouted = json!({ "agent_head": format!(" {} ", api.head.to_uppercase()) });
    api.check("ann", &["a.ts"], shouted).await.expect("200 OK");
}

#[tokio::test]
async fn messages_are_bounded_in_characters() {
    let api = Api::start().await;
    let cases = [
        ("empty", json!({ "message": "" })),
        ("blank", json!({ "message": " \n\t " })),
        ("501", json!({ "message": "ü".repeat(501) })),
    ];
    assert_snapshot!(refusals(&api, cases).await);
    let longest = json!({ "message": format!("  {}  ", "ü".repeat(500)) });
    api.granted("ann", "WRITING", &["src/auth.ts"], longest).await;
}

#[tokio::test]
async fn agent_ids_are_words() {
    let api = Api::start().await;
    let long = "x".repeat(129);
    let ids = ["", "a b", "a/b", "ü", &long];
    let cases = ids.map(|id| (id, json!({ "agent_id": id })));
    assert_snapshot!(refusals(&api, cases).await);
    // A header that is wrong is wrong, also where the body's field goes before it.
    for more in [json!({}), json!({ "agent_id": "one" })] {
        let body = api.check_body(&["a.ts"], more);
        let headers = [("x-coord-agent", "two words")];
        let answer = api.post_with(&headers, "/api/check_status", &body).await;
        assert_snapshot!("header", answer.refusal());
    }
    let longest = json!({ "agent_id": format!("{:x<128}", "A.b_c-d:9") });
    api.granted("ann", "WRITING", &["src/auth.ts"], longest).await;
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let api = Api::start().await;
    let more = json!({ "color": "green", "user_id": "bob", "nested": { "deep": [1, 2] } });
    api.granted("ann", "WRITING", &["src/auth.ts"], more).await;
    let locks = api.check("cid", &["src/auth.ts"], json!({})).await.json();
    assert_eq!(
        locks["locks"]["src/auth.ts"]["user"], "ann",
        "nobody names himself in the body"
    );
}
