//! Heads that are remembered elsewhere.

use std::time::Duration;

use coord_domain::RepoId;
use coord_sources::github::GithubSource;
use coord_sources::{KnownHead, RefreshedHead, Source, SourceError};

use crate::cloud::now;
use crate::faults::assert_primary_limit;
use crate::{branch, config, id, main_head, sha, small, source};
use coord_test_support::github::Fault;

fn known(commit: &str, etag: Option<&str>) -> KnownHead {
    KnownHead {
        commit: sha(commit),
        etag: etag.map(str::to_owned),
    }
}

fn refreshed(commit: &str, etag: Option<&str>, is_whole: bool) -> RefreshedHead {
    RefreshedHead {
        commit: sha(commit),
        etag: etag.map(str::to_owned),
        is_whole,
    }
}

async fn refresh(source: &GithubSource, known: Option<&KnownHead>) -> Result<RefreshedHead, SourceError> {
    source.refresh_head(&id(), &branch("main"), known).await
}

#[tokio::test]
async fn a_head_is_as_it_is_now_whatever_is_remembered_here() {
    let (_temp, repo, first, fake) = small().await;
    let mut config = config(&fake);
    config.head_max_age = Duration::from_secs(600);
    let source = GithubSource::new(config).unwrap();
    assert!(source.keeps_heads_in_store(&id()));
    main_head(&source).await.unwrap();
    let etag = format!("\"{first}\"");
    let whole = refreshed(&first, Some(&etag), true);
    assert_eq!(refresh(&source, None).await.unwrap(), whole);
    // An ETag of before: unchanged, and then changed.
    let before = known(&first, Some(&etag));
    let same = refreshed(&first, Some(&etag), false);
    assert_eq!(refresh(&source, Some(&before)).await.unwrap(), same);
    let second = repo.commit(&[("src/a.ts", "")]);
    let changed = refreshed(&second, Some(&format!("\"{second}\"")), true);
    assert_eq!(refresh(&source, Some(&before)).await.unwrap(), changed);
    let sent: Vec<_> = fake.seen().into_iter().map(|seen| seen.if_none_match).collect();
    assert_eq!(sent, [None, None, Some(etag.clone()), Some(etag)]);
    // A caller that asks this process for a head gets the newest that it knows.
    assert_eq!(main_head(&source).await.unwrap(), sha(&second));
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn a_wrong_etag_is_corrected_by_a_request_without_one() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let stale = "1".repeat(40);
    fake.fail("/commits/", 1, Fault::with(304, &[], ""));
    let before = known(&stale, Some("\"lies\""));
    let unchanged = refreshed(&stale, Some("\"lies\""), false);
    assert_eq!(refresh(&source, Some(&before)).await.unwrap(), unchanged);
    let answer = refresh(&source, Some(&known(&stale, None))).await.unwrap();
    assert_eq!((answer.commit, answer.is_whole), (sha(&head), true));
    // A head that was only confirmed as unchanged gives this process no reason to ask with an ETag.
    fake.fail("/commits/", 1, Fault::with(304, &[], ""));
    refresh(&source, Some(&before)).await.unwrap();
    fake.seen();
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
    assert_eq!(fake.seen()[0].if_none_match, None);
    // 304 where no ETag was sent.
    fake.fail("/commits/", 1, Fault::with(304, &[], ""));
    assert_fails!(refresh(&source, None).await, Unreachable);
}

#[tokio::test]
async fn an_etag_that_no_header_may_carry_is_not_sent_and_not_kept() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let long = format!("\"{}\"", "x".repeat(300));
    let texts = [
        "",
        "*",
        "main",
        "\"a\", \"b\"",
        "\"a\r\nx-evil: 1\"",
        "\"\u{0}\"",
        "\"ü\"",
        &long,
    ];
    for etag in texts {
        let answer = refresh(&source, Some(&known(&head, Some(etag)))).await.unwrap();
        assert!(answer.is_whole, "{etag:?}");
        assert_eq!(fake.seen()[0].if_none_match, None, "{etag:?}");
    }
    let abbreviated = known(&head[..12], Some("\"a\""));
    let answer = refresh(&source, Some(&abbreviated)).await.unwrap();
    assert!(answer.is_whole && answer.commit == sha(&head));
    for etag in ["main", "\"a\", \"b\"", &long] {
        fake.fail("/commits/", 1, Fault::with(200, &[("etag", etag)], &head));
        let answer = refresh(&source, None).await.unwrap();
        assert_eq!(answer, refreshed(&head, None, true), "{etag}");
    }
}

#[tokio::test]
async fn sixty_four_equal_concurrent_refreshes_send_one_request() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    let etag = format!("\"{head}\"");
    for before in [None, Some(known(&head, None)), Some(known(&head, Some(&etag)))] {
        fake.fail("/commits/", 1, Fault::Slow(Duration::from_millis(100)));
        let asking = (0..64).map(|_| refresh(&source, before.as_ref()));
        for answer in futures::future::join_all(asking).await {
            assert_eq!(answer.unwrap().commit, sha(&head), "{before:?}");
        }
        assert_eq!(fake.requested_paths(), ["/commits/heads/main"], "{before:?}");
    }
    // A request without an ETag gets a whole answer, though another one with an ETag is in flight.
    fake.fail("/commits/", 2, Fault::Slow(Duration::from_millis(100)));
    let before = known(&head, Some(&etag));
    let (with, without) = tokio::join!(refresh(&source, Some(&before)), refresh(&source, None));
    assert!(!with.unwrap().is_whole && without.unwrap().is_whole);
    assert_eq!(fake.seen().len(), 2);
}

#[tokio::test]
async fn a_missing_resource_and_a_rate_limit_are_reported_as_for_heads() {
    let (_temp, _repo, _, fake) = small().await;
    let source = source(&fake);
    let error = source.refresh_head(&id(), &branch("mian"), None).await.unwrap_err();
    assert!(
        matches!(&error, SourceError::UnknownBranch { suggestions, .. } if suggestions == &["main"]),
        "{error:?}"
    );
    for url in ["https://127.0.0.1/acme/gadgets", "https://github.com/acme/widgets"] {
        let other = RepoId::parse(url).unwrap();
        let answer = source.refresh_head(&other, &branch("main"), None).await;
        assert_fails!(answer, UnknownRepository, "{url}");
    }
    fake.fail("/commits/", 3, Fault::status(503));
    assert_fails!(refresh(&source, None).await, Unreachable);
    let reset = (now() + 1_800).to_string();
    let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &*reset)];
    fake.fail("/commits/", 1, Fault::with(403, &used_up, "{}"));
    fake.seen();
    for _ in 0..5 {
        assert_primary_limit(refresh(&source, None).await);
    }
    assert_eq!(fake.seen().len(), 1);
}
