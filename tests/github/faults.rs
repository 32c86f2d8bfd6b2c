use std::fmt::Debug;
use std::time::{Duration, Instant};

use coord_sources::github::GithubSource;
use coord_sources::{Source, SourceError};

use crate::cloud::now;
use crate::{config, id, main_head, sha, small, source};
use coord_test_support::github::Fault;
use coord_test_support::waiting::let_pass;

/// Asserts that GitHub is not asked for half an hour, as the last request of an hour is used up.
#[track_caller]
pub fn assert_primary_limit<T: Debug>(answer: Result<T, SourceError>) {
    assert!(
        matches!(
            answer,
            Err(SourceError::RateLimited {
                retry_after_seconds: 1_000..=1_801,
                is_secondary: false
            })
        ),
        "{answer:?}"
    );
}

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
        assert_eq!(main_head(&source).await.unwrap(), sha(&head), "{fault:?}");
        fake.seen();
    }
    fake.fail("/commits/", 3, Fault::status(503));
    assert_fails!(main_head(&source).await, Unreachable);
    assert_eq!(fake.requested_paths().len(), 3);
    // Only transient faults are retried.
    for status in [400, 501, 418] {
        fake.fail("/commits/", 1, Fault::status(status));
        assert!(main_head(&source).await.is_err(), "{status}");
        assert_eq!(fake.requested_paths().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_waited_for_only_so_long() {
    let (_temp, _repo, _, fake) = small().await;
    let mut config = config(&fake);
    config.limits.headers = Duration::from_millis(150);
    config.limits.idle = Duration::from_millis(150);
    let source = GithubSource::new(config).unwrap();
    for fault in [Fault::Slow(Duration::from_secs(30)), Fault::Stall] {
        fake.fail("/commits/", 1, fault.clone());
        let started = Instant::now();
        assert_fails!(main_head(&source).await, Unreachable, "{fault:?}");
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
    assert!(main_head(&source).await.is_err());
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_source_without_a_listener_is_unreachable() {
    let (_temp, _repo, _, fake) = small().await;
    let source = source(&fake);
    drop(fake);
    // time: the listener closes.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_fails!(main_head(&source).await, Unreachable);
}

#[tokio::test]
async fn no_request_is_sent_while_a_limit_lasts() {
    let used_up = &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "SOON")];
    let retry = &[("retry-after", "3"), ("x-ratelimit-remaining", "4000")];
    let secondary = r#"{"message": "You have exceeded a secondary rate limit and have been temporarily blocked"}"#;
    // One after the other: they share a clock.
    for (status, headers, body, expect_secondary, lasts) in [
        (403, &used_up[..], "{}", false, true),
        (429, used_up, "{}", false, true),
        (403, retry, secondary, true, true),
        (429, retry, "{}", true, true),
        (403, &[], secondary, true, false),
        (429, &[], "not json", true, false),
    ] {
        let case = format!("{status} {headers:?}");
        let (_temp, _repo, head, fake) = small().await;
        let source = source(&fake);
        let soon = (now() + 4).to_string();
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, value.replace("SOON", &soon)));
        fake.fail(
            "/commits/",
            1,
            Fault::Answer(status, headers.collect(), body.to_owned()),
        );
        for _ in 0..20 {
            match main_head(&source).await {
                Err(SourceError::RateLimited {
                    retry_after_seconds,
                    is_secondary,
                }) => {
                    assert_eq!(is_secondary, expect_secondary, "{case}");
                    assert!((1..=60).contains(&retry_after_seconds), "{retry_after_seconds}");
                }
                other => panic!("{case}: {other:?}"),
            }
            assert!(source.tree(&id(), &sha(&head)).await.is_err());
        }
        assert_eq!(fake.requested_paths().len(), 1, "{case}");
        if lasts {
            // Where a time was given, it is asked again after that time.
            let_pass(Duration::from_secs(5)).await;
            assert_eq!(main_head(&source).await.unwrap(), sha(&head), "{case}");
        }
    }
}

#[tokio::test]
async fn the_last_request_of_the_hour_closes_the_gate_by_itself() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let reset = (now() + 1_800).to_string();
    let headers = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &*reset)];
    fake.fail("/commits/", 1, Fault::with(200, &headers, &head));
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
    assert_primary_limit(main_head(&source).await);
    assert_eq!(fake.requested_paths().len(), 1);
}

#[tokio::test]
async fn a_refusal_that_is_about_rights_is_no_limit() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let rights = r#"{"message": "Resource not accessible by integration"}"#;
    fake.fail("/commits/", 1, Fault::with(403, &[], rights));
    let error = main_head(&source).await.unwrap_err();
    assert!(
        matches!(&error, SourceError::Unreachable(why) if why.contains("not accessible")),
        "{error:?}"
    );
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
}

#[tokio::test]
async fn an_answer_that_is_no_answer_is_an_error() {
    let (_temp, _repo, head, fake) = small().await;
    let mut config = config(&fake);
    config.limits.json_bytes = 20_000;
    let source = GithubSource::new(config).unwrap();
    let compare = async |digit: &str| source.is_ancestor(&id(), &sha(&head), &sha(&digit.repeat(40))).await;
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
        assert_fails!(source.tree(&id(), &sha(&head)).await, Unreachable, "{body:.40}");
        fake.fail("/compare/", 1, Fault::with(200, &[], body));
        let answer = compare("1").await;
        assert!(answer.is_err(), "{body:.40}: {answer:?}");
    }
    fake.fail("/compare/", 1, Fault::with(200, &[], r#"{"status": "sideways\n"}"#));
    assert!(compare("2").await.is_err());
}

#[tokio::test]
async fn redirects_are_followed_within_the_api_and_not_for_ever() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let redirect = |status: u16, location: &str| Fault::with(status, &[("location", location)], "");
    let within = format!("{}/repos/acme/widgets/commits/heads/main?again", fake.api());
    for status in [301, 302, 307, 308] {
        fake.fail("/commits/heads/main", 1, redirect(status, &within));
        assert_eq!(main_head(&source).await.unwrap(), sha(&head), "{status}");
    }
    fake.seen();
    fake.fail("/commits/", 100, redirect(301, &within));
    assert!(main_head(&source).await.is_err());
    assert!(fake.requested_paths().len() <= 4);
    for location in [
        "https://example.com/",
        fake.downloads(),
        "http://169.254.169.254/",
        "//example.com/api/v3/repos",
    ] {
        let fresh = crate::source(&fake);
        fake.behave(|behavior| behavior.forget_faults());
        fake.fail("/commits/", 1, redirect(302, location));
        fake.seen();
        assert_fails!(main_head(&fresh).await, Unreachable, "{location}");
        assert_eq!(fake.seen().len(), 1, "{location}");
    }
}
