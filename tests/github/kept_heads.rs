//! Heads of branches that functions keep in the store.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cloud::{Answer, Cloud, HEAD_KEY, Instance, jwt, started};
use coord_test_support::github::Fault;

/// The requests for the head of `main` since the last call, and with which ETag each.
fn head_requests(cloud: &Cloud) -> Vec<Option<String>> {
    let seen = cloud.fake.seen().into_iter();
    let is_head = |target: &str| target.ends_with("/commits/heads/main");
    seen.filter(|seen| is_head(&seen.target))
        .map(|seen| seen.if_none_match)
        .collect()
}

/// Makes GitHub limit each request for the head of `main` from now on.
fn limit_heads(cloud: &Cloud) {
    let limited = Fault::with(429, &[("retry-after", "40")], "{}");
    cloud.fake.fail("/commits/heads/main", 1_000, limited);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_with_an_old_head_request_it_once() {
    let cloud = Cloud::start(&[]).await;
    let unlimited = [("COORD_LIMIT_HOLDER_PER_MINUTE", "0")];
    let (one, other) = (cloud.instance(&unlimited).await, cloud.instance(&unlimited).await);
    // At first nothing is known, and all wait for it.
    for round in 0..3 {
        if round > 0 {
            cloud.age_head(11).await;
            let slow = Fault::Slow(Duration::from_millis(300));
            cloud.fake.fail("/commits/heads/main", 1, slow);
        }
        let asking = (0..64).map(|number| {
            let instance = if number % 2 == 0 { &one } else { &other };
            let token = jwt(&format!("agent{number}"));
            async move { instance.check(&token, json!({})).await }
        });
        for answer in futures::future::join_all(asking).await {
            let answer = answer.expect_action("PROCEED");
            assert!(!answer.warns_of("HEAD_UNCONFIRMED"), "{answer:?}");
        }
        assert_eq!(head_requests(&cloud).len(), 1, "round {round}");
    }
}

#[tokio::test]
async fn a_young_head_is_not_requested() {
    let (cloud, instance) = started().await;
    let patient = cloud.instance(&[("COORD_HEAD_TTL_SECONDS", "60")]).await;
    for _ in 0..10 {
        instance.check(&jwt("ann"), json!({})).await.expect_ok();
        instance.post(&jwt("ann"), json!({})).await.expect_ok();
    }
    cloud.age_head(50).await;
    patient.check(&jwt("ann"), json!({})).await.expect_ok();
    assert_eq!(cloud.fake.requested_paths(), Vec::<String>::new());
    instance.check(&jwt("ann"), json!({})).await.expect_ok();
    assert_eq!(cloud.fake.requested_paths(), ["/commits/heads/main"]);
}

#[tokio::test]
async fn a_new_instance_requests_a_stored_head_with_its_etag() {
    let (cloud, _) = started().await;
    let etag = [Some(format!("\"{}\"", cloud.head))];
    for _ in 0..3 {
        cloud.age_head(11).await;
        let fresh = cloud.instance(&[]).await;
        fresh.check(&jwt("ann"), json!({})).await.expect_ok();
        assert_eq!(head_requests(&cloud), etag);
    }
    // After some time a full response is wanted.
    cloud.age_head(400).await;
    let long_ago = (crate::cloud::now() - 400).to_string();
    cloud.command(["HSET", HEAD_KEY, "read_at", &long_ago]).await;
    let fresh = cloud.instance(&[]).await;
    fresh.check(&jwt("ann"), json!({})).await.expect_ok();
    assert_eq!(head_requests(&cloud), [None]);
}

/// The ways in which GitHub does not say the head.
fn faults() -> [Fault; 6] {
    let secondary = r#"{"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}"#;
    [
        Fault::with(429, &[("retry-after", "40")], "{}"),
        Fault::with(403, &[("x-ratelimit-remaining", "0"), ("retry-after", "40")], "{}"),
        Fault::with(403, &[], secondary),
        Fault::status(500),
        Fault::status(502),
        Fault::with(200, &[], "<html>"),
    ]
}

#[tokio::test]
async fn an_old_head_counts_within_bounds_while_github_is_unreachable() {
    for fault in faults() {
        let (cloud, instance) = started().await;
        cloud.fake.fail("/commits/heads/main", 1_000, fault.clone());
        let expect = |answer: &Answer, status: u16, is_warned: bool| {
            let got = (answer.status, answer.warns_of("HEAD_UNCONFIRMED"));
            assert_eq!(got, (status, is_warned), "{fault:?}: {answer:?}");
        };
        let check = async |instance: &Instance| instance.check(&jwt("ann"), json!({})).await;
        let claim = async |instance: &Instance, status: &str, path: &str| {
            let more = json!({"status": status, "file_paths": [path]});
            instance.post(&jwt("ann"), more).await
        };
        // Young enough to write on.
        cloud.age_head(40).await;
        let checked = check(&instance).await;
        expect(&checked, 200, true);
        assert_eq!(checked.action(), "PROCEED", "{fault:?}: {checked:?}");
        assert_eq!(checked.body["repo_head"], cloud.head.as_str());
        let warnings = checked.body["warnings"].to_string();
        let (_, age_text) = warnings.split_once("the head of main ").unwrap();
        let age: u64 = age_text.split(' ').next().unwrap().parse().unwrap();
        assert!((40..=45).contains(&age), "{warnings}");
        for status in ["WRITING", "READING"] {
            let path = format!("src/{status}.ts");
            expect(&claim(&instance, status, &path).await, 200, true);
            assert!(cloud.is_locked(&path).await);
        }
        // Another instance does not try again before its time.
        let requests = head_requests(&cloud).len();
        assert!((1..=3).contains(&requests), "{requests}");
        let other = cloud.instance(&[]).await;
        expect(&check(&other).await, 200, true);
        assert_eq!(head_requests(&cloud).len(), 0);

        // Too old to write on.
        cloud.age_head(70).await;
        for instance in [&instance, &other] {
            let refused = claim(instance, "WRITING", "src/b.ts").await;
            assert_eq!(
                (refused.status, refused.action(), &refused.body["success"]),
                (503, "STOP", &json!(false)),
                "{fault:?}: {refused:?}"
            );
            assert!(refused.warns_of("OFFLINE_MODE"), "{fault:?}: {refused:?}");
            let retry_after: u64 = refused.header("retry-after").parse().unwrap();
            assert!((1..=60).contains(&retry_after), "{fault:?}: {refused:?}");
            assert!(!cloud.is_locked("src/b.ts").await);
            expect(&claim(instance, "READING", "src/c.ts").await, 200, true);
            expect(&check(instance).await, 200, true);
        }
        // A claimed file can be released unless it has to be pushed.
        claim(&instance, "OPEN", "src/c.ts").await.expect_ok();

        // It answers again, and the time is over.
        cloud.fake.behave(|behavior| behavior.forget_faults());
        cloud.allow_refresh().await;
        let fresh = cloud.instance(&[]).await;
        expect(&claim(&fresh, "WRITING", "src/b.ts").await, 200, false);
        expect(&check(&instance).await, 200, false);
    }
}

#[tokio::test]
async fn a_function_that_never_knew_the_head_has_no_answer_while_github_has_none() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    limit_heads(&cloud);
    for _ in 0..3 {
        let checked = instance.check(&jwt("ann"), json!({})).await;
        let checked = checked.expect_error(503, "SOURCE_LIMITED");
        assert_eq!((checked.action(), &checked.body["status"]), ("STOP", &json!("OFFLINE")));
        let retry_after: u64 = checked.header("retry-after").parse().unwrap();
        assert!((35..=40).contains(&retry_after), "{checked:?}");
    }
    assert_eq!(head_requests(&cloud).len(), 1);
}

#[tokio::test]
async fn the_bounds_of_a_heads_age_come_from_the_environment() {
    let (cloud, _) = started().await;
    let settings = [("COORD_HEAD_TTL_SECONDS", "100"), ("COORD_HEAD_MAX_AGE_SECONDS", "200")];
    let instance = cloud.instance(&settings).await;
    limit_heads(&cloud);
    for (age, is_warned, status) in [(90, false, 200), (150, true, 200), (210, true, 503)] {
        cloud.age_head(age).await;
        let claimed = instance.post(&jwt("ann"), json!({})).await;
        assert_eq!(claimed.status, status, "{age}: {claimed:?}");
        let checked = instance.check(&jwt("ann"), json!({})).await;
        assert_eq!(checked.warns_of("HEAD_UNCONFIRMED"), is_warned, "{age}: {checked:?}");
    }
}

#[tokio::test]
async fn a_push_is_seen_when_the_head_is_old() {
    let (cloud, instance) = started().await;
    let other = cloud.instance(&[]).await;
    let next = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
    // Not yet: that is the price.
    instance.check(&jwt("ann"), json!({})).await.expect_action("PROCEED");
    cloud.age_head(11).await;
    for instance in [&other, &instance] {
        instance.check(&jwt("ann"), json!({})).await.expect_pull(&next);
        let refused = instance.post(&jwt("ann"), json!({})).await;
        refused.expect_error(409, "STALE_HEAD");
        let pulled = instance.check(&jwt("ann"), json!({"agent_head": next})).await;
        pulled.expect_action("PROCEED");
    }
    assert_eq!(head_requests(&cloud).len(), 1);
    let recent = cloud.head_field("recent").await.unwrap();
    assert_eq!(recent, format!("{next} {}", cloud.head));
}

#[tokio::test]
async fn a_release_right_after_a_push_succeeds() {
    // However young the head is that the store has, the push may be younger.
    for age in [0, 3, 9, 30] {
        let (cloud, instance) = started().await;
        let other = cloud.instance(&[]).await;
        instance.post(&jwt("ann"), json!({})).await.expect_ok();
        cloud.age_head(age).await;
        let next = cloud.repo.commit(&[("src/a.ts", "export const a = 2;\n")]);
        cloud.fake.seen();
        let more = json!({"status": "OPEN", "new_repo_head": next});
        let released = other.post(&jwt("ann"), more).await;
        assert_eq!(
            (released.status, released.action(), &released.body["repo_head"]),
            (200, "PROCEED", &json!(next)),
            "{age}: {released:?}"
        );
        assert!(!cloud.is_locked("src/a.ts").await);
        assert_eq!(head_requests(&cloud).len(), 1, "{age}");
    }
}

#[tokio::test]
async fn an_agent_ahead_of_the_stored_head_gets_no_pull() {
    for age in [0, 5, 9, 30] {
        let (cloud, instance) = started().await;
        cloud.age_head(age).await;
        let next = cloud.repo.commit(&[("src/b.ts", "")]);
        let checked = instance.check(&jwt("ann"), json!({"agent_head": next})).await;
        let outcome = (checked.status, checked.action());
        assert_eq!(outcome, (200, "PROCEED"), "{age}: {checked:?}");
        let claimed = instance.post(&jwt("ann"), json!({"agent_head": next})).await;
        assert_eq!(claimed.status, 200, "{age}: {claimed:?}");
    }
}

#[tokio::test]
async fn a_branch_that_is_deleted_is_forgotten() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    cloud.repo.git(&["branch", "feature"]);
    let key = HEAD_KEY.replace(":main", ":feature");
    let question = json!({"branch": "feature"});
    instance.check(&jwt("ann"), question.clone()).await.expect_ok();
    assert_eq!(cloud.command(["EXISTS", &key]).await.as_int(), Some(1));
    cloud.repo.git(&["branch", "-D", "feature"]);
    cloud.command(["HSET", &key, "checked_at", "1"]).await;
    for _ in 0..2 {
        let checked = instance.check(&jwt("ann"), question.clone()).await;
        checked.expect_error(404, "UNKNOWN_BRANCH");
        assert_eq!(cloud.command(["EXISTS", &key]).await.as_int(), Some(0));
    }
    let claimed = instance.post(&jwt("ann"), question.clone()).await;
    claimed.expect_error(404, "UNKNOWN_BRANCH");
    // And one that comes back is there again, soon.
    cloud.repo.git(&["branch", "feature"]);
    instance.checks_at_last(question).await;
}

/// The response to one caller while GitHub answers another one so late, and how long it took.
async fn check_beside_a_fetch(cloud: &Cloud, one: &Instance, other: &Instance, late: Duration) -> (Answer, Duration) {
    cloud.fake.fail("/commits/heads/main", 1, Fault::Slow(late));
    let fetches = async { one.check(&jwt("ann"), json!({})).await.expect_ok() };
    let waits = async {
        cloud.fake.until_requested("/commits/heads/main").await;
        let started = Instant::now();
        let answer = other.check(&jwt("bob"), json!({})).await;
        (answer, started.elapsed())
    };
    tokio::join!(fetches, waits).1
}

#[tokio::test]
async fn an_answer_does_not_wait_for_a_slow_github_where_the_head_is_known() {
    let (cloud, instance) = started().await;
    let other = cloud.instance(&[]).await;
    cloud.age_head(30).await;
    let (answer, time) = check_beside_a_fetch(&cloud, &instance, &other, Duration::from_secs(2)).await;
    answer.expect_ok();
    assert!(time < Duration::from_secs(1), "{time:?}");
}

/// Each run of the script that finds the head still being fetched is a round, of which a request has thirty.
#[tokio::test]
async fn a_request_waits_three_seconds_at_most_for_a_head_that_another_fetches() {
    let cloud = Cloud::start(&[]).await;
    let (one, other) = (cloud.instance(&[]).await, cloud.instance(&[]).await);
    let (answer, time) = check_beside_a_fetch(&cloud, &one, &other, Duration::from_secs(5)).await;
    assert_eq!(answer.status, 503, "{answer:?}");
    let text = format!("{answer:?}");
    assert!(text.contains("is still being fetched; try again soon"), "{text}");
    assert!((2_900..4_500).contains(&time.as_millis()), "{time:?}");
}

/// A needless pull does no harm, so Coord directs a caller with unknown commits to one while GitHub has no answer.
#[tokio::test]
async fn a_caller_with_unpushed_commits_is_not_offline_while_github_is() {
    let (cloud, instance) = started().await;
    let limited = Fault::with(429, &[("retry-after", "40")], "{}");
    cloud.fake.fail("/compare/", 1_000, limited);
    let ahead = json!({"agent_head": "1234567890123456789012345678901234567890"});
    let checked = instance.check(&jwt("ann"), ahead.clone()).await;
    let checked = checked.expect_action("PULL");
    assert!(checked.warns_of("HEAD_UNCONFIRMED"), "{checked:?}");
    let claimed = instance.post(&jwt("ann"), ahead).await;
    claimed.expect_error(409, "STALE_HEAD");
    assert!(!cloud.is_locked("src/a.ts").await);
}

#[tokio::test]
async fn an_unknown_branch_is_requested_once() {
    let (cloud, instance) = started().await;
    for _ in 0..5 {
        let checked = instance.check(&jwt("ann"), json!({"branch": "mian"})).await;
        let checked = checked.expect_error(404, "UNKNOWN_BRANCH");
        assert!(checked.message().contains("main"), "{checked:?}");
    }
    assert_eq!(cloud.count_requests("mian"), 1);
}
