//! Repositories and branches that are not there, or not as one would wish.

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::api::{Api, REPO_URL};
use coord_test_support::git::Repo;

#[tokio::test]
async fn an_unknown_repository_lists_what_is_served() {
    let api = Api::start().await;
    let other = json!({ "repo_url": "https://github.com/acme/shopping.git" });
    let check = api.check("ann", &["src/auth.ts"], other.clone()).await;
    assert_json_snapshot!("check", check.snapshot());
    let post = api.post_status("ann", "WRITING", &["src/auth.ts"], other).await;
    post.expect("404");
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn an_unknown_branch_lists_near_names() {
    let api = Api::start().await;
    for name in ["feature/login", "feature/logout", "release-2"] {
        api.git.git(&["branch", name]);
    }
    let mut lines = Vec::new();
    for name in [
        "mian",
        "Main",
        "feature/logi",
        "release",
        "nothing-like-it",
        "origin/main",
        "refs/heads/main",
    ] {
        let answer = api
            .post_status("ann", "WRITING", &["src/auth.ts"], json!({ "branch": name }))
            .await;
        lines.push(format!("{name}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn an_empty_repository_has_no_branch_yet() {
    let folder = tempfile::tempdir().unwrap();
    let git = Repo::init(folder.path().join("shop"), &[]);
    git.git(&["remote", "add", "origin", REPO_URL]);
    let none = "0".repeat(40);
    let api = Api::serve(folder, git, none.clone(), none, |_| {}).await;
    assert_json_snapshot!("empty", api.check("ann", &["src/auth.ts"], json!({})).await.snapshot());
    let head = api.git.commit(&[("a.ts", "")]);
    let answer = api.check("ann", &["a.ts"], json!({ "agent_head": head })).await;
    assert_eq!(
        (answer.status, &answer.json()["status"]),
        (200, &json!("OK")),
        "the first commit is seen at once"
    );
}

#[tokio::test]
async fn a_detached_head_changes_nothing_for_branches() {
    let api = Api::start().await;
    api.git.git(&["checkout", "--quiet", "--detach", &api.first]);
    let check = api.check("ann", &["src/auth.ts"], json!({})).await;
    assert_eq!(check.expect("200 OK")["repo_head"], json!(api.head));
}

#[tokio::test]
async fn a_shallow_clone_does_not_guess_what_it_cannot_see() {
    let folder = tempfile::tempdir().unwrap();
    let origin = Repo::init(folder.path().join("origin"), &[]);
    let first = origin.commit(&[("src/auth.ts", "")]);
    let second = origin.commit(&[("src/db.ts", "")]);
    let head = origin.commit(&[("src/page.ts", "")]);
    let url = format!("file://{}", origin.path().display());
    let shop = folder.path().join("shop");
    origin.git(&["clone", "--quiet", "--depth", "1", &url, shop.to_str().unwrap()]);
    let git = Repo::at(&shop);
    git.git(&["remote", "set-url", "origin", REPO_URL]);
    let api = Api::serve(folder, git, first.clone(), head, |_| {}).await;
    let file = &["src/auth.ts"];
    api.check("ann", file, json!({})).await.expect("200 OK");
    let behind = api.check("ann", file, json!({ "agent_head": first })).await;
    behind.expect("200 STALE");
    api.claim("ann", "WRITING", file).await;
    let open = async |new_head: &str| {
        let more = json!({ "new_repo_head": new_head });
        api.post_status("ann", "OPEN", file, more).await
    };
    // Reachable, but beyond where the history is cut off.
    open(&second).await.expect("409 NOT_PUSHED");
    let pushed = api.git.commit(&[("src/auth.ts", "export {};\n")]);
    // As `git push` notes it.
    api.git.git(&["update-ref", "refs/remotes/origin/main", &pushed]);
    open(&pushed).await.expect("200");
}

#[tokio::test]
async fn a_repository_that_has_gone_away_is_offline_and_not_unknown() {
    let api = Api::start().await;
    std::fs::rename(api.git.path(), api.git.path().with_extension("gone")).unwrap();
    let answer = api.check("ann", &["src/auth.ts"], json!({})).await;
    assert_json_snapshot!(answer.snapshot());
}
