//! Every rule of the fields, each refused with its field and a sentence that says what to send instead.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::api::Api;

/// The refusals of these changes of a good request, one a line; nothing may be held afterwards.
async fn refusals(api: &Api, status: &str, cases: impl IntoIterator<Item = (&str, Value)>) -> String {
    let mut lines = Vec::new();
    for (name, change) in cases {
        let answer = api.post_status("ann", status, &["src/auth.ts"], change).await;
        let body = answer.json();
        assert!((400..500).contains(&answer.status), "{name}: {body}");
        assert_eq!(body["orchestration"]["type"], "orchestration_command", "{name}: {body}");
        assert_eq!(body["orchestration"]["action"], "STOP", "{name}: {body}");
        let reason = format!("{}. Fix the field and retry.", body["message"].as_str().unwrap());
        assert_eq!(body["orchestration"]["reason"], reason, "{name}: {body}");
        lines.push(format!("{name}\n    {}", answer.refusal()));
    }
    assert_eq!(api.held().await, 0, "nothing is claimed by a bad request");
    lines.join("\n")
}

// rule: locks#fix
#[tokio::test]
async fn every_required_field_is_named_when_it_is_missing() {
    let api = Api::start().await;
    let fields = ["repo_url", "branch", "file_paths", "agent_head", "status", "message"];
    let refused = refusals(&api, "WRITING", fields.map(|field| (field, json!({ field: null })))).await;
    assert_snapshot!(refused);
    // Null is missing, too.
    let body = api
        .check_body(&["src/auth.ts"], json!({}))
        .to_string()
        .replace("\"main\"", "null");
    let headers = [("content-type", "application/json")];
    let answer = api
        .request(reqwest::Method::POST, "/api/check_status", &headers, body)
        .await;
    assert_eq!(answer.refusal(), "400 INVALID_FIELD branch: branch is required");
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_named() {
    let api = Api::start().await;
    let refused = refusals(
        &api,
        "WRITING",
        [
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
        ],
    )
    .await;
    assert_snapshot!(refused);
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
    let refused = refusals(
        &api,
        "WRITING",
        cases.iter().map(|(name, change)| (name.as_str(), change.clone())),
    )
    .await;
    assert_snapshot!(refused);
    let longest = "x".repeat(4096);
    assert_eq!(
        api.post_status("ann", "WRITING", &[&longest, "..hidden", "a..b/...", "~x"], json!({}))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn the_number_of_paths_is_bounded() {
    let api = Api::start().await;
    let paths = |count: usize| (0..count).map(|number| format!("{number}.ts")).collect::<Vec<_>>();
    let refused = refusals(
        &api,
        "WRITING",
        [
            ("none", json!({ "file_paths": [] })),
            ("513", json!({ "file_paths": paths(513) })),
            (
                "100,000",
                json!({ "file_paths": (0..100_000).map(|number| number.to_string()).collect::<Vec<_>>() }),
            ),
        ],
    )
    .await;
    assert_snapshot!(refused);
    // Spellings of one file count once.
    let spellings: Vec<String> = paths(512)
        .into_iter()
        .flat_map(|path| [format!("./{path}"), path])
        .collect();
    let answer = api
        .post_status("ann", "WRITING", &[], json!({ "file_paths": spellings }))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    assert_eq!(api.held().await, 512);
}

#[tokio::test]
async fn commits_branches_and_repositories_that_are_none_are_refused() {
    let api = Api::start().await;
    let cases = [
        ("agent_head", vec!["", "abc123", "HEAD", "zzzzzzz", "0x1234567"]),
        ("base_head", vec!["", "main"]),
        ("new_repo_head", vec!["", "deadbee!"]),
        (
            "branch",
            vec![
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
        ("work_branch", vec!["", "a b", "a\u{202e}b"]),
        (
            "repo_url",
            vec![
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
    let mut changes: Vec<(String, Value)> = cases
        .into_iter()
        .flat_map(|(field, values)| {
            values
                .into_iter()
                .map(move |value| (format!("{field} {value:?}"), json!({ field: value })))
        })
        .collect();
    for (field, length) in [("agent_head", 65), ("branch", 256), ("repo_url", 2049)] {
        changes.push((format!("{field}, {length} bytes"), json!({ field: "a".repeat(length) })));
    }
    let refused = refusals(
        &api,
        "WRITING",
        changes.iter().map(|(name, change)| (name.as_str(), change.clone())),
    )
    .await;
    assert_snapshot!(refused);
    let shouted = api
        .check(
            "ann",
            &["a.ts"],
            json!({ "agent_head": format!(" {} ", api.head.to_uppercase()) }),
        )
        .await;
    assert_eq!(shouted.json()["status"], "OK");
}

#[tokio::test]
async fn messages_are_bounded_in_characters() {
    let api = Api::start().await;
    let refused = refusals(
        &api,
        "WRITING",
        [
            ("empty", json!({ "message": "" })),
            ("blank", json!({ "message": " \n\t " })),
            ("501", json!({ "message": "ü".repeat(501) })),
        ],
    )
    .await;
    assert_snapshot!(refused);
    let longest = json!({ "message": format!("  {}  ", "ü".repeat(500)) });
    assert_eq!(
        api.post_status("ann", "WRITING", &["src/auth.ts"], longest)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn agent_ids_are_words() {
    let api = Api::start().await;
    let long = "x".repeat(129);
    let ids = ["", "a b", "a/b", "ü", &long];
    let cases = ids.map(|id| (id, json!({ "agent_id": id })));
    assert_snapshot!(refusals(&api, "WRITING", cases).await);
    let headers = [("content-type", "application/json"), ("x-coord-agent", "two words")];
    // A header that is wrong is wrong, also where the body's field goes before it.
    for more in [json!({}), json!({ "agent_id": "one" })] {
        let body = api.check_body(&["a.ts"], more).to_string();
        let answer = api
            .request(reqwest::Method::POST, "/api/check_status", &headers, body)
            .await;
        assert_snapshot!("header", answer.refusal());
    }
    let longest = json!({ "agent_id": format!("{:x<128}", "A.b_c-d:9") });
    assert_eq!(
        api.post_status("ann", "WRITING", &["src/auth.ts"], longest)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let api = Api::start().await;
    let more = json!({ "color": "green", "user_id": "bob", "nested": { "deep": [1, 2] } });
    let answer = api.post_status("ann", "WRITING", &["src/auth.ts"], more).await;
    assert_eq!(answer.status, 200);
    let locks = api.check("cid", &["src/auth.ts"], json!({})).await.json();
    assert_eq!(
        locks["locks"]["src/auth.ts"]["user"], "ann",
        "nobody names himself in the body"
    );
}
