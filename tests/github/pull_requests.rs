//! Work on branches of a repository of GitHub's, and the webhook's deliveries about their pull requests.

use serde_json::{Value, json};

use crate::cloud::{Cloud, Instance, URL, jwt, now, started};
use crate::deliveries::{NO_COMMIT, push};

fn pull_request(action: &str, work_branch: &str, number: u64) -> Value {
    closed_at(action, work_branch, number, now() + 1)
}

/// The same, of one that was closed then, if it is.
fn closed_at(action: &str, work_branch: &str, number: u64, at: u64) -> Value {
    let end = |name: &str| json!({ "ref": name, "repo": { "full_name": "acme/widgets" } });
    let at = (action == "closed").then(|| coord_domain::format_instant(at as i64 * 1000));
    let content = json!({ "head": end(work_branch), "base": end("main"), "closed_at": at });
    json!({
        "action": action, "number": number, "pull_request": content,
        "repository": { "full_name": "acme/widgets", "html_url": URL },
    })
}

/// Asserts the outcome of a delivery about a pull request.
async fn deliver(instance: &Instance, payload: &Value, outcome: &str) {
    assert_eq!(
        instance.deliver("pull_request", payload).await.outcome(),
        outcome,
        "{payload}"
    );
}

/// Ann changes src/a.ts on the branch `pool` and releases it.
async fn with_pending() -> (Cloud, Instance, String) {
    let (cloud, instance) = started().await;
    let claim = json!({ "work_branch": "pool" });
    instance.post(&jwt("ann"), claim).await.expect_ok();
    cloud.repo.git(&["checkout", "--quiet", "-B", "pool"]);
    let pushed = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    cloud.repo.git(&["checkout", "--quiet", "main"]);
    let open = json!({ "status": "OPEN", "work_branch": "pool", "new_repo_head": pushed, "agent_head": pushed });
    instance.post(&jwt("ann"), open).await.expect_ok();
    (cloud, instance, pushed)
}

async fn pending_warning(instance: &Instance) -> Option<String> {
    let check = instance.check(&jwt("bob"), json!({})).await;
    let mut warnings = check.body["warnings"].as_array().unwrap().iter();
    let pending = warnings.find(|warning| warning.as_str().is_some_and(|text| text.starts_with("PENDING: ")))?;
    pending.as_str().map(str::to_owned)
}

#[tokio::test]
async fn a_pull_request_gives_pending_changes_its_number_and_ends_them_when_it_is_closed() {
    let (_cloud, instance, _) = with_pending().await;
    let without = pending_warning(&instance).await.unwrap();
    assert!(without.contains("by user 'jwt:ann' on 'pool': "), "{without}");
    deliver(&instance, &pull_request("opened", "pool", 12), "pending").await;
    let with = pending_warning(&instance).await.unwrap();
    assert!(with.contains("by user 'jwt:ann' on 'pool' (#12): "), "{with}");
    deliver(&instance, &pull_request("closed", "other", 13), "unchanged").await;
    assert_eq!(pending_warning(&instance).await.as_ref(), Some(&with));
    deliver(&instance, &pull_request("labeled", "pool", 12), "ignored").await;
    deliver(&instance, &pull_request("closed", "pool", 12), "pending").await;
    assert_eq!(pending_warning(&instance).await, None);
}

/// The deletion of the branch `pool`.
fn deleted(pushed: &str, at: u64) -> Value {
    let mut deletion = push(pushed, NO_COMMIT, 0);
    deletion["ref"] = json!("refs/heads/pool");
    deletion["commits"] = json!([]);
    deletion["repository"]["pushed_at"] = json!(at);
    deletion
}

#[tokio::test]
async fn pending_changes_end_with_their_branch() {
    let (_cloud, instance, pushed) = with_pending().await;
    assert!(pending_warning(&instance).await.is_some());
    let gone = deleted(&pushed, now() + 1);
    instance.deliver("push", &gone).await.expect_ok();
    assert_eq!(pending_warning(&instance).await, None);
}

#[tokio::test]
async fn an_old_delivery_ends_no_later_change() {
    let (_cloud, instance, pushed) = with_pending().await;
    deliver(&instance, &pull_request("opened", "pool", 12), "pending").await;
    let pending = pending_warning(&instance).await;
    assert!(pending.is_some());
    // The branch was deleted, and the pull request closed, before it was used again.
    let gone = deleted(&pushed, now() - 60);
    instance.deliver("push", &gone).await.expect_ok();
    deliver(&instance, &closed_at("closed", "pool", 12, now() - 60), "unchanged").await;
    assert_eq!(pending_warning(&instance).await, pending);
}
