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

use crate::cloud::{Answer, Cloud, HEAD_KEY, Instance, URL, jwt, listen, now};
use crate::config;
use coord_test_support::github::Fault;

const ALIVE_KEY: &str = "coord:webhook:{127.0.0.1/acme/widgets}";

pub const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

pub const SECRET: &str = "It's a Secret to Everybody";

/// A push of one commit to `main`, `later` seconds from now.
pub fn push(before: &str, after: &str, later: u64) -> Value {
    json!({
        "ref": "refs/heads/main", "before": before, "after": after, "created": before == NO_COMMIT,
        "deleted": after == NO_COMMIT, "forced": false, "commits": [{"id": after, "message": "Change something"}],
        "repository": {"full_name": "acme/widgets", "html_url": URL, "pushed_at": now() + later},
    })
}

pub fn outcome(answer: &Answer) -> &str {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["outcome"].as_str().unwrap()
}

/// A cloud in which the head of `main` is known.
pub async fn started() -> (Cloud, Instance) {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.status, 200);
    cloud.fake.seen();
    (cloud, instance)
}

pub fn next(cloud: &Cloud) -> String {
    cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")])
}

#[tokio::test]
async fn a_push_moves_the_head_at_once_and_github_gets_no_request_for_it() {
    let (cloud, instance) = started().await;
    let other = cloud.instance(&[]).await;
    let next = next(&cloud);
    assert_eq!(
        outcome(&other.deliver("push", &push(&cloud.head, &next, 1)).await),
        "moved"
    );
    for instance in [&instance, &other] {
        let behind = instance.check(&jwt("ann"), json!({})).await;
        assert_eq!(
            (behind.action(), &behind.body["repo_head"]),
            ("PULL", &json!(next)),
            "{behind:?}"
        );
        let refused = instance.post(&jwt("ann"), json!({})).await;
        assert_eq!(refused.error(), (409, "STALE_HEAD"), "{refused:?}");
    }
    // For a long time.
    for age in [11, 100, 400, 1_000, 3_500] {
        cloud.age_head(age).await;
        let fresh = cloud.instance(&[]).await;
        for instance in [&instance, &fresh] {
            let claimed = instance.post(&jwt("ann"), json!({"agent_head": next})).await;
            assert_eq!(claimed.status, 200, "{age}: {claimed:?}");
            assert!(!claimed.warns_of("HEAD_UNCONFIRMED"), "{age}: {claimed:?}");
            let behind = instance.check(&jwt("bob"), json!({})).await;
            assert_eq!(behind.body["repo_head"], next.as_str(), "{age}: {behind:?}");
        }
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    // Should deliveries be lost, it is no longer than an hour.
    cloud.age_head(3_700).await;
    assert_eq!(
        instance.check(&jwt("ann"), json!({"agent_head": next})).await.action(),
        "PROCEED"
    );
    assert_eq!(cloud.fake.requested_paths(), ["/commits/heads/main"]);
}

/// Whether a file has changed is the one question, and the release does not depend on it.
#[tokio::test]
async fn a_push_reported_by_the_webhook_is_released_whatever_github_answers() {
    for answers in [true, false] {
        let (cloud, instance) = started().await;
        let files = json!({"file_paths": ["src/a.ts", "src/b.ts"]});
        assert_eq!(instance.post(&jwt("ann"), files.clone()).await.status, 200);
        let next = next(&cloud);
        assert_eq!(
            outcome(&instance.deliver("push", &push(&cloud.head, &next, 1)).await),
            "moved"
        );
        if !answers {
            cloud.fake.fail("/compare/", 1_000, Fault::status(403));
        }
        let mut more = json!({"status": "OPEN", "new_repo_head": next});
        more["file_paths"] = files["file_paths"].clone();
        let open = instance.post(&jwt("ann"), more).await;
        // That it is told where GitHub answers in time: tests/api/everywhere/pushes.rs.
        assert_eq!(open.status, 200, "{open:?}");
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
    let next = next(&cloud);
    let delivery = push(&cloud.head, &next, 1);
    assert_eq!(outcome(&instance.deliver("push", &delivery).await), "ignored");
    assert_eq!(cloud.everything().await, "");
}

#[tokio::test]
async fn a_delivery_that_is_sent_again_does_no_harm() {
    let (cloud, instance) = started().await;
    let second = next(&cloud);
    let first_push = push(&cloud.head, &second, 1);
    assert_eq!(outcome(&instance.deliver("push", &first_push).await), "moved");
    let third = next(&cloud);
    let second_push = push(&second, &third, 2);
    assert_eq!(outcome(&instance.deliver("push", &second_push).await), "moved");
    cloud.fake.seen();
    // An old one makes Coord look, and what it sees counts.
    assert_eq!(outcome(&instance.deliver("push", &first_push).await), "refreshed");
    assert_eq!(cloud.head_field("commit").await, Some(third.clone()));
    // Once: whoever has stolen it and sends it again and again costs GitHub nothing more.
    cloud.fake.seen();
    for _ in 0..20 {
        assert_eq!(outcome(&instance.deliver("push", &first_push).await), "unchanged");
        assert_eq!(
            instance.check(&jwt("ann"), json!({"agent_head": third})).await.status,
            200
        );
    }
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    // The last one does not make a head young that is old, nor has it the webhook count as alive.
    cloud.age_head(5_000).await;
    cloud.command(["DEL", ALIVE_KEY]).await;
    let checked_at = cloud.head_field("checked_at").await;
    assert_eq!(outcome(&instance.deliver("push", &second_push).await), "unchanged");
    assert_eq!(cloud.head_field("checked_at").await, checked_at);
    assert_eq!(cloud.command(["EXISTS", ALIVE_KEY]).await.as_int(), Some(0));
    let fourth = next(&cloud);
    let behind = instance.check(&jwt("ann"), json!({"agent_head": third})).await;
    assert_eq!((behind.action(), &behind.body["repo_head"]), ("PULL", &json!(fourth)));
}

#[tokio::test]
async fn a_delivery_after_a_fetched_head_marks_the_webhook_as_alive() {
    let (cloud, instance) = started().await;
    let next = next(&cloud);
    cloud.age_head(11).await;
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.action(), "PULL");
    let late = push(&cloud.head, &next, 0);
    assert_eq!(outcome(&instance.deliver("push", &late).await), "unchanged");
    assert_eq!(cloud.command(["EXISTS", ALIVE_KEY]).await.as_int(), Some(1));
    cloud.age_head(1_000).await;
    cloud.fake.seen();
    assert_eq!(instance.check(&jwt("ann"), json!({})).await.action(), "PULL");
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
}

#[tokio::test]
async fn a_branch_that_is_deleted_and_one_that_is_made_anew_are_looked_at() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let key = HEAD_KEY.replace(":main", ":feature");
    let question = json!({"branch": "feature"});
    cloud.repo.git(&["branch", "feature"]);
    assert_eq!(instance.check(&jwt("ann"), question.clone()).await.status, 200);
    let of_feature = |mut payload: Value| {
        payload["ref"] = json!("refs/heads/feature");
        payload
    };
    // A delivery that says so although it is still there deletes nothing.
    let deleted = of_feature(push(&cloud.head, NO_COMMIT, 1));
    assert_eq!(outcome(&instance.deliver("push", &deleted).await), "refreshed");
    cloud.repo.git(&["branch", "-D", "feature"]);
    assert_eq!(outcome(&instance.deliver("push", &deleted).await), "gone");
    assert_eq!(cloud.command(["EXISTS", &key]).await.as_int(), Some(0));
    assert_eq!(
        instance.check(&jwt("ann"), question.clone()).await.error(),
        (404, "UNKNOWN_BRANCH")
    );
    cloud.repo.git(&["branch", "feature"]);
    instance.checks_at_last(question.clone()).await;
    // Deleted and made anew elsewhere, and the delivery of the first is lost.
    let next = next(&cloud);
    cloud.repo.git(&["branch", "-f", "feature", &next]);
    let created = of_feature(push(NO_COMMIT, &next, 5));
    assert_eq!(outcome(&instance.deliver("push", &created).await), "refreshed");
    let behind = instance.check(&jwt("ann"), question).await;
    assert_eq!((behind.action(), &behind.body["repo_head"]), ("PULL", &json!(next)));
}

#[tokio::test]
async fn a_forced_push_leaves_the_commits_behind_that_are_no_more() {
    let (cloud, instance) = started().await;
    let second = next(&cloud);
    assert_eq!(
        outcome(&instance.deliver("push", &push(&cloud.head, &second, 1)).await),
        "moved"
    );
    cloud.repo.git(&["reset", "--quiet", "--hard", &cloud.head]);
    let other = cloud.repo.commit(&[("src/b.ts", "")]);
    let mut forced = push(&second, &other, 2);
    forced["forced"] = json!(true);
    assert_eq!(outcome(&instance.deliver("push", &forced).await), "moved");
    assert_eq!(cloud.head_field("recent").await, Some(other.clone()));
    let checked = instance.check(&jwt("ann"), json!({"agent_head": second})).await;
    assert_eq!(
        (checked.action(), &checked.body["repo_head"]),
        ("PULL", &json!(other)),
        "{checked:?}"
    );
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
    let checked = instance.check(&jwt("ann"), json!({})).await;
    assert!(
        checked.status == 200 && checked.warns_of("HEAD_UNCONFIRMED"),
        "{checked:?}"
    );
    let warnings = checked.body["warnings"].to_string();
    assert!(
        warnings.contains("it is not known whether") && !warnings.contains(" s ago"),
        "{warnings}"
    );
    assert_eq!(instance.post(&jwt("ann"), json!({})).await.status, 503);
}

/// Notes what it is told.
#[derive(Default)]
struct Observer(Mutex<Vec<String>>);

impl HeadObserver for Observer {
    fn saw_head(&self, _: &RepoId, _: &Branch, _: &CommitSha) {}

    fn saw_move(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        self.0.lock().push(format!("{repo} {branch} {head}"));
    }

    fn report_missing_graph(&self, _: &RepoId, _: &Branch, _: &CommitSha) {}

    fn look_again(&self) {}
}

#[tokio::test]
async fn graph_builders_are_notified_of_a_push() {
    let (cloud, instance) = started().await;
    let observer = Arc::new(Observer::default());
    let mut config = config(&cloud.fake);
    config.credential = cloud.credential();
    let source = Arc::new(GithubSource::new(config).unwrap());
    let state = App {
        webhook: Some(Arc::new(Webhook::new(SecretString::from(SECRET), source.host()))),
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
    assert_eq!(outcome(&observed.deliver("push", &first_push).await), "moved");
    let notice = |head: &str| format!("127.0.0.1/acme/widgets main {head}");
    assert_eq!(std::mem::take(&mut *observer.0.lock()), [notice(&second)]);
    assert_eq!(outcome(&observed.deliver("push", &first_push).await), "unchanged");
    assert_eq!(*observer.0.lock(), Vec::<String>::new());
    // Of what it finds when it looks, too.
    let third = next(&cloud);
    assert_eq!(
        outcome(&observed.deliver("push", &push(NO_COMMIT, &third, 2)).await),
        "refreshed"
    );
    assert_eq!(*observer.0.lock(), [notice(&third)]);
}

/// `text` with the name that the repository had before.
fn former(text: &str) -> String {
    text.replace("acme/widgets", "acme/gizmos")
}

/// Renames the repository, under whose old name the webhook has delivered a minute ago: that head counts for an hour.
async fn rename(cloud: &Cloud) {
    let minute_ago = (now() - 60).to_string();
    cloud
        .command(["SET", &former(ALIVE_KEY), &minute_ago, "EX", "86400"])
        .await;
    cloud
        .command([
            "HSET",
            &former(HEAD_KEY),
            "commit",
            &cloud.head,
            "checked_at",
            &minute_ago,
        ])
        .await;
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
        assert_eq!(answer.error(), (404, "UNKNOWN_REPOSITORY"), "{answer:?}");
        let message = answer.body["message"].as_str().unwrap();
        assert!(message.contains("127.0.0.1/acme/widgets"), "{message}");
    }
    let by_new_name = json!({"agent_head": head});
    assert_eq!(instance.post(&jwt("bob"), by_new_name).await.status, 200);
}

#[tokio::test]
async fn a_repository_that_is_renamed_is_found_out_under_its_old_name_at_once() {
    let (cloud, instance) = started().await;
    rename(&cloud).await;
    let by_old_name = json!({"repo_url": former(URL)});
    assert_eq!(instance.post(&jwt("ann"), by_old_name.clone()).await.status, 200);
    assert_eq!(instance.post(&jwt("bob"), json!({})).await.status, 200);
    let renamed = json!({
        "action": "renamed", "changes": {"repository": {"name": {"from": "gizmos"}}},
        "repository": {"full_name": "acme/widgets", "html_url": URL},
    });
    assert_eq!(outcome(&instance.deliver("repository", &renamed).await), "untrusted");
    assert_eq!(outcome(&instance.deliver("repository", &renamed).await), "unchanged");
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
    assert_eq!(outcome(&instance.deliver("push", &by_old_name).await), "moved");
    let claim = json!({"repo_url": former(URL), "agent_head": second});
    assert_eq!(instance.post(&jwt("ann"), claim).await.status, 200);
    assert_eq!(outcome(&instance.deliver("push", &by_new_name).await), "moved");
    // One that is sent again changes nothing.
    assert_eq!(outcome(&instance.deliver("push", &by_old_name).await), "unchanged");
    for (key, is_trusted) in [(ALIVE_KEY.to_owned(), 1), (former(ALIVE_KEY), 0)] {
        assert_eq!(
            cloud.command(["EXISTS", &key]).await.as_int(),
            Some(is_trusted),
            "{key}"
        );
    }
    let old_head = (now() - 60).to_string();
    cloud
        .command(["HSET", &former(HEAD_KEY), "checked_at", &old_head])
        .await;
    has_one_name(&instance, &second).await;
}
