//! The documented shapes, to the letter: every documented field is there, of the documented type and with a documented value.

use serde_json::{Value, json};

use crate::api::Api;

const ACTIONS: [&str; 6] = ["PULL", "PUSH", "WAIT", "STOP", "PROCEED", "SWITCH_TASK"];

fn assert_text(value: &Value, field: &str) {
    assert!(
        value.as_str().is_some_and(|text| !text.is_empty()),
        "{field} is {value}"
    );
}

fn assert_texts(value: &Value, field: &str) {
    assert!(
        value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        "{field} is {value}"
    );
}

fn assert_orchestration(value: &Value) {
    assert_eq!(value["type"], "orchestration_command");
    let action = value["action"].as_str().unwrap();
    assert!(ACTIONS.contains(&action), "{action}");
    let command = match action {
        "PULL" => json!("git pull --rebase"),
        "PUSH" => json!("git push"),
        "WAIT" => json!("sleep 5"),
        _ => Value::Null,
    };
    assert_eq!(value.get("command"), Some(&command), "{action}");
    assert_text(&value["reason"], "reason");
    let metadata = &value["metadata"];
    match action {
        "PULL" | "PUSH" => assert_text(&metadata["remote_head"], "remote_head"),
        "WAIT" => {
            assert_text(&metadata["lock_owner"], "lock_owner");
            assert_texts(&metadata["conflicts"], "conflicts");
            assert!(metadata["retry_after"].as_i64().is_some_and(|seconds| seconds > 0));
        }
        _ => {}
    }
}

fn assert_check(body: &Value) {
    assert!(
        ["OK", "STALE", "CONFLICT", "OFFLINE"].contains(&body["status"].as_str().unwrap()),
        "{body}"
    );
    assert_text(&body["repo_head"], "repo_head");
    for (path, lock) in body["locks"].as_object().unwrap() {
        assert_text(&path.as_str().into(), "the path");
        for field in ["user", "user_name", "message"] {
            assert_text(&lock[field], field);
        }
        assert!(["READING", "WRITING"].contains(&lock["status"].as_str().unwrap()));
        assert!(["DIRECT", "NEIGHBOR"].contains(&lock["lock_type"].as_str().unwrap()));
        assert!(lock["timestamp"].as_i64().is_some_and(|time| time > 1_700_000_000));
    }
    assert_texts(&body["warnings"], "warnings");
    assert_orchestration(&body["orchestration"]);
}

fn assert_post(body: &Value, is_success: bool) {
    assert_eq!(body["success"], is_success, "{body}");
    assert_texts(&body["orphaned_dependencies"], "orphaned_dependencies");
    assert_texts(&body["warnings"], "warnings");
    assert_orchestration(&body["orchestration"]);
}

// rule: http#errors
#[tokio::test]
async fn answers_have_the_documented_shapes() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let files = ["src/auth.ts", "src/db.ts"];
    let stale = json!({ "agent_head": api.first });
    assert_check(&api.check("ann", &files, json!({})).await.json());
    assert_check(&api.check("ann", &files, stale.clone()).await.json());
    assert_post(&api.post_status("ann", "WRITING", &files, stale).await.json(), false);
    assert_post(
        &api.post_status("ann", "WRITING", &["src/auth.ts"], json!({}))
            .await
            .json(),
        true,
    );
    assert_post(
        &api.post_status("ann", "READING", &["src/page.ts"], json!({}))
            .await
            .json(),
        true,
    );
    for body in [
        api.check("bob", &files, json!({})).await.json(),
        api.check("bob", &["src/db.ts"], json!({})).await.json(),
    ] {
        assert_check(&body);
        assert_eq!(
            (&body["status"], &body["orchestration"]["action"]),
            (&json!("CONFLICT"), &json!("SWITCH_TASK"))
        );
        assert!(!body["locks"].as_object().unwrap().is_empty());
    }
    let wait = api.post_status("bob", "WRITING", &files, json!({})).await.json();
    assert_post(&wait, false);
    assert_eq!(wait["orchestration"]["action"], "WAIT");
    let push = api
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": api.head }))
        .await
        .json();
    assert_post(&push, false);
    assert_eq!(push["orchestration"]["action"], "PUSH");
    let pushed = api.git.commit(&[("src/auth.ts", "")]);
    let done = api
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": pushed }))
        .await
        .json();
    assert_post(&done, true);
    assert_eq!(done["orphaned_dependencies"], json!(["src/page.ts"]));
}

#[tokio::test]
async fn the_reason_of_a_direct_conflict_begins_as_documented() {
    let api = Api::start().await;
    api.claim("octocat", "WRITING", &["src/auth.ts"]).await;
    let reason = api.check("ann", &["src/auth.ts"], json!({})).await.json()["orchestration"]["reason"].clone();
    let documented = "File 'src/auth.ts' is locked by user 'octocat' (DIRECT)";
    assert!(reason.as_str().unwrap().starts_with(documented), "{reason}");
}

// rule: locks#entry
#[tokio::test]
async fn a_stored_lock_is_the_documented_entry() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let key = coord_state::locks::keys::locks(&crate::api::repo());
    let stored = api.command(["HGET", &key, "src/auth.ts"]).await.unwrap();
    let mut stored: Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
    let entry = stored[0].take();
    let time = entry["timestamp"].as_i64().unwrap();
    let end = entry["expiry_ms"].as_i64().unwrap();
    assert_eq!((end - 300_000) / 1000, time);
    assert_eq!(
        entry,
        json!({
            "key": "github.com/acme/shop:main:src/auth.ts", "file_path": "src/auth.ts", "branch": "main",
            "user_id": "ann", "user_name": "ann", "status": "WRITING", "agent_head": api.head,
            "message": "Moving sessions from cookies to tokens", "timestamp": time, "expiry": end / 1000,
            "token": entry["token"],
            "expiry_ms": end, "granted_at": time,
        })
    );
}

#[tokio::test]
async fn a_graph_has_the_documented_shape() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let body = api
        .get("/api/graph?repo_url=https://github.com/acme/shop.git&branch=main", &[])
        .await
        .json();
    for node in body["nodes"].as_array().unwrap() {
        assert_text(&node["id"], "id");
        assert_eq!(node["type"], "file");
    }
    assert_eq!(
        body["edges"],
        json!([
            { "source": "src/auth.ts", "target": "src/db.ts", "type": "import" },
            { "source": "src/page.ts", "target": "src/auth.ts", "type": "import" }
        ])
    );
    let lock = &body["locks"]["src/auth.ts"];
    assert_eq!((&lock["user"], &lock["status"]), (&json!("ann"), &json!("WRITING")));
    assert_text(&lock["message"], "message");
    assert_eq!(body["version"], json!(api.head));
    assert_eq!(body["state"], "ready");
}
