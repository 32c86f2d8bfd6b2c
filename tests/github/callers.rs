//! Callers who show a token of GitHub's, or anything else, over HTTP.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracing_subscriber::EnvFilter;

use crate::cloud::{Answer, Cloud, Instance, jwt};
use crate::people::person;
use coord_test_support::github::{Fault, Person};

/// The requests for who somebody is since the last call.
fn asked_who(cloud: &Cloud) -> usize {
    let asked = cloud.fake.asked();
    asked.iter().filter(|target| is_about_a_person(target)).count()
}

fn is_about_a_person(target: &str) -> bool {
    target.is_empty() || target == "/api/v3/user" || target == "/api/graphql"
}

fn alice() -> Person {
    person("ghp_", "alice", Some("push"))
}

fn sha256(text: &str) -> String {
    let mut hash = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    hash.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let printed = hash.wait_with_output().unwrap().stdout;
    String::from_utf8(printed).unwrap()[..64].to_owned()
}

#[tokio::test]
async fn who_may_push_claims_in_the_name_that_github_gives() {
    let alice = Person {
        name: Some("Alice Liddell".to_owned()),
        ..alice()
    };
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    let claimed = instance.post(&alice.token, json!({})).await;
    assert_eq!((claimed.status, claimed.action()), (200, "PROCEED"), "{claimed:?}");
    let seen = instance.check(&jwt("bob"), json!({})).await;
    let lock = &seen.body["locks"]["src/a.ts"];
    assert_eq!(
        (&lock["user"], &lock["user_name"]),
        (&json!("alice"), &json!("Alice Liddell")),
        "{seen:?}"
    );
    let released = instance
        .post(&alice.token, json!({"status": "OPEN", "abandon": true}))
        .await;
    assert_eq!(released.status, 200, "{released:?}");
    assert!(!cloud.is_locked("src/a.ts").await);
}

#[tokio::test]
async fn who_may_only_read_looks_and_claims_nothing() {
    let bob = person("ghp_", "bob", Some("pull"));
    let cloud = Cloud::start(std::slice::from_ref(&bob)).await;
    let instance = cloud.instance(&[]).await;
    let checked = instance.check(&bob.token, json!({})).await;
    assert_eq!((checked.status, checked.action()), (200, "PROCEED"), "{checked:?}");
    assert_eq!(instance.graph(&bob.token).await.status, 202);
    for more in [json!({}), json!({"status": "READING"}), json!({"status": "OPEN"})] {
        let refused = instance.post(&bob.token, more).await;
        assert_eq!(refused.error(), (403, "FORBIDDEN_REPOSITORY"), "{refused:?}");
        assert_eq!(refused.body["orchestration"]["type"], "orchestration_command");
        assert_eq!(refused.action(), "STOP");
        assert!(refused.body["message"].as_str().unwrap().contains("bob"), "{refused:?}");
    }
    assert!(!cloud.is_locked("src/a.ts").await);
}

#[tokio::test]
async fn a_token_that_github_does_not_know_is_refused_and_remembered_for_a_while() {
    let cloud = Cloud::start(&[alice()]).await;
    let instance = cloud.instance(&[]).await;
    let wrong = "ghp_0123456789012345678901234567890123456789";
    let refused = instance.check(wrong, json!({})).await;
    assert_eq!(refused.error(), (401, "UNAUTHORIZED"), "{refused:?}");
    assert!(refused.header("www-authenticate").starts_with("Bearer"));
    assert_eq!(refused.action(), "STOP");
    assert!(asked_who(&cloud) > 0);
    for round in 0..2 {
        for answer in [
            instance.check(wrong, json!({})).await,
            instance.post(wrong, json!({})).await,
            instance.graph(wrong).await,
        ] {
            assert_eq!(answer.error(), (401, "UNAUTHORIZED"), "{answer:?}");
        }
        // Each function is a process of its own, and remembers for itself.
        assert!(round == 0 || cloud.fake.asked().is_empty());
        cloud.fake.seen();
    }
    let name = sha256(wrong);
    assert!(
        cloud.keys().await.iter().all(|key| !key.contains(&name)),
        "in memory alone"
    );
    // Where nothing is remembered GitHub is asked again, which by then may know the token.
    cloud.fake.behave(|behavior| {
        behavior.people.push(Person {
            token: wrong.to_owned(),
            ..person("ghp_", "carol", Some("push"))
        });
    });
    let other = cloud.instance(&[]).await;
    assert_eq!(other.check(wrong, json!({})).await.status, 200);
}

#[tokio::test]
async fn a_private_repository_that_is_not_shown_is_forbidden() {
    let mallory = person("gho_", "mallory", None);
    let cloud = Cloud::start(std::slice::from_ref(&mallory)).await;
    let instance = cloud.instance(&[]).await;
    for round in 0..2 {
        let checked = instance.check(&mallory.token, json!({})).await;
        let claimed = instance.post(&mallory.token, json!({})).await;
        let graph = instance.graph(&mallory.token).await;
        for answer in [checked, claimed, graph] {
            assert_eq!(answer.error(), (403, "FORBIDDEN_REPOSITORY"), "{answer:?}");
            assert!(answer.body.get("repo_head").is_none_or(Value::is_null), "{answer:?}");
        }
        // Each of the three functions asks for itself.
        assert_eq!(asked_who(&cloud), if round == 0 { 6 } else { 0 });
    }
    assert!(!cloud.everything().await.contains(&cloud.head));
}

#[tokio::test]
async fn what_github_said_of_a_caller_is_remembered_for_all_instances() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let (one, other) = (cloud.instance(&[]).await, cloud.instance(&[]).await);
    assert_eq!(one.check(&alice.token, json!({})).await.status, 200);
    assert_eq!(asked_who(&cloud), 2);
    // A process that has not seen the credential yet reads what is remembered of it first.
    for instance in [&one, &other] {
        instance.check(&alice.token, json!({})).await;
        instance.post(&alice.token, json!({})).await;
        instance.graph(&alice.token).await;
    }
    for instance in [&one, &other] {
        let checked = instance.check(&alice.token, json!({})).await;
        let claimed = instance.post(&alice.token, json!({})).await;
        for answer in [checked, claimed] {
            assert_eq!((answer.status, answer.round_trips()), (200, 1), "{answer:?}");
        }
    }
    assert_eq!(cloud.fake.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn who_has_the_name_of_a_token_has_no_token() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    assert_eq!(instance.post(&alice.token, json!({})).await.status, 200);
    let name = sha256(&alice.token);
    assert!(cloud.keys().await.iter().any(|key| key.ends_with(&name)), "{name}");
    for shown in [
        name.clone(),
        name[..40].to_owned(),
        format!("ghp_{name}"),
        "anybody".to_owned(),
    ] {
        for answer in [
            instance.check(&shown, json!({})).await,
            instance.post(&shown, json!({})).await,
            instance.graph(&shown).await,
        ] {
            assert_eq!(answer.error(), (401, "UNAUTHORIZED"), "{shown}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_header_that_names_somebody_names_nobody() {
    let (alice, bob) = (alice(), person("ghp_", "bob", Some("pull")));
    let cloud = Cloud::start(&[alice.clone(), bob.clone()]).await;
    let instance = cloud.instance(&[]).await;
    let with_headers = async |token: &str, status: &str| {
        let more = json!({"status": status, "message": "Changing what the module exports to callers"});
        let mut request = instance.question(coord::http::Endpoint::PostStatus, token, &more);
        for name in [
            "x-coord-user",
            "x-forwarded-user",
            "x-remote-user",
            "x-auth-request-user",
            "x-github-user",
            "remote-user",
        ] {
            request = request.header(name, "root");
        }
        instance.send(request).await
    };
    assert_eq!(with_headers("", "WRITING").await.error(), (401, "UNAUTHORIZED"));
    assert_eq!(
        with_headers(&bob.token, "WRITING").await.error(),
        (403, "FORBIDDEN_REPOSITORY")
    );
    assert_eq!(with_headers(&alice.token, "WRITING").await.status, 200);
    let seen = instance.check(&bob.token, json!({})).await;
    assert_eq!(seen.body["locks"]["src/a.ts"]["user"], "alice", "{seen:?}");
    assert!(!cloud.everything().await.contains("root"));
}

/// What is logged on this thread, where the functions run.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_token_is_neither_in_the_store_nor_in_a_log() {
    // Whether an event is wanted is decided once for all threads, so that all have to want it.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry());
    let log = Log::default();
    let writer = log.clone();
    let subscriber = coord::logging::json(EnvFilter::new("trace"), move || writer.clone());
    let _guard = tracing::subscriber::set_default(subscriber);

    let unlucky = |number: usize| format!("ghp_{}", format!("unlucky{number}").repeat(5));
    let (alice, mallory) = (alice(), person("ghp_", "mallory", None));
    let wrong = "ghp_9876543210987654321098765432109876543210";
    let cloud = Cloud::start(&[alice.clone(), mallory.clone()]).await;
    let instance = cloud.instance(&[]).await;
    for token in [alice.token.as_str(), &mallory.token, wrong, &jwt("dave")] {
        instance.check(token, json!({})).await;
        instance.post(token, json!({})).await;
        instance.graph(token).await;
        instance.check(token, json!({"agent_id": "no agent's"})).await;
    }
    // GitHub is down, limited, or says what it is not asked.
    for (number, fault) in [
        Fault::status(500),
        Fault::with(429, &[("retry-after", "9")], "{}"),
        Fault::with(200, &[], "no JSON"),
        Fault::Cut,
    ]
    .into_iter()
    .enumerate()
    {
        cloud.fake.fail("/user", 3, fault);
        instance.check(&unlucky(number), json!({})).await;
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let stored = cloud.everything().await;
    assert!(
        logged.contains("/api/check_status") && stored.contains("alice"),
        "{logged}"
    );
    for token in [
        alice.token,
        mallory.token,
        wrong.to_owned(),
        unlucky(0),
        unlucky(1),
        unlucky(2),
        unlucky(3),
    ] {
        // Not the half of it either.
        let part = &token[4..24];
        assert!(!stored.contains(part), "{stored}");
        let line = logged.lines().find(|line| line.contains(part));
        assert_eq!(line, None);
    }
    assert!(!stored.contains("eyJ") && !logged.contains("eyJ"));
}

#[tokio::test]
async fn while_github_does_not_say_who_asks_nobody_is_let_in_and_nothing_is_remembered() {
    let alice = alice();
    let cloud = Cloud::start(std::slice::from_ref(&alice)).await;
    let instance = cloud.instance(&[]).await;
    for (part, fault) in [
        ("/user", Fault::status(502)),
        ("/repos/acme/widgets", Fault::status(500)),
        ("/user", Fault::with(200, &[], "<html>")),
        ("/repos/acme/widgets", Fault::Cut),
    ] {
        cloud.fake.fail(part, 3, fault.clone());
        let refused = instance.post(&alice.token, json!({})).await;
        assert_eq!(refused.error(), (503, "IDENTITY_UNAVAILABLE"), "{fault:?}: {refused:?}");
        assert_eq!(refused.action(), "STOP");
        assert!(!refused.header("retry-after").is_empty());
        cloud.fake.behave(|behavior| behavior.forget_faults());
    }
    let keys = cloud.keys().await;
    assert!(keys.iter().all(|key| !key.contains(":identity:")), "{keys:?}");
    assert_eq!(instance.post(&alice.token, json!({})).await.status, 200);
}

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
async fn a_name_that_would_leave_its_key_is_refused_or_has_a_key_of_its_own() {
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
    let asked = || cloud.fake.seen();
    // The first question asks for the head, too.
    assert_eq!(user_of(&instance, &jwt("bob")).await.status, 200);
    asked();
    let abandon = json!({"status": "OPEN", "abandon": true});
    assert_eq!(instance.post(&jwt("bob"), abandon.clone()).await.status, 200);
    assert!(asked().is_empty(), "a JWT is never shown to GitHub");
    for person in [&alice, &digits] {
        let claimed = user_of(&instance, &person.token).await;
        assert_eq!(claimed.status, 200, "{claimed:?}");
        let shown = Some(format!("Bearer {}", person.token));
        let seen = asked();
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
    assert!(asked().is_empty());
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
    cloud.fake.asked();
    let refused = other.check(&alice.token, json!({})).await;
    assert_eq!(refused.error(), (403, "FORBIDDEN_REPOSITORY"), "{refused:?}");
    let refused = other.check(&jwt("ann"), json!({})).await;
    assert_eq!(refused.error(), (404, "UNKNOWN_REPOSITORY"), "{refused:?}");
    assert_eq!(cloud.fake.asked(), [""; 0], "GitHub is asked nothing");
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
