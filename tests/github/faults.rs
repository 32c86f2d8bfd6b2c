use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use coord_sources::github::GithubSource;
use coord_sources::{Source, SourceError};

use crate::{branch, config, id, sha, small, source};
use coord_test_support::github::Fault;
use coord_test_support::waiting::let_pass;

#[tokio::test]
async fn a_passing_failure_is_retried_at_most_twice() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    for fault in [
        Fault::status(500),
        Fault::status(502),
        Fault::status(503),
        Fault::status(504),
        Fault::Cut,
    ] {
        fake.fail("/commits/", 1, fault.clone());
        assert_eq!(
            source.head(&id(), &branch("main")).await.unwrap(),
            sha(&head),
            "{fault:?}"
        );
        fake.seen();
    }
    fake.fail("/commits/", 3, Fault::status(503));
    let error = source.head(&id(), &branch("main")).await.unwrap_err();
    assert!(matches!(error, SourceError::Unreachable(_)), "{error:?}");
    assert_eq!(fake.requested_paths().len(), 3);
    // Only transient faults are retried.
    for fault in [Fault::status(400), Fault::status(501), Fault::status(418)] {
        fake.fail("/commits/", 1, fault.clone());
        assert!(source.head(&id(), &branch("main")).await.is_err(), "{fault:?}");
        assert_eq!(fake.requested_paths().len(), 1, "{fault:?}");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_waited_for_only_so_long() {
    let (_temp, _repo, _, fake) = small().await;
    let mut config = config(&fake);
    config.limits.headers = Duration::from_millis(150);
    config.limits.idle = Duration::from_millis(150);
    let source = GithubSource::new(config).unwrap();
    for (part, fault) in [
        ("/commits/", Fault::Slow(Duration::from_secs(30))),
        ("/commits/", Fault::Stall),
    ] {
        fake.fail(part, 1, fault.clone());
        let started = Instant::now();
        let error = source.head(&id(), &branch("main")).await.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable(_)), "{fault:?}: {error:?}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_call_has_an_end_whatever_its_repetitions() {
    let (_temp, _repo, _, fake) = small().await;
    let mut config = config(&fake);
    config.limits.small = Duration::from_millis(200);
    config.limits.pauses = vec![Duration::from_millis(100); 1_000];
    let source = GithubSource::new(config).unwrap();
    fake.fail("/commits/", 2_000, Fault::status(503));
    let started = Instant::now();
    assert!(source.head(&id(), &branch("main")).await.is_err());
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_source_without_a_listener_is_unreachable() {
    let (_temp, _repo, _, fake) = small().await;
    let source = source(&fake);
    drop(fake);
    // time: the listener closes.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let error = source.head(&id(), &branch("main")).await.unwrap_err();
    assert!(matches!(error, SourceError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn no_request_is_sent_while_a_limit_lasts() {
    let used_up: &[(&'static str, &'static str)] = &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "SOON")];
    let retry: &[(&'static str, &'static str)] = &[("retry-after", "3"), ("x-ratelimit-remaining", "4000")];
    let secondary = r#"{"message": "You have exceeded a secondary rate limit and have been temporarily blocked"}"#;
    let cases = [
        (403, used_up, "{}", false, true),
        (429, used_up, "{}", false, true),
        (403, retry, secondary, true, true),
        (429, retry, "{}", true, true),
        (403, &[][..], secondary, true, false),
        (429, &[], "not json", true, false),
    ];
    type Headers<'a> = &'a [(&'static str, &'static str)];
    let check = async |(status, headers, body, expect_secondary, lasts): (u16, Headers<'_>, &str, bool, bool)| {
        let (_temp, _repo, head, fake) = small().await;
        let source = source(&fake);
        let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 4;
        let soon = soon.to_string();
        let now = |(name, value): &(&'static str, &'static str)| {
            (
                *name,
                if *value == "SOON" {
                    soon.clone()
                } else {
                    (*value).to_owned()
                },
            )
        };
        let fault = Fault::Answer(status, headers.iter().map(now).collect(), body.to_owned());
        fake.fail("/commits/", 1, fault);
        for _ in 0..20 {
            match source.head(&id(), &branch("main")).await {
                Err(SourceError::RateLimited {
                    retry_after_seconds,
                    is_secondary,
                }) => {
                    assert_eq!(is_secondary, expect_secondary, "{status} {headers:?}");
                    assert!((1..=60).contains(&retry_after_seconds), "{retry_after_seconds}");
                }
                other => panic!("{status} {headers:?}: {other:?}"),
            }
            assert!(source.tree(&id(), &sha(&head)).await.is_err());
        }
        assert_eq!(fake.requested_paths().len(), 1, "{status} {headers:?}");
        if lasts {
            // Where a time was given, it is asked again after that time.
            let_pass(Duration::from_secs(5)).await;
            assert_eq!(
                source.head(&id(), &branch("main")).await.unwrap(),
                sha(&head),
                "{status} {headers:?}"
            );
        }
    };
    // One after the other: they share a clock.
    for case in cases {
        check(case).await;
    }
}

#[tokio::test]
async fn the_last_request_of_the_hour_closes_the_gate_by_itself() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let reset = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 1_800;
    let headers = [
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", &*reset.to_string()),
    ];
    fake.fail("/commits/", 1, Fault::with(200, &headers, &head));
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&head));
    let error = source.head(&id(), &branch("main")).await.unwrap_err();
    assert!(
        matches!(
            error,
            SourceError::RateLimited {
                retry_after_seconds: 1_000..=1_801,
                is_secondary: false
            }
        ),
        "{error:?}"
    );
    assert_eq!(fake.requested_paths().len(), 1);
}

#[tokio::test]
async fn a_refusal_that_is_about_rights_is_no_limit() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    fake.fail(
        "/commits/",
        1,
        Fault::with(403, &[], r#"{"message": "Resource not accessible by integration"}"#),
    );
    let error = source.head(&id(), &branch("main")).await.unwrap_err();
    assert!(
        matches!(&error, SourceError::Unreachable(why) if why.contains("not accessible")),
        "{error:?}"
    );
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&head));
}

#[tokio::test]
async fn an_answer_that_is_no_answer_is_an_error() {
    let (_temp, _repo, head, fake) = small().await;
    let mut config = config(&fake);
    config.limits.json_bytes = 20_000;
    let source = GithubSource::new(config).unwrap();
    let deep = "[".repeat(15_000);
    let large = format!(r#"{{"tree": [], "x": "{}"}}"#, "x".repeat(30_000));
    for body in [
        "",
        "null",
        "{}",
        "[]",
        r#"{"tree": 7}"#,
        r#"{"tree": [{"path": 1}]}"#,
        "\u{0}\u{1}",
        &deep,
        &large,
    ] {
        fake.fail("/git/trees/", 1, Fault::with(200, &[], body));
        let error = source.tree(&id(), &sha(&head)).await.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable(_)), "{body:.40}: {error:?}");
        fake.fail("/compare/", 1, Fault::with(200, &[], body));
        let answer = source.is_ancestor(&id(), &sha(&head), &sha(&"1".repeat(40))).await;
        assert!(answer.is_err(), "{body:.40}: {answer:?}");
    }
    fake.fail("/compare/", 1, Fault::with(200, &[], r#"{"status": "sideways\n"}"#));
    assert!(
        source
            .is_ancestor(&id(), &sha(&head), &sha(&"2".repeat(40)))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn redirects_are_followed_within_the_api_and_not_for_ever() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let within = format!("{}/repos/acme/widgets/commits/heads/main?again", fake.api());
    for status in [301, 302, 307, 308] {
        fake.fail(
            "/commits/heads/main",
            1,
            Fault::with(status, &[("location", &within)], ""),
        );
        assert_eq!(
            source.head(&id(), &branch("main")).await.unwrap(),
            sha(&head),
            "{status}"
        );
    }
    fake.seen();
    fake.fail("/commits/", 100, Fault::with(301, &[("location", &within)], ""));
    assert!(source.head(&id(), &branch("main")).await.is_err());
    assert!(fake.requested_paths().len() <= 4);
    let elsewhere = [
        "https://example.com/",
        fake.downloads(),
        "http://169.254.169.254/",
        "//example.com/api/v3/repos",
    ]
    .map(str::to_owned);
    for location in elsewhere {
        let fresh = crate::source(&fake);
        fake.behave(|behavior| behavior.forget_faults());
        fake.fail("/commits/", 1, Fault::with(302, &[("location", &location)], ""));
        fake.seen();
        let error = fresh.head(&id(), &branch("main")).await.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable(_)), "{location}: {error:?}");
        assert_eq!(fake.seen().len(), 1, "{location}");
    }
}
