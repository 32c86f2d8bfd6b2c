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
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": pushed }))
        .await;
    assert_json_snapshot!(answer.snapshot());
    assert_eq!(api.held().await, 0);
}

// rule: messages#push
#[tokio::test]
async fn without_a_push_the_locks_are_kept() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let unchanged = api
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": api.head }))
        .await;
    assert_json_snapshot!("unchanged", unchanged.snapshot());
    api.git.git(&["checkout", "--quiet", "-b", "work"]);
    let local = push(&api);
    let not_on_main = api
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": local }))
        .await;
    assert_json_snapshot!("not_on_the_branch", not_on_main.snapshot());
    let unknown = json!({ "new_repo_head": "0123456789abcdef0123456789abcdef01234567" });
    let unknown = api.post_status("ann", "OPEN", &["src/auth.ts"], unknown).await;
    assert_eq!((unknown.status, &unknown.json()["error"]), (409, &json!("NOT_PUSHED")));
    assert_eq!(api.held().await, 1);
    api.git.git(&["checkout", "--quiet", "main"]);
    api.git.git(&["merge", "--quiet", "--ff-only", "work"]);
    let other = api.git.commit(&[("README.md", "Somebody else's commit on top")]);
    assert_ne!(other, local);
    let answer = api
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "new_repo_head": &local[..8] }))
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
        api.post_status("ann", "OPEN", &["src/auth.ts"], json!({}))
            .await
            .snapshot()
    );
    assert_eq!(api.held().await, 1);
    let abandoned = api
        .post_status("ann", "OPEN", &["src/auth.ts"], json!({ "abandon": true }))
        .await;
    assert_json_snapshot!("abandoned", abandoned.snapshot());
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn an_expired_lock_on_a_free_file_is_a_warning() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.expire_locks("src/auth.ts").await;
    assert_json_snapshot!(
        "free",
        api.post_status("ann", "OPEN", &["src/auth.ts"], json!({}))
            .await
            .snapshot()
    );
    for user in ["bob", "cid"] {
        api.claim(user, "READING", &["src/auth.ts"]).await;
    }
    let read = api.post_status("ann", "OPEN", &["src/auth.ts"], json!({})).await;
    assert_json_snapshot!("read_by_others", read.json()["warnings"]);
    assert_eq!(api.held().await, 1);
}

// rule: locks#lost
// rule: messages#stop
#[tokio::test]
async fn an_expired_lock_that_another_agent_holds_now_is_a_stop_with_its_holder() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts", "src/db.ts"]).await;
    api.expire_locks("src/auth.ts").await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let pushed = push(&api);
    let answer = api
        .post_status(
            "ann",
            "OPEN",
            &["src/auth.ts", "src/db.ts"],
            json!({ "new_repo_head": pushed }),
        )
        .await;
    assert_json_snapshot!(answer.snapshot());
    assert_eq!(api.held().await, 2, "nothing was released");
}

// rule: locks#all
#[tokio::test]
async fn an_agent_releases_everything_that_it_holds_on_a_branch() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.git.git(&["branch", "other"]);
    let everything = json!({ "abandon": true, "agent_id": "one" });
    let nothing = api.post_status("ann", "OPEN", &["*"], everything.clone()).await;
    assert_eq!(
        (nothing.status, &nothing.json()["orchestration"]["reason"]),
        (200, &json!("You hold nothing on main"))
    );
    for (user, path, more) in [
        ("ann", "src/auth.ts", json!({ "agent_id": "one" })),
        ("ann", "README.md", json!({ "agent_id": "one" })),
        ("ann", "LICENSE", json!({ "agent_id": "one", "branch": "other" })),
        ("ann", "LICENSE", json!({ "agent_id": "two" })),
        ("bob", "docs/use.md", json!({ "agent_id": "one" })),
    ] {
        let answer = api.post_status(user, "WRITING", &[path], more).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
    }
    let answer = api.post_status("ann", "OPEN", &["*"], everything.clone()).await;
    assert_json_snapshot!("everything", answer.snapshot());
    assert_eq!(
        api.held().await,
        2,
        "what others have, on other branches as well, is theirs"
    );
    let again = api.post_status("ann", "OPEN", &["*"], everything.clone()).await;
    assert_eq!(again.json(), answer.json(), "an answer that was lost is given again");
    api.git.git(&["branch", "-D", "other"]);
    let elsewhere = json!({ "abandon": true, "agent_id": "one", "branch": "other" });
    assert_eq!(api.post_status("ann", "OPEN", &["*"], elsewhere).await.status, 200);
    let locks = api
        .get("/api/locks?repo_url=https://github.com/acme/shop&agent_id=one", &[])
        .await
        .json();
    assert_eq!(locks["locks"].as_array().unwrap().len(), 1, "bob's: {locks}");
}

#[tokio::test]
async fn releasing_everything_allows_no_other_file_and_no_other_status() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let refusal = "400 INVALID_FIELD file_paths: file_paths has '*', which means all files that you hold: send it \
                   alone, with status OPEN and \"abandon\": true; otherwise name the files (a file named '*' is './*')";
    for (status, paths, more) in [
        ("WRITING", &["*"][..], json!({})),
        ("READING", &["*"], json!({ "abandon": true })),
        ("OPEN", &["*"], json!({})),
        ("OPEN", &["*"], json!({ "abandon": false, "new_repo_head": api.head })),
        ("OPEN", &["*", "src/auth.ts"], json!({ "abandon": true })),
        ("OPEN", &["*", "*"], json!({ "abandon": true })),
    ] {
        let answer = api.post_status("ann", status, paths, more.clone()).await;
        assert_eq!(answer.refusal(), refusal, "{status} {paths:?} {more}");
    }
    assert_eq!(api.check("ann", &["*"], json!({})).await.refusal(), refusal);
    assert_eq!(api.held().await, 1);
    // A file of that name is a file as any other.
    api.claim("ann", "WRITING", &["./*"]).await;
    let file = api
        .post_status("ann", "OPEN", &["./*"], json!({ "abandon": true }))
        .await;
    assert_eq!((file.status, api.held().await), (200, 1));
}
