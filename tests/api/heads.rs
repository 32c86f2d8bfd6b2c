//! The head of a clone that has fetched: agents are held to what was pushed.

use serde_json::json;

use crate::api::Api;
use coord_test_support::git::Repo;

/// A clone of a repository that agents push to, served; and the clone of an agent.
async fn clone_of_a_hub() -> (Api, Repo) {
    let folder = tempfile::tempdir().unwrap();
    Repo::init(folder.path().join("hub.git"), &["--bare"]);
    let here = Repo::at(folder.path());
    here.git(&["clone", "--quiet", "hub.git", "agent"]);
    let agent = Repo::at(folder.path().join("agent"));
    agent.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let first = agent.commit(&[("src/db.ts", "")]);
    let head = agent.commit(&[("README.md", "A shop\n")]);
    agent.git(&["push", "--quiet", "origin", "main"]);
    here.git(&["clone", "--quiet", "hub.git", "served"]);
    let served = Repo::at(folder.path().join("served"));
    // Named as callers name it, and fetched by path.
    served.git(&["config", "remote.origin.url", crate::api::REPO_URL]);
    served.git(&[
        "config",
        &format!("url.{}.insteadOf", folder.path().join("hub.git").display()),
        crate::api::REPO_URL,
    ]);
    (Api::serve(folder, served, first, head, |_| {}).await, agent)
}

#[tokio::test]
async fn a_branch_that_was_not_pushed_is_unknown_branch_with_the_push_command() {
    let (api, _) = clone_of_a_hub().await;
    api.git.git(&["branch", "feature"]);
    let answer = api.check("ann", &["src/db.ts"], json!({ "branch": "feature" })).await;
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["error"], &body["field"]),
        (404, &json!("UNKNOWN_BRANCH"), &json!("branch"))
    );
    let message = body["message"].as_str().unwrap();
    assert!(message.contains("git push -u origin feature"), "{message}");
    assert_eq!(body["orchestration"]["reason"], message);
}

#[tokio::test]
async fn sentences_call_the_branch_as_the_clone_does() {
    let (api, agent) = clone_of_a_hub().await;
    api.git.git(&["remote", "rename", "origin", "upstream"]);
    let check = async |more| api.check("ann", &["src/db.ts"], more).await.json();
    assert_eq!(check(json!({})).await["repo_head_ref"], "refs/remotes/upstream/main");
    let response = check(json!({ "agent_head": api.first })).await;
    assert_eq!(
        response["warnings"][0],
        "STALE_BRANCH: Your branch is behind upstream/main."
    );
    let reason = response["orchestration"]["reason"].as_str().unwrap();
    assert!(reason.ends_with(" of upstream/main"), "{reason}");
    let unknown = "0123456789abcdef0123456789abcdef01234567";
    let claim = json!({ "agent_head": unknown });
    let response = api.post_status("ann", "WRITING", &["src/db.ts"], claim).await.json();
    let reason = response["orchestration"]["reason"].as_str().unwrap();
    assert!(reason.contains("(git merge-base HEAD upstream/main)"), "{reason}");
    // Pushed, and not yet fetched by the served clone: a pull changes nothing.
    let claim = json!({ "agent_head": unknown, "base_head": unknown });
    let response = api.post_status("ann", "WRITING", &["src/db.ts"], claim).await.json();
    let reason = response["orchestration"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("knows neither your commit 0123456 nor your base_head")
            && reason.contains("run git fetch there"),
        "{reason}"
    );

    // Each reason to keep a file locked.
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let unpushed = agent.commit(&[("src/db.ts", "unpushed")]);
    for (new_head, agent_head) in [
        (&api.head, &api.head),
        (&unpushed, &unpushed),
        (&api.first, &api.head),
        (&api.head, &unpushed),
    ] {
        let open = json!({ "new_repo_head": new_head, "agent_head": agent_head });
        let response = api.post_status("ann", "OPEN", &["src/db.ts"], open).await.json();
        let reason = response["orchestration"]["reason"].as_str().unwrap();
        assert_eq!(response["orchestration"]["action"], "PUSH", "{response}");
        assert!(
            reason.contains(" upstream/main") && !reason.contains("origin/"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn a_remote_may_have_a_name_with_a_slash() {
    let (api, _) = clone_of_a_hub().await;
    api.git.git(&["remote", "rename", "origin", "team/hub"]);
    let stale = json!({ "agent_head": api.first, "work_branch": "feature" });
    let response = api.post_status("ann", "WRITING", &["src/db.ts"], stale).await.json();
    assert_eq!(
        (
            &response["orchestration"]["action"],
            &response["orchestration"]["command"]
        ),
        (&json!("PULL"), &json!("git pull --rebase team/hub main")),
        "{response}"
    );
}

#[tokio::test]
async fn a_stale_claim_to_write_names_no_lock_for_reading_as_one_to_renew() {
    let (api, _) = clone_of_a_hub().await;
    let stale = json!({ "agent_head": api.first });
    let read = api.post_status("ann", "READING", &["src/db.ts"], stale.clone()).await;
    assert_eq!(read.status, 200, "{}", read.json());
    let refused = api.post_status("ann", "WRITING", &["src/db.ts"], stale).await;
    assert_eq!(refused.status, 409);
    let message = refused.json()["orchestration"]["reason"].to_string();
    assert!(
        message.contains("nothing was claimed") && !message.contains("You can renew"),
        "{message}"
    );
}
