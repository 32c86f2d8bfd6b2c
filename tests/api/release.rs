//! `POST /api/post_status` with OPEN.

use insta::assert_json_snapshot;
use serde_json::json;

use crate::api::Api;

/// Someone pushes to `main`.
fn push(api: &Api) -> String {
    api.git.commit(&[("src/auth.ts", "import './db';\nexport {};\n")])
}

#[tokio::test]
async fn after_a_push_the_files_are_free_and_their_importers_named() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let pushed = push(&api);
    let answer = api
        .tell("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": pushed }))
        .await;
    assert_json_snapshot!(answer.snapshot());
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn without_a_push_the_locks_are_kept() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let unchanged = api
        .tell("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": api.head }))
        .await;
    assert_json_snapshot!("unchanged", unchanged.snapshot());
    api.git.git(&["checkout", "--quiet", "-b", "work"]);
    let local = push(&api);
    let not_on_main = api
        .tell("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": local }))
        .await;
    assert_json_snapshot!("not_on_the_branch", not_on_main.snapshot());
    let unknown = json!({ "new_repo_head": "0123456789abcdef0123456789abcdef01234567" });
    let unknown = api.tell("ann", "OPEN", &["src/auth.ts"], unknown).await;
    assert_eq!((unknown.status, &unknown.json()["error"]), (409, &json!("NOT_PUSHED")));
    assert_eq!(api.held().await, 1);
    api.git.git(&["checkout", "--quiet", "main"]);
    api.git.git(&["merge", "--quiet", "--ff-only", "work"]);
    let other = api.git.commit(&[("README.md", "Somebody else's commit on top")]);
    assert_ne!(other, local);
    let answer = api
        .tell("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": &local[..8] }))
        .await;
    assert_eq!(answer.status, 200, "reachable, if not the tip: {}", answer.json());
}

#[tokio::test]
async fn written_files_need_the_new_head_or_abandon() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    assert_json_snapshot!(
        "no_new_head",
        api.tell("ann", "OPEN", &["src/auth.ts"], json!({})).await.snapshot()
    );
    assert_eq!(api.held().await, 1);
    let abandoned = api
        .tell("ann", "OPEN", &["src/auth.ts"], json!({ "abandon": true }))
        .await;
    assert_json_snapshot!("abandoned", abandoned.snapshot());
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn what_was_only_read_is_released_without_a_push() {
    let api = Api::start().await;
    api.claim("ann", "READING", &["src/auth.ts"]).await;
    assert_eq!(api.tell("ann", "OPEN", &["src/auth.ts"], json!({})).await.status, 200);
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn what_had_expired_and_is_free_is_a_warning() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.lapse("src/auth.ts").await;
    assert_json_snapshot!(
        "free",
        api.tell("ann", "OPEN", &["src/auth.ts"], json!({})).await.snapshot()
    );
    for user in ["bob", "cid"] {
        api.claim(user, "READING", &["src/auth.ts"]).await;
    }
    let read = api.tell("ann", "OPEN", &["src/auth.ts"], json!({})).await;
    assert_json_snapshot!("read_by_others", read.json()["warnings"]);
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn what_had_expired_and_is_anothers_is_a_stop_with_who_has_it() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts", "src/db.ts"]).await;
    api.lapse("src/auth.ts").await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let pushed = push(&api);
    let answer = api
        .tell(
            "ann",
            "OPEN",
            &["src/auth.ts", "src/db.ts"],
            json!({ "new_repo_head": pushed }),
        )
        .await;
    assert_json_snapshot!(answer.snapshot());
    assert_eq!(api.held().await, 2, "nothing was released");
}

#[tokio::test]
async fn nobody_releases_what_is_anothers() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.claim("ann", "READING", &["src/db.ts"]).await;
    let written = api
        .tell("bob", "OPEN", &["src/auth.ts"], json!({ "abandon": true }))
        .await;
    assert_eq!((written.status, &written.json()["error"]), (409, &json!("LOCK_LOST")));
    let read = api
        .tell("bob", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
        .await;
    assert_eq!(read.status, 200);
    let agent = json!({ "abandon": true, "agent_id": "two" });
    assert_eq!(api.tell("ann", "OPEN", &["src/auth.ts"], agent).await.status, 409);
    assert_eq!(api.held().await, 2);
}
