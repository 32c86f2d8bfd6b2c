//! The head of a clone that has fetched: agents are held to what was pushed.

use coord_test_support::git::Repo;
use serde_json::json;

use crate::api::{Api, REPO_URL};

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
    served.git(&["config", "remote.origin.url", REPO_URL]);
    let by_path = format!("url.{}.insteadOf", folder.path().join("hub.git").display());
    served.git(&["config", &by_path, REPO_URL]);
    (Api::serve(folder, served, first, head, |_| {}).await, agent)
}

#[tokio::test]
async fn a_branch_that_was_not_pushed_is_unknown_branch_with_the_push_command() {
    let (api, _) = clone_of_a_hub().await;
    api.git.git(&["branch", "feature"]);
    let answer = api.check("ann", &["src/db.ts"], json!({ "branch": "feature" })).await;
    let body = answer.expect("404 UNKNOWN_BRANCH");
    assert_eq!(body["field"], "branch");
    let message = body["message"].as_str().unwrap();
    assert!(message.contains("git push -u origin feature"), "{message}");
    assert_eq!(answer.reason(), message);
}

#[tokio::test]
async fn sentences_call_the_branch_as_the_clone_does() {
    let (api, agent) = clone_of_a_hub().await;
    api.git.git(&["remote", "rename", "origin", "upstream"]);
    let check = async |more| api.check("ann", &["src/db.ts"], more).await;
    let current = check(json!({})).await.json();
    assert_eq!(current["repo_head_ref"], "refs/remotes/upstream/main");
    let behind = check(json!({ "agent_head": api.first })).await;
    assert_eq!(
        behind.warnings("")[0],
        "STALE_BRANCH: Your branch is behind upstream/main."
    );
    let reason = behind.reason();
    assert!(reason.ends_with(" of upstream/main"), "{reason}");
    let unknown = "0123456789abcdef0123456789abcdef01234567";
    for (heads, parts) in [
        (
            json!({ "agent_head": unknown }),
            &["(git merge-base HEAD upstream/main)"][..],
        ),
        // Pushed, and not yet fetched by the served clone: a pull changes nothing.
        (
            json!({ "agent_head": unknown, "base_head": unknown }),
            &[
                "knows neither your commit 0123456 nor your base_head",
                "run git fetch there",
            ],
        ),
    ] {
        let reason = api.post_status("ann", "WRITING", &["src/db.ts"], heads).await.reason();
        assert!(parts.iter().all(|part| reason.contains(part)), "{reason}");
    }

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
        let kept = api.post_status("ann", "OPEN", &["src/db.ts"], open).await;
        kept.expect("409 NOT_PUSHED PUSH");
        let reason = kept.reason();
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
    let refused = api.post_status("ann", "WRITING", &["src/db.ts"], stale).await;
    assert_eq!(
        refused.expect("409 STALE_HEAD PULL")["orchestration"]["command"],
        "git pull --rebase team/hub main"
    );
}

#[tokio::test]
async fn a_stale_claim_to_write_names_no_lock_for_reading_as_one_to_renew() {
    let (api, _) = clone_of_a_hub().await;
    let stale = json!({ "agent_head": api.first });
    api.granted("ann", "READING", &["src/db.ts"], stale.clone()).await;
    let refused = api.post_status("ann", "WRITING", &["src/db.ts"], stale).await;
    refused.expect("409");
    let reason = refused.reason();
    assert!(
        reason.contains("nothing was claimed") && !reason.contains("You can renew"),
        "{reason}"
    );
}
