//! Deliveries of GitHub's webhook.

use std::sync::Arc;

use coord_auth::Authenticator;
use coord_builds::head_observer::HeadObserver;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_http::{Webhook, router};
use coord_server::app::App;
use coord_sources::github::GithubSource;
use parking_lot::Mutex;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::cloud::{Cloud, HEAD_KEY, Instance, URL, WEBHOOK_SECRET, jwt, listen, now, started};
use crate::config;
use coord_test_support::github::Fault;

const ALIVE_KEY: &str = "coord:webhook:{127.0.0.1/acme/widgets}";

pub const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// A push of one commit to `main`, `later` seconds from now.
pub fn push(before: &str, after: &str, later: u64) -> Value {
    json!({
        "ref": "refs/heads/main", "before": before, "after": after, "created": before == NO_COMMIT,
        "deleted": after == NO_COMMIT, "forced": false, "commits": [{"id": after, "message": "Change something"}],
        "repository": {"full_name": "acme/widgets", "html_url": URL, "pushed_at": now() + later},
    })
}

pub fn next(cloud: &Cloud) -> String {
    cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")])
}

impl Cloud {
    /// How many of the keys with this name there are: one or none.
    async fn exists(&self, key: &str) -> Option<i64> {
        self.command(["EXISTS", key]).await.as_int()
    }
}

#[tokio::test]
async fn a_push_moves_the_head_at_once_and_github_gets_no_request_for_it() {
    let (cloud, instance) = started().await;
    let other = cloud.instance(&[]).await;
    let next = next(&cloud);
    assert_eq!(other.push(&push(&cloud.head, &next, 1)).await, "moved");
    for instance in [&instance, &other] {
        instance.check(&jwt("ann"), json!({})).await.expect_pull(&next);
        let refused = instance.post(&jwt("ann"), json!({})).await;
        refused.expect_error(409, "STALE_HEAD");
    }
    // For a long time.
    for age in [11, 100, 400, 1_000, 3_500] {
        cloud.age_head(age).await;
        let fresh = cloud.instance(&[]).await;
        for instance in [&instance, &fresh] {
            let claimed = instance.post(&jwt("ann"), json!({"agent_head": next})).await;
            let outcome = (claimed.status, claimed.warns_of("HEAD_UNCONFIRMED"));
            assert_eq!(outcome, (200, false), "{age}: {claimed:?}");
            let behind = instance.check(&jwt("bob"), json!({})).await;
            assert_eq!(behind.body["repo_head"], next.as_str(), "{age}: {behind:?}");
        }
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    // Should deliveries be lost, it is no longer than an hour.
    cloud.age_head(3_700).await;
    let checked = instance.check(&jwt("ann"), json!({"agent_head": next})).await;
    checked.expect_action("PROCEED");
    assert_eq!(cloud.fake.requested_paths(), ["/commits/heads/main"]);
}

/// Whether a file has changed is the one question, and the release does not depend on it.
#[tokio::test]
async fn a_push_reported_by_the_webhook_is_released_whatever_github_answers() {
    for answers in [true, false] {
        let (cloud, instance) = started().await;
        let files = json!(["src/a.ts", "src/b.ts"]);
        let claim = json!({"file_paths": files});
        instance.post(&jwt("ann"), claim).await.expect_ok();
        let next = next(&cloud);
        assert_eq!(instance.push(&push(&cloud.head, &next, 1)).await, "moved");
        if !answers {
            cloud.fake.fail("/compare/", 1_000, Fault::status(403));
        }
        let open = json!({"status": "OPEN", "new_repo_head": next, "file_paths": files});
        let open = instance.post(&jwt("ann"), open).await.expect_ok();
        // The warning where GitHub answers in time: tests/api/everywhere/pushes.rs.
        assert!(answers || !open.warns_of("UNCHANGED"), "{open:?}");
        assert!(!cloud.is_locked("src/a.ts").await);
        let requests = cloud.fake.requested_paths();
        assert!(
            requests.len() == 1 && requests[0].starts_with("/compare/"),
            "{requests:?}"
        );
    }
}

#[tokio::test]
async fn a_delivery_about_a_repository_that_is_not_listed_is_ignored() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[("COORD_REPOSITORIES", "acme/gadgets")]).await;
    let delivery = push(&cloud.head, &next(&cloud), 1);
    assert_eq!(instance.push(&delivery).await, "ignored");
    assert_eq!(cloud.everything().await, "");
}

#[tokio::test]
async fn a_delivery_that_is_sent_again_does_no_harm() {
    let (cloud, instance) = started().await;
    let second = next(&cloud);
    let first_push = push(&cloud.head, &second, 1);
    assert_eq!(instance.push(&first_push).await, "moved");
    let third = next(&cloud);
    let second_push = push(&second, &third, 2);
    assert_eq!(instance.push(&second_push).await, "moved");
    cloud.fake.seen();
    // An old one makes Coord look, and what it sees counts.
    assert_eq!(instance.push(&first_push).await, "refreshed");
    assert_eq!(cloud.head_field("commit").await, Some(third.clone()));
    // Once: whoever has stolen it and sends it again and again costs GitHub nothing more.
    cloud.fake.seen();
    for _ in 0..20 {
        assert_eq!(instance.push(&first_push).await, "unchanged");
        let checked = instance.check(&jwt("ann"), json!({"agent_head": third})).await;
        checked.expect_ok();
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    // The last one does not make a head young that is old, nor has it the webhook count as alive.
    cloud.age_head(5_000).await;
    cloud.command(["DEL", ALIVE_KEY]).await;
    let checked_at = cloud.head_field("checked_at").await;
    assert_eq!(instance.push(&second_push).await, "unchanged");
    assert_eq!(cloud.head_field("checked_at").await, checked_at);
    assert_eq!(cloud.exists(ALIVE_KEY).await, Some(0));
    let fourth = next(&cloud);
    let behind = instance.check(&jwt("ann"), json!({"agent_head": third})).await;
    behind.expect_pull(&fourth);
}

#[tokio::test]
async fn a_delivery_after_a_fetched_head_marks_the_webhook_as_alive() {
    let (cloud, instance) = started().await;
    let next = next(&cloud);
    cloud.age_head(11).await;
    instance.check(&jwt("ann"), json!({})).await.expect_action("PULL");
    assert_eq!(instance.push(&push(&cloud.head, &next, 0)).await, "unchanged");
    assert_eq!(cloud.exists(ALIVE_KEY).await, Some(1));
    cloud.age_head(1_000).await;
    cloud.fake.seen();
    instance.check(&jwt("ann"), json!({})).await.expect_action("PULL");
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}

#[tokio::test]
async fn a_branch_that_is_deleted_and_one_that_is_made_anew_are_looked_at() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let key = HEAD_KEY.replace(":main", ":feature");
    let question = json!({"branch": "feature"});
    cloud.repo.git(&["branch", "feature"]);
    instance.check(&jwt("ann"), question.clone()).await.expect_ok();
    let of_feature = |mut payload: Value| {
        payload["ref"] = json!("refs/heads/feature");
        payload
    };
    // A delivery that says so although it is still there deletes nothing.
    let deleted = of_feature(push(&cloud.head, NO_COMMIT, 1));
    assert_eq!(instance.push(&deleted).await, "refreshed");
    cloud.repo.git(&["branch", "-D", "feature"]);
    assert_eq!(instance.push(&deleted).await, "gone");
    assert_eq!(cloud.exists(&key).await, Some(0));
    let checked = instance.check(&jwt("ann"), question.clone()).await;
    checked.expect_error(404, "UNKNOWN_BRANCH");
    cloud.repo.git(&["branch", "feature"]);
    instance.checks_at_last(question.clone()).await;
    // Deleted and made anew elsewhere, and the delivery of the first is lost.
    let next = next(&cloud);
    cloud.repo.git(&["branch", "-f", "feature", &next]);
    let created = of_feature(push(NO_COMMIT, &next, 5));
    assert_eq!(instance.push(&created).await, "refreshed");
    instance.check(&jwt("ann"), question).await.expect_pull(&next);
}

#[tokio::test]
async fn a_forced_push_leaves_the_commits_behind_that_are_no_more() {
    let (cloud, instance) = started().await;
    let second = next(&cloud);
    assert_eq!(instance.push(&push(&cloud.head, &second, 1)).await, "moved");
    cloud.repo.git(&["reset", "--quiet", "--hard", &cloud.head]);
    let other = cloud.repo.commit(&[("src/b.ts", "")]);
    let mut forced = push(&second, &other, 2);
    forced["forced"] = json!(true);
    assert_eq!(instance.push(&forced).await, "moved");
    assert_eq!(cloud.head_field("recent").await, Some(other.clone()));
    let checked = instance.check(&jwt("ann"), json!({"agent_head": second})).await;
    checked.expect_pull(&other);
}

#[tokio::test]
async fn while_github_is_down_a_delivery_that_does_not_follow_is_not_believed() {
    let (cloud, instance) = started().await;
    cloud.fake.fail("/commits/", 1_000, Fault::status(502));
    let unknown = "1234567890123456789012345678901234567890";
    let delivery = push(unknown, &next(&cloud), 1);
    // Not 2xx, so that it can be sent again.
    assert_eq!(instance.deliver("push", &delivery).await.status, 503);
    assert_eq!(cloud.head_field("commit").await, Some(cloud.head.clone()));
    let checked = instance.check(&jwt("ann"), json!({})).await.expect_ok();
    assert!(checked.warns_of("HEAD_UNCONFIRMED"), "{checked:?}");
    let warnings = checked.body["warnings"].to_string();
    assert!(
        warnings.contains("it is not known whether") && !warnings.contains(" s ago"),
        "{warnings}"
    );
    assert_eq!(instance.post(&jwt("ann"), json!({})).await.status, 503);
}

/// Notes the moves of heads.
#[derive(Default)]
struct Observer(Mutex<Vec<String>>);

impl HeadObserver for Observer {
    fn saw_head(&self, _: &RepoId, _: &Branch, _: &CommitSha) {}

    fn saw_move(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        self.0.lock().push(format!("{repo} {branch} {head}"));
    }

    fn report_missing_graph(&self, _: &RepoId, _: &Branch, _: &CommitSha) {}

    fn recheck_all(&self) {}
}

#[tokio::test]
async fn graph_builders_are_notified_of_a_push() {
    let (cloud, instance) = started().await;
    let observer = Arc::new(Observer::default());
    let mut config = config(&cloud.fake);
    config.credential = cloud.credential();
    let source = Arc::new(GithubSource::new(config).unwrap());
    let secret = SecretString::from(WEBHOOK_SECRET);
    let state = App {
        webhook: Some(Arc::new(Webhook::new(secret, source.host()))),
        source: Some(source),
        head_observer: Some(observer.clone()),
        ..App::new(
            &coord_extensions::default_settings(),
            Arc::new(cloud.store.clone()),
            Authenticator::by_jwt(None),
        )
    };
    let address = listen(router(state, &[coord_http::endpoint::operation::GITHUB_WEBHOOK])).await;
    let observed = instance.with(coord_http::endpoint::operation::GITHUB_WEBHOOK, address);
    let second = next(&cloud);
    let first_push = push(&cloud.head, &second, 1);
    assert_eq!(observed.push(&first_push).await, "moved");
    let notice = |head: &str| format!("127.0.0.1/acme/widgets main {head}");
    assert_eq!(std::mem::take(&mut *observer.0.lock()), [notice(&second)]);
    assert_eq!(observed.push(&first_push).await, "unchanged");
    assert_eq!(*observer.0.lock(), Vec::<String>::new());
    // Of what it finds when it looks, too.
    let third = next(&cloud);
    assert_eq!(observed.push(&push(NO_COMMIT, &third, 2)).await, "refreshed");
    assert_eq!(*observer.0.lock(), [notice(&third)]);
}

/// `text` with the name that the repository had before.
fn former(text: &str) -> String {
    text.replace("acme/widgets", "acme/gizmos")
}

/// Renames the repository, under whose old name the webhook has delivered a minute ago: that head counts for an hour.
async fn rename(cloud: &Cloud) {
    let (head_key, minute_ago) = (former(HEAD_KEY), (now() - 60).to_string());
    cloud
        .command(["SET", &former(ALIVE_KEY), &minute_ago, "EX", "86400"])
        .await;
    let head = ["HSET", &head_key, "commit", &cloud.head, "checked_at", &minute_ago];
    cloud.command(head).await;
    cloud
        .fake
        .behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
}

/// Asserts that the old name is refused with the new one, under which all goes on.
async fn has_one_name(instance: &Instance, head: &str) {
    let by_old_name = json!({"repo_url": former(URL), "agent_head": head});
    for answer in [
        instance.check(&jwt("ann"), by_old_name.clone()).await,
        instance.post(&jwt("ann"), by_old_name).await,
    ] {
        let answer = answer.expect_error(404, "UNKNOWN_REPOSITORY");
        assert!(answer.message().contains("127.0.0.1/acme/widgets"), "{answer:?}");
    }
    let by_new_name = json!({"agent_head": head});
    instance.post(&jwt("bob"), by_new_name).await.expect_ok();
}

#[tokio::test]
async fn a_repository_that_is_renamed_is_found_out_under_its_old_name_at_once() {
    let (cloud, instance) = started().await;
    rename(&cloud).await;
    let by_old_name = json!({"repo_url": former(URL)});
    instance.post(&jwt("ann"), by_old_name).await.expect_ok();
    instance.post(&jwt("bob"), json!({})).await.expect_ok();
    let renamed = json!({
        "action": "renamed", "changes": {"repository": {"name": {"from": "gizmos"}}},
        "repository": {"full_name": "acme/widgets", "html_url": URL},
    });
    for outcome in ["untrusted", "unchanged"] {
        assert_eq!(instance.deliver("repository", &renamed).await.outcome(), outcome);
    }
    has_one_name(&instance, &cloud.head).await;
}

/// The event `repository` is not delivered.
#[tokio::test]
async fn the_first_push_under_another_name_is_known_by_the_number_of_the_repository() {
    let (cloud, instance) = started().await;
    rename(&cloud).await;
    let second = next(&cloud);
    let numbered = |text: String, later: u64| -> Value {
        let mut push: Value = serde_json::from_str(&text).unwrap();
        push["repository"]["id"] = json!(7);
        push["repository"]["pushed_at"] = json!(now() + later);
        push
    };
    let text = push(&cloud.head, &second, 0).to_string();
    let (by_old_name, by_new_name) = (numbered(former(&text), 1), numbered(text, 2));
    assert_eq!(instance.push(&by_old_name).await, "moved");
    let claim = json!({"repo_url": former(URL), "agent_head": second});
    instance.post(&jwt("ann"), claim).await.expect_ok();
    assert_eq!(instance.push(&by_new_name).await, "moved");
    // One that is sent again changes nothing.
    assert_eq!(instance.push(&by_old_name).await, "unchanged");
    assert_eq!(cloud.exists(ALIVE_KEY).await, Some(1));
    assert_eq!(cloud.exists(&former(ALIVE_KEY)).await, Some(0));
    let old_head = (now() - 60).to_string();
    cloud
        .command(["HSET", &former(HEAD_KEY), "checked_at", &old_head])
        .await;
    has_one_name(&instance, &second).await;
}
