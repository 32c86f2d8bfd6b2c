//! In which repositories a caller counts, by a token of GitHub or a JWT.

use coord_test_support::github::Person;
use serde_json::json;

use crate::callers::alice;
use crate::cloud::{Answer, Cloud, Instance, jwt};
use crate::people::person;

#[tokio::test]
async fn a_right_counts_in_its_repository_alone() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.post(&alice.token, json!({})).await.status, 200);
    for url in [
        "https://127.0.0.1/acme/gadgets",
        "https://127.0.0.1/acme/widgets2",
        "https://127.0.0.1/acme/widgets/more",
        "https://github.com/acme/widgets",
    ] {
        for answer in [
            instance.check(&alice.token, json!({"repo_url": url})).await,
            instance.post(&alice.token, json!({"repo_url": url})).await,
        ] {
            assert_eq!(answer.error(), (403, "FORBIDDEN_REPOSITORY"), "{url}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_name_that_would_leave_its_key_is_refused_or_has_a_separate_key() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.post(&alice.token, json!({})).await.status, 200);
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
        for answer in [
            instance.check(&alice.token, json!({"repo_url": url})).await,
            instance.post(&alice.token, json!({"repo_url": url})).await,
        ] {
            assert_eq!(answer.error(), (400, "INVALID_FIELD"), "{url:?}: {answer:?}");
            assert_eq!(answer.body["field"], "repo_url");
        }
    }
    assert_eq!(cloud.all_but_limits().await, before);
    // Names that are none of ours, and no way into ours.
    for (url, repo) in [
        ("https://127.0.0.1/acme/widgets-main", "127.0.0.1/acme/widgets-main"),
        ("https://127.0.0.1/acme/widgets/locks", "127.0.0.1/acme/widgets/locks"),
        ("https://xn--127-0.0.1/acme/widgets", "xn--127-0.0.1/acme/widgets"),
        ("https://127.0.0.1/acme/~", "127.0.0.1/acme/~"),
    ] {
        let answer = instance.post(&alice.token, json!({"repo_url": url})).await;
        assert_eq!(answer.status, 403, "{url}: {answer:?}");
        let new: Vec<String> = cloud
            .keys()
            .await
            .into_iter()
            .filter(|key| !keys.contains(key))
            .collect();
        assert_eq!(new, Vec::<String>::new(), "{url}: {repo}");
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
async fn spellings_of_one_repository_and_file_are_one_lock() {
    let cloud = Cloud::start(&[]).await;
    let instance = cloud.instance(&[]).await;
    let composed = "src/gr\u{f6}\u{df}e.ts";
    let files = json!({"file_paths": ["src/a.ts", composed]});
    assert_eq!(instance.post(&jwt("ann"), files).await.status, 200);
    for url in [
        "HTTPS://127.0.0.1/acme/widgets",
        "https://127.0.0.1/Acme/Widgets.Git",
        "https://127.0.0.1/acme/widgets\n",
        "127.0.0.1/acme/widgets",
    ] {
        let answer = instance.post(&jwt("bob"), json!({"repo_url": url})).await;
        assert_eq!(answer.status, 409, "{url:?}: {answer:?}");
    }
    for path in [composed, "src/gro\u{308}\u{df}e.ts"] {
        let answer = instance.post(&jwt("bob"), json!({"file_paths": [path]})).await;
        assert_eq!(answer.status, 409, "{path:?}: {answer:?}");
    }
    for path in [
        "\u{feff}src/a.ts",
        " src/a.ts",
        "src/a.ts ",
        "src/a.ts\n",
        "src/\u{202e}a.ts",
    ] {
        let answer = instance.post(&jwt("bob"), json!({"file_paths": [path]})).await;
        assert_eq!(answer.error(), (400, "INVALID_FIELD"), "{path:?}: {answer:?}");
    }
}

async fn user_of(instance: &Instance, token: &str) -> Answer {
    instance.post(token, json!({})).await
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
    let requests = || cloud.fake.seen();
    // The first question asks for the head, too.
    assert_eq!(user_of(&instance, &jwt("bob")).await.status, 200);
    requests();
    let abandon = json!({"status": "OPEN", "abandon": true});
    assert_eq!(instance.post(&jwt("bob"), abandon.clone()).await.status, 200);
    assert!(requests().is_empty(), "a JWT is never shown to GitHub");
    for person in [&alice, &digits] {
        let claimed = user_of(&instance, &person.token).await;
        assert_eq!(claimed.status, 200, "{claimed:?}");
        let shown = Some(format!("Bearer {}", person.token));
        let seen = requests();
        assert!(
            !seen.is_empty() && seen.iter().all(|seen| seen.authorization == shown),
            "{seen:?}"
        );
        let check = instance.check(&jwt("bob"), json!({})).await;
        assert_eq!(check.body["locks"]["src/a.ts"]["user"], person.login.as_str());
        // One whom a JWT gives the same login is another person.
        let more = json!({"status": "OPEN", "abandon": true});
        let lost = instance.post(&jwt(&person.login), more).await;
        assert_eq!((lost.status, lost.action()), (409, "STOP"), "{lost:?}");
        let refused = instance.post(&jwt(&person.login), json!({})).await;
        assert_eq!(refused.error(), (409, "LOCK_CONFLICT"), "{refused:?}");
        assert_eq!(instance.post(&person.token, abandon.clone()).await.status, 200);
        // The refused caller waits no longer.
        assert_eq!(instance.post(&jwt(&person.login), abandon.clone()).await.status, 200);
    }
    // A JWT with another signature is tried as nothing else, and a token of GitHub's that GitHub refuses is not tried as a JWT.
    let mut forged = jwt("alice");
    forged.replace_range(forged.len() - 6.., "AAAAAA");
    for wrong in [forged.as_str(), "hunter2", "Bearer", ""] {
        assert_eq!(
            user_of(&instance, wrong).await.error(),
            (401, "UNAUTHORIZED"),
            "{wrong}"
        );
    }
    assert!(requests().is_empty());
    let disguised = format!("ghs_4242_{}", jwt("alice"));
    let refused = user_of(&instance, &disguised).await;
    assert_eq!(refused.error(), (401, "UNAUTHORIZED"));
    assert!(
        refused.body["message"].as_str().unwrap().contains("GitHub"),
        "{refused:?}"
    );

    // Each alone.
    let by_github = cloud.instance(&[("COORD_JWT_SECRET", "")]).await;
    assert_eq!(user_of(&by_github, &jwt("bob")).await.error(), (401, "UNAUTHORIZED"));
    assert_eq!(user_of(&by_github, &alice.token).await.status, 200);
    let nothing = [("GITHUB_API_URL", ""), ("GITHUB_TOKEN", "")];
    let by_jwt = cloud.instance(&nothing).await;
    assert_eq!(user_of(&by_jwt, &alice.token).await.error(), (401, "UNAUTHORIZED"));
    assert_eq!(by_jwt.check(&jwt("bob"), json!({})).await.status, 200);
}

#[tokio::test]
async fn only_the_repositories_of_the_setting_are_served() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let other = cloud
        .instance(&[("COORD_REPOSITORIES", "acme/gadgets,initech/*")])
        .await;
    cloud.fake.requested_paths();
    let keys = cloud.keys().await;
    let refused = other.check(&alice.token, json!({})).await;
    assert_eq!(refused.error(), (403, "FORBIDDEN_REPOSITORY"), "{refused:?}");
    let refused = other.check(&jwt("ann"), json!({})).await;
    assert_eq!(refused.error(), (404, "UNKNOWN_REPOSITORY"), "{refused:?}");
    assert_eq!(cloud.fake.requested_paths(), [""; 0], "GitHub is asked nothing");
    assert_eq!(cloud.keys().await, keys);
    let served = cloud.instance(&[("COORD_REPOSITORIES", "acme/*")]).await;
    assert_eq!(served.check(&jwt("ann"), json!({})).await.status, 200);
    let wrong = cloud.instance(&[("COORD_REPOSITORIES", "acme")]).await;
    let unavailable = wrong.check(&jwt("ann"), json!({})).await;
    assert_eq!(unavailable.status, 503);
    assert!(
        unavailable.body["message"]
            .as_str()
            .unwrap()
            .contains("COORD_REPOSITORIES"),
        "{unavailable:?}"
    );
}

/// Without GitHub no source tells which repositories there are.
#[tokio::test]
async fn the_setting_holds_where_nothing_else_names_repositories() {
    let cloud = Cloud::start(&[]).await;
    let by_jwt = |list: &'static str| {
        [
            ("GITHUB_API_URL", ""),
            ("GITHUB_TOKEN", ""),
            ("COORD_REPOSITORIES", list),
        ]
    };
    let other = cloud.instance(&by_jwt("acme/widgets,127.0.0.1/acme/gadgets")).await;
    for answer in [
        other.check(&jwt("ann"), json!({})).await,
        other.post(&jwt("ann"), json!({})).await,
        other.graph(&jwt("ann")).await,
    ] {
        assert_eq!(answer.error(), (404, "UNKNOWN_REPOSITORY"), "{answer:?}");
        assert_eq!(answer.round_trips(), 0, "{answer:?}");
    }
    assert_eq!(cloud.everything().await, "");
    // A head, as a server would record it.
    assert_eq!(
        cloud.instance(&[]).await.check(&jwt("ann"), json!({})).await.status,
        200
    );
    let served = cloud.instance(&by_jwt("127.0.0.1/acme/*")).await;
    assert_eq!(served.check(&jwt("ann"), json!({})).await.status, 200);
    let wrong = cloud.instance(&by_jwt("acme")).await;
    assert_eq!(wrong.check(&jwt("ann"), json!({})).await.status, 503);
}
