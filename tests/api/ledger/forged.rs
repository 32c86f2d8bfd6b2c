//! Trace ids that are forged or repeated, and paths of another system.

use serde_json::json;

use super::{HASH, call, change, first_page, record, report_on, text_of};
use crate::api::{Api, REPO_URL};
use crate::intents::intent;
use crate::teams::{with, wrong_field};

#[tokio::test]
async fn a_trace_id_is_recorded_once_however_it_is_repeated() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts", "src/auth.ts"]).await;
    let two = [change("t1", "src/db.ts", HASH), change("t1", "src/auth.ts", HASH)];
    assert_eq!(
        record(&api, "ann", &two, json!({})).await["recorded"],
        json!(["SUCCESS", "REPEATED"]),
        "in one request"
    );
    let other = [call("t1"), change("T1", "src/auth.ts", HASH)];
    assert_eq!(
        record(&api, "ann", &other, json!({})).await["recorded"],
        json!(["REPEATED", "SUCCESS"]),
        "with another content; case counts"
    );
    for forged in ["t 1", "t1\n", "", "t1\",\"chain\":{\"seq\":1", "t/1", "größe"] {
        let body = json!({ "repo_url": REPO_URL, "entries": [call(forged)] });
        assert_eq!(api.post("ann", "/api/ledger", &body).await.status, 400, "{forged:?}");
    }
    // A text that looks like a chain is still text: the last member of the line is the chain.
    let forged = format!(
        "x\"}},\"chain\":{{\"seq\":1,\"prev\":\"{0:064}\",\"hash\":\"{0:064}\"}}}}",
        0
    );
    let entry = with(call("t2"), json!({ "output_summary": forged }));
    record(&api, "ann", &[entry], json!({})).await;
    let report = report_on(&text_of(&first_page(&api).await));
    assert_eq!((report.damage, report.lines), (None, 3));
}

/// Paths of Windows were understood in one place and not in the other.
#[tokio::test]
async fn paths_of_windows_are_refused_wherever_a_path_is_sent() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    for path in [
        "src\\db.ts",
        "C:\\shop\\src\\db.ts",
        "C:/shop/src/db.ts",
        ".\\src\\db.ts",
    ] {
        let files = json!([{ "file_path": path, "hash": HASH }]);
        for (place, body) in [
            ("post_status", api.post_body("WRITING", &[path], json!({}))),
            ("check_status", api.check_body(&[path], json!({}))),
            ("ledger", json!({ "entries": [change("t", path, HASH)] })),
            ("ledger/verify", json!({ "files": files })),
            ("intents/REQ-1/take_over", json!({ "file_paths": [path] })),
        ] {
            let body = with(json!({ "repo_url": REPO_URL, "branch": "main" }), body);
            let answer = api.post("ann", &format!("/api/{place}"), &body).await;
            assert_eq!(answer.status, 400, "{place} {path}: {}", answer.json());
        }
    }
    let body = intent("REQ-2", &["src\\auth.ts"]);
    let answer = api.post("ann", "/api/intents", &body).await;
    assert_eq!(wrong_field(&answer), "owned_scope");
}
