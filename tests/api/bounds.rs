//! Each exceeded limit is refused with a separate code, and with the fix.

use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_claim_for_which_there_is_no_room_is_a_refusal_with_a_whole_body() {
    let api = Api::start().await;
    for reader in 0..256 {
        api.claim(&format!("p{reader}"), "READING", &["src/auth.ts"]).await;
    }
    let files = ["src/auth.ts", "src/db.ts"];
    let refused = api.post_status("ann", "READING", &files, json!({})).await;
    let body = refused.expect("409 TOO_MANY_LOCKS WAIT");
    assert_eq!(
        (&body["success"], &body["field"], &body["orchestration"]["command"]),
        (&json!(false), &json!("file_paths"), &json!("sleep 5"))
    );
    assert_eq!(body["orphaned_dependencies"], json!([]));
    let reason = refused.reason();
    assert!(
        reason.starts_with("src/auth.ts has the maximum number of locks"),
        "{reason}"
    );
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn a_request_over_too_many_locks_is_refused_with_too_much_at_once() {
    let api = Api::start().await;
    let names: Vec<String> = (0..512).map(|number| format!("src/{number}.ts")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for reader in 0..9 {
        api.claim(&format!("p{reader}"), "READING", &names).await;
    }
    for answer in [
        api.check("ann", &names, json!({})).await,
        api.post_status("ann", "READING", &names, json!({})).await,
    ] {
        assert_eq!(
            answer.expect("413 TOO_MUCH_AT_ONCE STOP")["message"],
            "these files have too many locks for one request; name fewer files"
        );
    }
    api.check("ann", &names[..256], json!({})).await.expect("200");
}

#[tokio::test]
async fn the_paths_of_a_request_have_64_kib_at_most() {
    let api = Api::start().await;
    let names: Vec<String> = (0..17).map(|number| format!("{number:04096}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    api.check("ann", &names[..16], json!({})).await.expect("200");
    let message = api.check("ann", &names, json!({})).await.expect("400")["message"].take();
    assert_eq!(
        message,
        "file_paths has more than 65536 bytes of paths; name fewer files in one request"
    );
}
