//! In which repositories a caller counts, by a token of GitHub or a JWT.

use coord_test_support::github::Person;
use serde_json::json;

use crate::callers::alice;
use crate::cloud::{Answer, Cloud, Instance, jwt};
use crate::people::person;

/// A check and a claim in the repository at `url`.
async fn ask_in(instance: &Instance, token: &str, url: &str) -> [Answer; 2] {
    [
        instance.check(token, json!({"repo_url": url})).await,
        instance.post(token, json!({"repo_url": url})).await,
    ]
}

#[tokio::test]
async fn a_right_counts_in_its_repository_alone() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    instance.post(&alice.token, json!({})).await.expect_ok();
    for url in [
        "https://127.0.0.1/acme/gadgets",
        "https://127.0.0.1/acme/widgets2",
        "https://127.0.0.1/acme/widgets/more",
        "https://github.com/acme/widgets",
    ] {
        for answer in ask_in(&instance, &alice.token, url).await {
            assert_eq!(answer.error(), (403, "FORBIDDEN_REPOSITORY"), "{url}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_name_that_would_leave_its_key_is_refused_or_has_a_separate_key() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    instance.post(&alice.token, json!({})).await.expect_ok();
    let own = |keys: Vec<String>| -> Vec<String> {
        // But for limits, which come and go with the time.
        let is_own = |key: &String| key.contains("{127.0.0.1/acme/widgets}") && !key.starts_with("coord:limit:");
        keys.into_iter().filter(is_own).collect()
    };
    let before = cloud.all_but_limits().await;
    let keys = cloud.keys().await;
    for url in [
        "https://127.0.0.1/acme/widgets}:main",
        "https://127.0.0.1/acme/{widgets}",
        "https://127.0.0.1/{}acme/widgets",
        "https://127.0.0.1/acme/widgets:main",
        "https://127.0.0.1/acme/widgets\nx",
        "https://127.0.0.1/acme/widgets\r\nx-evil: 1",
        "https://127.0.0.1/acme/%7bwidgets%7d",
        "https://127.0.0.1/acme/widgets%2f..",
        "https://127.0.0.1/acme/../acme/widgets",
        "https://127.0.0.1/acme/..",
        "https://127.0.0.1/acme/./widgets",
        "https://127.0.0.1/acme//widgets",
        "https://127.0.0.1/acme/wіdgets",
        "https://127.0.0.1/аcme/widgets",
        "https://127.0.0.1/acme∕widgets",
        "https://127.0.0.1/acme/widgets\u{200b}",
        "https://127.0.0.1/acme/widgets\0",
        "https://127.0.0.1/acme/widgets*",
        "https://127.0.0.1/acme/widgets#x",
        "https://127.0.0.1/acme/widgets?x",
    ] {
        for answer in ask_in(&instance, &alice.token, url).await {
            assert_eq!(answer.error(), (400, "INVALID_FIELD"), "{url:?}: {answer:?}");
            assert_eq!(answer.body["field"], "repo_url");
        }
    }
    assert_eq!(cloud.all_but_limits().await, before);
    // Names that are none of ours, and no way into ours.
    for url in [
        "https://127.0.0.1/acme/widgets-main",
        "https://127.0.0.1/acme/widgets/locks",
        "https://xn--127-0.0.1/acme/widgets",
        "https://127.0.0.1/acme/~",
    ] {
        let answer = instance.post(&alice.token, json!({"repo_url": url})).await;
        assert_eq!(answer.status, 403, "{url}: {answer:?}");
        let mut new = cloud.keys().await;
        new.retain(|key| !keys.contains(key));
        assert_eq!(new, [""; 0], "{url}");
    }
    assert_eq!(own(cloud.keys().await), own(keys));
    // A branch and an agent cannot leave theirs either.
    for more in [
        json!({"branch": "main}:x"}),
        json!({"branch": "a:b"}),
        json!({"branch": "a\nb"}),
        json!({"agent_id": "a}b"}),
        json!({"agent_id": "a b"}),
    ] {
        let keys = cloud.keys().await;
        let answer = instance.check(&alice.token, more.clone()).await;
        let is_separate = more["branch"] == "main}:x" && answer.status == 404;
        assert!(answer.status == 400 || is_separate, "{more}: {answer:?}");
        assert_eq!(own(cloud.keys().await), own(keys), "{more}");
    }
}

#[tokio::test]
async fn jwts_and_tokens_of_github_count_beside_each_other() {
    let alice = alice();
    let digits = Person {
        token: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        ..person("", "dora", Some("push"))
    };
    let cloud = Cloud::start(&[alice.clone(), digits.clone()]).await;
    let instance = cloud.instance(&[]).await;
    let claim = async |token: &str| instance.post(token, json!({})).await;
    let abandon = async |token: &str| instance.post(token, json!({"status": "OPEN", "abandon": true})).await;
    // The first question asks for the head, too.
    claim(&jwt("bob")).await.expect_ok();
    cloud.fake.seen();
    abandon(&jwt("bob")).await.expect_ok();
    assert!(cloud.fake.seen().is_empty(), "a JWT is never shown to GitHub");
    for person in [&alice, &digits] {
        claim(&person.token).await.expect_ok();
        let shown = Some(format!("Bearer {}", person.token));
        let seen = cloud.fake.seen();
        assert!(
            !seen.is_empty() && seen.iter().all(|seen| seen.authorization == shown),
            "{seen:?}"
        );
        let check = instance.check(&jwt("bob"), json!({})).await;
        assert_eq!(check.body["locks"]["src/a.ts"]["user"], person.login.as_str());
        // One whom a JWT gives the same login is another person.
        let namesake = jwt(&person.login);
        let lost = abandon(&namesake).await;
        assert_eq!((lost.status, lost.action()), (409, "STOP"), "{lost:?}");
        claim(&namesake).await.expect_error(409, "LOCK_CONFLICT");
        abandon(&person.token).await.expect_ok();
        // The refused caller waits no longer.
        abandon(&namesake).await.expect_ok();
    }
    // A JWT with another signature is tried as nothing else, and a token of GitHub's that GitHub refuses is not tried as a JWT.
    let mut forged = jwt("alice");
    forged.replace_range(forged.len() - 6.., "AAAAAA");
    for wrong in ["hunter2", "Bearer", "", &forged] {
        let refused = claim(wrong).await;
        assert_eq!(refused.error(), (401, "UNAUTHORIZED"), "{wrong}");
    }
    assert!(cloud.fake.seen().is_empty());
    let disguised = claim(&format!("ghs_4242_{}", jwt("alice"))).await;
    let disguised = disguised.expect_error(401, "UNAUTHORIZED");
    assert!(disguised.message().contains("GitHub"), "{disguised:?}");

    // Each alone.
    let by_github = cloud.instance(&[("COORD_JWT_SECRET", "")]).await;
    let refused = by_github.post(&jwt("bob"), json!({})).await;
    refused.expect_error(401, "UNAUTHORIZED");
    by_github.post(&alice.token, json!({})).await.expect_ok();
    let by_jwt = cloud.instance(&[("GITHUB_API_URL", ""), ("GITHUB_TOKEN", "")]).await;
    let refused = by_jwt.post(&alice.token, json!({})).await;
    refused.expect_error(401, "UNAUTHORIZED");
    by_jwt.check(&jwt("bob"), json!({})).await.expect_ok();
}

#[tokio::test]
async fn only_the_repositories_of_the_setting_are_served() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let listing = async |list: &str| cloud.instance(&[("COORD_REPOSITORIES", list)]).await;
    let other = listing("acme/gadgets,initech/*").await;
    cloud.fake.requested_paths();
    let keys = cloud.keys().await;
    let refused = other.check(&alice.token, json!({})).await;
    refused.expect_error(403, "FORBIDDEN_REPOSITORY");
    let refused = other.check(&jwt("ann"), json!({})).await;
    refused.expect_error(404, "UNKNOWN_REPOSITORY");
    assert_eq!(cloud.fake.requested_paths(), [""; 0], "GitHub is asked nothing");
    assert_eq!(cloud.keys().await, keys);
    let served = listing("acme/*").await;
    served.check(&jwt("ann"), json!({})).await.expect_ok();
    let unavailable = listing("acme").await.check(&jwt("ann"), json!({})).await;
    assert_eq!(unavailable.status, 503);
    assert!(unavailable.message().contains("COORD_REPOSITORIES"), "{unavailable:?}");
}

/// Without GitHub no source names the repositories that there are.
#[tokio::test]
async fn the_setting_holds_where_nothing_else_names_repositories() {
    let cloud = Cloud::start(&[]).await;
    let listing = async |list: &str| {
        let settings = [
            ("GITHUB_API_URL", ""),
            ("GITHUB_TOKEN", ""),
            ("COORD_REPOSITORIES", list),
        ];
        cloud.instance(&settings).await
    };
    let other = listing("acme/widgets,127.0.0.1/acme/gadgets").await;
    for answer in other.ask_each(&jwt("ann")).await {
        let answer = answer.expect_error(404, "UNKNOWN_REPOSITORY");
        assert_eq!(answer.round_trips(), 0, "{answer:?}");
    }
    assert_eq!(cloud.everything().await, "");
    // A head, as a server would record it.
    let server = cloud.instance(&[]).await;
    server.check(&jwt("ann"), json!({})).await.expect_ok();
    let served = listing("127.0.0.1/acme/*").await;
    served.check(&jwt("ann"), json!({})).await.expect_ok();
    let wrong = listing("acme").await.check(&jwt("ann"), json!({})).await;
    assert_eq!(wrong.status, 503);
}
