//! `POST /api/post_status` with OPEN.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::api::{Answer, Api, LOCKS};

/// A server with the graph of its head, where ann writes src/auth.ts.
async fn start() -> Api {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api
}

/// Someone pushes to `main`.
fn push(api: &Api) -> String {
    api.git.commit(&[("src/auth.ts", "import './db';\nexport {};\n")])
}

/// Ann's release of that file.
async fn open(api: &Api, more: Value) -> Answer {
    api.post_status("ann", "OPEN", &["src/auth.ts"], more).await
}

#[tokio::test]
async fn after_a_push_the_files_are_free_and_their_importers_named() {
    let api = start().await;
    let pushed = push(&api);
    assert_json_snapshot!(open(&api, json!({ "new_repo_head": pushed })).await.snapshot());
    assert_eq!(api.held().await, 0);
}

// rule: messages#push
#[tokio::test]
async fn without_a_push_the_locks_are_kept() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let open = async |new_head: &str| open(&api, json!({ "new_repo_head": new_head })).await;
    assert_json_snapshot!("unchanged", open(&api.head).await.snapshot());
    api.git.git(&["checkout", "--quiet", "-b", "work"]);
    let local = push(&api);
    assert_json_snapshot!("not_on_the_branch", open(&local).await.snapshot());
    let unknown = open("0123456789abcdef0123456789abcdef01234567").await;
    unknown.expect("409 NOT_PUSHED PUSH");
    assert_eq!(api.held().await, 1);
    api.git.git(&["checkout", "--quiet", "main"]);
    api.git.git(&["merge", "--quiet", "--ff-only", "work"]);
    let other = api.git.commit(&[("README.md", "Somebody else's commit on top")]);
    assert_ne!(other, local);
    // Reachable, if not the tip.
    open(&local[..8]).await.expect("200");
}

#[tokio::test]
async fn written_files_need_the_new_head_or_abandon() {
    let api = start().await;
    assert_json_snapshot!("no_new_head", open(&api, json!({})).await.snapshot());
    assert_eq!(api.held().await, 1);
    assert_json_snapshot!("abandoned", open(&api, json!({ "abandon": true })).await.snapshot());
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn an_expired_lock_on_a_free_file_is_a_warning() {
    let api = start().await;
    api.expire_locks("src/auth.ts").await;
    assert_json_snapshot!("free", open(&api, json!({})).await.snapshot());
    for user in ["bob", "cid"] {
        api.claim(user, "READING", &["src/auth.ts"]).await;
    }
    assert_json_snapshot!("read_by_others", open(&api, json!({})).await.json()["warnings"]);
    assert_eq!(api.held().await, 1);
}

// rule: locks#lost
// rule: messages#stop
#[tokio::test]
async fn an_expired_lock_that_another_agent_holds_now_is_a_stop_with_its_holder() {
    let api = Api::start().await;
    let files = ["src/auth.ts", "src/db.ts"];
    api.claim("ann", "WRITING", &files).await;
    api.expire_locks("src/auth.ts").await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let pushed = json!({ "new_repo_head": push(&api) });
    let answer = api.post_status("ann", "OPEN", &files, pushed).await;
    assert_json_snapshot!(answer.snapshot());
    assert_eq!(api.held().await, 2, "nothing was released");
}

// rule: locks#all
#[tokio::test]
async fn an_agent_releases_everything_that_it_holds_on_a_branch() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.git.git(&["branch", "other"]);
    let release = async |branch: &str| {
        let everything = json!({ "abandon": true, "agent_id": "one", "branch": branch });
        api.post_status("ann", "OPEN", &["*"], everything).await
    };
    let nothing = release("main").await;
    nothing.expect("200");
    assert_eq!(nothing.reason(), "You hold nothing on main");
    for (user, path, more) in [
        ("ann", "src/auth.ts", json!({ "agent_id": "one" })),
        ("ann", "README.md", json!({ "agent_id": "one" })),
        ("ann", "LICENSE", json!({ "agent_id": "one", "branch": "other" })),
        ("ann", "LICENSE", json!({ "agent_id": "two" })),
        ("bob", "docs/use.md", json!({ "agent_id": "one" })),
    ] {
        api.granted(user, "WRITING", &[path], more).await;
    }
    let answer = release("main").await;
    assert_json_snapshot!("everything", answer.snapshot());
    let held = api.held().await;
    assert_eq!(held, 2, "what others have, on other branches as well, is theirs");
    let again = release("main").await;
    assert_eq!(again.json(), answer.json(), "an answer that was lost is given again");
    api.git.git(&["branch", "-D", "other"]);
    release("other").await.expect("200");
    let locks = api.get_json(&format!("{LOCKS}&agent_id=one")).await;
    assert_eq!(locks["locks"].as_array().unwrap().len(), 1, "bob's: {locks}");
}

#[tokio::test]
async fn releasing_everything_allows_no_other_file_and_no_other_status() {
    let api = start().await;
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
    api.abandon("ann", &["./*"]).await.expect("200");
    assert_eq!(api.held().await, 1);
}
