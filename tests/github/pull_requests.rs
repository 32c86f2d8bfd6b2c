//! Work on branches of a repository of GitHub's, and the webhook's deliveries about their pull requests.

use serde_json::{Value, json};

use crate::cloud::{Cloud, Instance, URL, jwt, now};
use crate::deliveries::{NO_COMMIT, outcome, started};

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

/// Ann changes src/a.ts on `work_branch` and gives it back.
async fn with_pending(work_branch: &str) -> (Cloud, Instance, String) {
    let (cloud, instance) = started().await;
    let on_branch = json!({ "work_branch": work_branch });
    let claim = instance.post(&jwt("ann"), on_branch).await;
    assert_eq!(claim.status, 200, "{claim:?}");
    cloud.repo.git(&["checkout", "--quiet", "-B", work_branch]);
    let pushed = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    cloud.repo.git(&["checkout", "--quiet", "main"]);
    let open = json!({
        "status": "OPEN", "work_branch": work_branch, "new_repo_head": pushed, "agent_head": pushed,
    });
    let open = instance.post(&jwt("ann"), open).await;
    assert_eq!(open.status, 200, "{open:?}");
    (cloud, instance, pushed)
}

async fn pending_warning(instance: &Instance) -> Option<String> {
    let check = instance.check(&jwt("bob"), json!({})).await;
    let warnings = check.body["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str);
    warnings
        .map(str::to_owned)
        .find(|warning| warning.starts_with("PENDING: "))
}

#[tokio::test]
async fn a_pull_request_gives_pending_changes_its_number_and_ends_them_when_it_is_closed() {
    let (_cloud, instance, _) = with_pending("pool").await;
    let without = pending_warning(&instance).await.unwrap();
    assert!(without.contains("by user 'jwt:ann' on 'pool': "), "{without}");
    let opened = pull_request("opened", "pool", 12);
    assert_eq!(outcome(&instance.deliver("pull_request", &opened).await), "pending");
    let with = pending_warning(&instance).await.unwrap();
    assert!(with.contains("by user 'jwt:ann' on 'pool' (#12): "), "{with}");
    let other = pull_request("closed", "other", 13);
    assert_eq!(outcome(&instance.deliver("pull_request", &other).await), "unchanged");
    assert_eq!(pending_warning(&instance).await.as_ref(), Some(&with));
    let labeled = pull_request("labeled", "pool", 12);
    assert_eq!(outcome(&instance.deliver("pull_request", &labeled).await), "ignored");
    let closed = pull_request("closed", "pool", 12);
    assert_eq!(outcome(&instance.deliver("pull_request", &closed).await), "pending");
    assert_eq!(pending_warning(&instance).await, None);
}

/// The deletion of the branch `pool`.
fn deleted(pushed: &str, at: u64) -> Value {
    json!({
        "ref": "refs/heads/pool", "before": pushed, "after": NO_COMMIT, "created": false, "deleted": true, "forced": false,
        "commits": [], "repository": { "full_name": "acme/widgets", "html_url": URL, "pushed_at": at },
    })
}

#[tokio::test]
async fn pending_changes_end_with_their_branch() {
    let (_cloud, instance, pushed) = with_pending("pool").await;
    assert!(pending_warning(&instance).await.is_some());
    let gone = deleted(&pushed, now() + 1);
    assert_eq!(instance.deliver("push", &gone).await.status, 200);
    assert_eq!(pending_warning(&instance).await, None);
}

#[tokio::test]
async fn an_old_delivery_ends_no_later_change() {
    let (_cloud, instance, pushed) = with_pending("pool").await;
    let opened = pull_request("opened", "pool", 12);
    assert_eq!(outcome(&instance.deliver("pull_request", &opened).await), "pending");
    let pending = pending_warning(&instance).await;
    assert!(pending.is_some());
    // The branch was deleted, and the pull request closed, before it was used again.
    let gone = deleted(&pushed, now() - 60);
    assert_eq!(instance.deliver("push", &gone).await.status, 200);
    let closed = closed_at("closed", "pool", 12, now() - 60);
    assert_eq!(outcome(&instance.deliver("pull_request", &closed).await), "unchanged");
    assert_eq!(pending_warning(&instance).await, pending);
}
