//! Invalid requests are refused with a sentence and recorded nowhere, and so are requests without permission.

use coord_auth::JwtVerifier;
use insta::assert_snapshot;
use secrecy::SecretString;
use serde_json::json;

use super::{HASH, call, change, first_page};
use crate::api::{Api, REPO_URL};
use crate::teams::with;

#[tokio::test]
async fn an_entry_that_is_not_valid_refuses_the_whole_request() {
    let api = Api::start().await;
    let many: Vec<_> = (0..33).map(|number| call(&format!("t{number}"))).collect();
    let entry = |kind: &str, more| with(json!({ "trace_id": "t", "kind": kind }), more);
    let second = [call("t1"), change("t2", "src/db.ts", "sha256:5ca8...")];
    let adoption = json!({ "hash": HASH, "tool_input": { "bytes": 40, "lines": 2 } });
    let mut lines = Vec::new();
    for (name, body) in [
        ("none", json!({})),
        ("empty", json!({ "entries": [] })),
        ("33 entries", json!({ "entries": many })),
        ("no repository", json!({ "repo_url": null, "entries": [call("t")] })),
        (
            "a trace id with a quote",
            json!({ "entries": [call("t\",\"chain\":")] }),
        ),
        ("a long trace id", json!({ "entries": [call(&"t".repeat(65))] })),
        ("no kind", json!({ "entries": [{ "trace_id": "t" }] })),
        ("an unknown kind", json!({ "entries": [entry("read", json!({}))] })),
        ("the second entry", json!({ "entries": second })),
        ("a path", json!({ "entries": [change("t2", "../db.ts", HASH)] })),
        ("an intent", json!({ "entries": [call("t")], "intent_id": "a:b" })),
        (
            "an input that is not an object",
            json!({ "entries": [entry("call", json!({ "tool_input": "x" }))] }),
        ),
        (
            "an adoption with another id",
            json!({ "entries": [entry("adoption", adoption)] }),
        ),
        (
            "a line that is too long",
            json!({ "entries": [entry("call", json!({ "file_path": "\"".repeat(4000) }))] }),
        ),
    ] {
        let sent = with(json!({ "repo_url": REPO_URL }), body);
        let answer = api.post("ann", "/api/ledger", &sent).await;
        assert_eq!(answer.json()["orchestration"]["action"], "STOP", "{name}");
        lines.push(format!("{name}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
    assert_eq!(first_page(&api).await.lines, [""; 0]);
}

#[tokio::test]
async fn an_invalid_ledger_query_gets_a_refusal_that_names_the_parameter() {
    let api = Api::start().await;
    let url = format!("repo_url={REPO_URL}");
    let mut lines = Vec::new();
    for query in [
        "ledger".to_owned(),
        format!("ledger?{url}&after=-1"),
        format!("ledger?{url}&after=x"),
        format!("ledger?{url}&after=9223372036854775808"),
        format!("ledger?{url}&limit=0"),
        format!("ledger?{url}&limit=501"),
        format!("ledger?{url}&last=501"),
        format!("ledger?{url}&last=1&after=1"),
        format!("ledger?{url}&intent=a%20b"),
        format!("ledger?{url}&file=../a"),
        format!("ledger?{url}&file=a&file=b"),
        "ledger/checkpoint".to_owned(),
        "ledger/map".to_owned(),
        format!("ledger/map?{url}&format=html"),
        format!("ledger/map?{url}&branch="),
        "ledger?repo_url=https://github.com/acme/other".to_owned(),
    ] {
        let answer = api.get(&format!("/api/{query}"), &[]).await;
        lines.push(format!("{query}\n    {}", answer.refusal()));
    }
    for files in [
        json!([]),
        json!([{ "file_path": "a", "hash": "5ca8" }]),
        json!([{ "file_path": "/a", "hash": HASH }]),
    ] {
        let body = json!({ "repo_url": REPO_URL, "files": files });
        let answer = api.post("ann", "/api/ledger/verify", &body).await;
        lines.push(format!("verify {files}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn without_a_credential_nothing_is_read_or_recorded() {
    let verifier = JwtVerifier::hs256(&SecretString::from(crate::identity::SECRET));
    let closed = Api::start_with_verifier(verifier).await;
    let token = crate::identity::good_token();
    for path in ["ledger", "ledger/checkpoint", "ledger/map"] {
        let path = format!("/api/{path}?repo_url={REPO_URL}");
        assert_eq!(closed.get(&path, &[]).await.status, 401, "{path}");
        let answer = closed.get(&path, &[("authorization", token.as_str())]).await;
        assert_eq!(answer.status, 200, "{path}");
    }
    for path in ["/api/ledger", "/api/ledger/verify"] {
        let answer = closed.post("ann", path, &json!({ "repo_url": REPO_URL })).await;
        assert_eq!(answer.status, 401, "{path}");
    }
}
