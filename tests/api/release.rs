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

// rule: messages#push
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
async fn files_that_were_only_read_are_released_without_a_push() {
    let api = Api::start().await;
    api.claim("ann", "READING", &["src/auth.ts"]).await;
    assert_eq!(api.tell("ann", "OPEN", &["src/auth.ts"], json!({})).await.status, 200);
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn an_expired_lock_on_a_free_file_is_a_warning() {
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

// rule: locks#lost
// rule: messages#stop
#[tokio::test]
async fn an_expired_lock_that_another_agent_holds_now_is_a_stop_with_its_holder() {
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

/// The reason of an answer, and the files that it wants pushed.
fn push_wanted(answer: &crate::api::Answer) -> (String, serde_json::Value) {
    let body = answer.json();
    let orchestration = &body["orchestration"];
    assert_eq!(
        (answer.status, &orchestration["action"]),
        (409, &json!("PUSH")),
        "{body}"
    );
    let reason = orchestration["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("abandon the work"), "it is no dead end: {reason}");
    (reason, orchestration["metadata"]["unpushed"].clone())
}

#[tokio::test]
async fn a_file_tracked_in_decomposed_characters_needs_its_push() {
    let api = Api::start().await;
    let tracked = "gro\u{308}\u{df}e/gro\u{308}\u{df}e.ts";
    let base = api.git.commit(&[(tracked, "export const a = 1;\n")]);
    let claim = api
        .tell("ann", "WRITING", &[tracked], json!({ "agent_head": base }))
        .await;
    assert_eq!(claim.status, 200, "{}", claim.json());
    api.git.git(&["checkout", "--quiet", "-b", "side"]);
    let local = api.git.commit(&[(tracked, "export const a = 2;\n")]);
    api.git.git(&["checkout", "--quiet", "main"]);
    let others = api.git.commit(&[("other.md", "Somebody else's")]);
    for (new_head, agent_head) in [(&local, &local), (&others, &local)] {
        let more = json!({ "new_repo_head": new_head, "agent_head": agent_head });
        let (_, unpushed) = push_wanted(&api.tell("ann", "OPEN", &[tracked], more).await);
        assert_eq!(unpushed, json!(["gr\u{f6}\u{df}e/gr\u{f6}\u{df}e.ts"]));
    }
    assert_eq!(api.held().await, 1);
    let pushed = api.git.commit(&[(tracked, "export const a = 2;\n")]);
    let more = json!({ "new_repo_head": pushed, "agent_head": local });
    let answer = api.tell("ann", "OPEN", &[tracked], more).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    assert!(!answer.json()["warnings"].to_string().contains("UNCHANGED"));
}

#[tokio::test]
async fn a_file_that_is_as_it_was_is_released_with_a_warning_and_needs_no_push() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let paths = ["src/auth.ts", "src/db.ts", "never-made.ts"];
    api.claim("ann", "WRITING", &paths).await;
    // On a branch of its own nothing but one file is missing.
    api.git.git(&["checkout", "--quiet", "-b", "work"]);
    let local = push(&api);
    let more = json!({ "new_repo_head": local, "agent_head": local });
    let (_, unpushed) = push_wanted(&api.tell("ann", "OPEN", &paths, more.clone()).await);
    assert_eq!(unpushed, json!(["src/auth.ts"]));
    assert_eq!(api.held().await, 3);
    let released = api.tell("ann", "OPEN", &["src/db.ts"], more.clone()).await;
    assert_eq!(released.status, 200, "{}", released.json());
    api.git.git(&["checkout", "--quiet", "main"]);
    api.git.git(&["merge", "--quiet", "--ff-only", "work"]);
    let answer = api.tell("ann", "OPEN", &["src/auth.ts", "never-made.ts"], more).await;
    assert_json_snapshot!("unchanged_file", answer.snapshot());
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn work_on_a_history_that_was_written_anew_is_released_when_it_is_there() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.git.git(&["reset", "--quiet", "--hard", &api.first]);
    let anew = push(&api);
    let more = json!({ "new_repo_head": anew, "agent_head": anew });
    let answer = api.tell("ann", "OPEN", &["src/auth.ts"], more).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
}

// rule: locks#reset-branch
#[tokio::test]
async fn after_a_reset_a_commit_from_before_the_claim_is_no_push() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["README.md", "src/auth.ts"]).await;
    api.git.git(&["reset", "--quiet", "--hard", &api.first]);
    let open = async |head: &str| {
        let more = json!({ "new_repo_head": head, "agent_head": head });
        api.tell("ann", "OPEN", &["README.md", "src/auth.ts"], more).await
    };
    let (reason, unpushed) = push_wanted(&open(&api.first).await);
    assert!(reason.contains("was already on main when you claimed"), "{reason}");
    assert_eq!(unpushed, json!(["README.md", "src/auth.ts"]));
    assert_eq!(api.held().await, 2);
    let anew = api.git.commit(&[("README.md", "A shop for all\n")]);
    let answer = open(&anew).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    let warnings = answer.json()["warnings"].to_string();
    assert!(
        warnings.contains("UNCHANGED: At that commit 'src/auth.ts' is as"),
        "{warnings}"
    );
}

// rule: locks#all
#[tokio::test]
async fn an_agent_gives_back_everything_that_it_holds_on_a_branch() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.git.git(&["branch", "other"]);
    let everything = json!({ "abandon": true, "agent_id": "one" });
    let nothing = api.tell("ann", "OPEN", &["*"], everything.clone()).await;
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
        let answer = api.tell(user, "WRITING", &[path], more).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
    }
    let answer = api.tell("ann", "OPEN", &["*"], everything.clone()).await;
    assert_json_snapshot!("everything", answer.snapshot());
    assert_eq!(
        api.held().await,
        2,
        "what others have, on other branches as well, is theirs"
    );
    let again = api.tell("ann", "OPEN", &["*"], everything.clone()).await;
    assert_eq!(again.json(), answer.json(), "an answer that was lost is given again");
    api.git.git(&["branch", "-D", "other"]);
    let elsewhere = json!({ "abandon": true, "agent_id": "one", "branch": "other" });
    assert_eq!(api.tell("ann", "OPEN", &["*"], elsewhere).await.status, 200);
    let locks = api
        .get("/api/locks?repo_url=https://github.com/acme/shop&agent_id=one", &[])
        .await
        .json();
    assert_eq!(locks["locks"].as_array().unwrap().len(), 1, "bob's: {locks}");
}

#[tokio::test]
async fn everything_is_given_back_alone_and_nothing_else_done_with_it() {
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
        let answer = api.tell("ann", status, paths, more.clone()).await;
        assert_eq!(answer.refusal(), refusal, "{status} {paths:?} {more}");
    }
    assert_eq!(api.check("ann", &["*"], json!({})).await.refusal(), refusal);
    assert_eq!(api.held().await, 1);
    // A file of that name is a file as any other.
    api.claim("ann", "WRITING", &["./*"]).await;
    let file = api.tell("ann", "OPEN", &["./*"], json!({ "abandon": true })).await;
    assert_eq!((file.status, api.held().await), (200, 1));
}
