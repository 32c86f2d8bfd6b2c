use std::sync::Arc;
use std::time::Duration;

use coord_domain::{FilePath, RepoId};
use coord_sources::github::GithubSource;
use coord_sources::{Source, SourceError};

use crate::{branch, config, id, sha, small, source};
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault, NUMBER};
use coord_test_support::waiting::let_pass;

/// The names near `name`, and whether the repository is empty.
async fn near(source: &GithubSource, name: &str) -> (Vec<String>, bool) {
    match source.head(&id(), &branch(name)).await.unwrap_err() {
        SourceError::UnknownBranch {
            suggestions, is_empty, ..
        } => (suggestions, is_empty),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_branch_of_any_name_is_not_taken_for_a_tag_or_an_id() {
    let (_temp, repo, first, fake) = small().await;
    repo.git(&["tag", "main", &first]);
    let head = repo.commit(&[("src/b.ts", "")]);
    let source = source(&fake);
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&head));
    let odd = [
        "feature/log-in",
        "a#b",
        "a%2Fb",
        "a%b",
        "größe",
        "a+b&c=d",
        "a;b",
        "heads/main",
        "refs/heads/x",
        "@x",
        &first[..12],
    ];
    for name in odd {
        repo.git(&["update-ref", &format!("refs/heads/{name}"), &head]);
        assert_eq!(source.head(&id(), &branch(name)).await.unwrap(), sha(&head), "{name}");
    }
    // Neither a tag nor an id is a branch.
    repo.git(&["tag", "v1"]);
    assert!(source.head(&id(), &branch("v1")).await.is_err());
    assert!(source.head(&id(), &branch(&head)).await.is_err());
}

#[tokio::test]
async fn a_known_head_is_requested_with_its_etag() {
    let (_temp, repo, first, fake) = small().await;
    let source = source(&fake);
    for _ in 0..2 {
        assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&first));
    }
    let second = repo.commit(&[("src/a.ts", "")]);
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&second));
    let etags: Vec<Option<String>> = fake.seen().into_iter().map(|seen| seen.if_none_match).collect();
    let known = Some(format!("\"{first}\""));
    assert_eq!(etags, [None, known.clone(), known]);
    assert_eq!(source.requests().api, 3);
}

#[tokio::test]
async fn an_etag_that_lies_gives_no_wrong_head() {
    let (_temp, repo, _, fake) = small().await;
    let source = source(&fake);
    // 304, though nothing is known.
    fake.fail("/commits/", 1, Fault::with(304, &[("etag", "\"x\"")], ""));
    let error = source.head(&id(), &branch("main")).await.unwrap_err();
    assert!(matches!(error, SourceError::Unreachable(_)), "{error:?}");
    // The same ETag for another head: the body counts.
    let (one, other) = ("1".repeat(40), "2".repeat(40));
    for head in [&one, &other] {
        fake.fail("/commits/", 1, Fault::with(200, &[("etag", "\"same\"")], head));
        assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(head));
    }
    // An ETag far too long is not kept.
    fake.fail("/commits/", 1, Fault::with(200, &[("etag", &"x".repeat(4_000))], &one));
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&one));
    fake.seen();
    source.head(&id(), &branch("main")).await.unwrap();
    assert_eq!(fake.seen()[0].if_none_match, None);
    drop(repo);
}

#[tokio::test]
async fn a_body_that_is_no_id_is_no_head() {
    let (_temp, _repo, _, fake) = small().await;
    let source = source(&fake);
    for body in [
        "",
        "main",
        "abc1234",
        &"g".repeat(40),
        &"1".repeat(41),
        &"1".repeat(5_000),
        "\u{0}",
    ] {
        fake.fail("/commits/", 1, Fault::with(200, &[], body));
        let error = source.head(&id(), &branch("main")).await.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable(_)), "{body:?}: {error:?}");
    }
}

#[tokio::test]
async fn sixty_four_concurrent_callers_send_one_request() {
    let (_temp, _repo, head, fake) = small().await;
    let source = Arc::new(source(&fake));
    fake.fail("/commits/", 1, Fault::Slow(Duration::from_millis(100)));
    let (repo, main) = (id(), branch("main"));
    let asking = (0..64).map(|_| source.head(&repo, &main));
    for answer in futures::future::join_all(asking).await {
        assert_eq!(answer.unwrap(), sha(&head));
    }
    assert_eq!(fake.requested_paths(), ["/commits/heads/main"]);
    assert_eq!(source.requests().api, 1);
}

#[tokio::test]
async fn a_shared_request_continues_when_its_first_caller_is_gone() {
    let (_temp, _repo, head, fake) = small().await;
    let source = Arc::new(source(&fake));
    fake.fail("/commits/", 1, Fault::Slow(Duration::from_millis(150)));
    let first = {
        let source = Arc::clone(&source);
        tokio::spawn(async move { source.head(&id(), &branch("main")).await })
    };
    fake.until_requested("/commits/").await;
    first.abort();
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&head));
    assert_eq!(fake.requested_paths().len(), 1);
}

#[tokio::test]
async fn a_young_head_is_not_requested_again() {
    let (_temp, repo, first, fake) = small().await;
    let mut config = config(&fake);
    config.head_max_age = Duration::from_secs(3);
    let source = GithubSource::new(config).unwrap();
    for _ in 0..50 {
        assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&first));
        assert!(source.head(&id(), &branch("mian")).await.is_err());
    }
    assert_eq!(
        fake.requested_paths(),
        ["/commits/heads/main", "/commits/heads/mian", "/branches?per_page=100"]
    );
    let second = repo.commit(&[]);
    let_pass(Duration::from_secs(3)).await;
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&second));
}

#[tokio::test]
async fn a_missing_branch_lists_near_names_or_the_default_branch() {
    let (_temp, repo, _, fake) = small().await;
    for name in ["Feature/Login", "feature/logout", "release-1"] {
        repo.git(&["branch", name]);
    }
    let source = source(&fake);
    assert_eq!(near(&source, "mian").await, (vec!["main".to_owned()], false));
    assert_eq!(
        near(&source, "feature/login").await.0,
        ["Feature/Login", "feature/logout"]
    );
    fake.seen();
    assert_eq!(near(&source, "zzz").await.0, ["main"]);
    // The names of others are kept, and so is the default branch from now on.
    assert_eq!(fake.requested_paths(), ["/commits/heads/zzz", ""]);
    assert_eq!(near(&source, "yyy").await.0, ["main"]);
    assert_eq!(fake.requested_paths(), ["/commits/heads/yyy"]);
}

#[tokio::test]
async fn an_empty_repository_has_no_branch_until_its_first_commit() {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let fake = Fake::serve(temp.path()).await;
    let source = source(&fake);
    assert_eq!(near(&source, "main").await, (Vec::new(), true));
    let head = repo.commit(&[]);
    assert_eq!(source.head(&id(), &branch("main")).await.unwrap(), sha(&head));
}

#[tokio::test]
async fn a_repository_that_is_not_there_or_gone_is_unknown() {
    let (_temp, _repo, _, fake) = small().await;
    let source = source(&fake);
    let other = RepoId::parse("https://127.0.0.1/acme/gadgets").unwrap();
    let error = source.head(&other, &branch("main")).await.unwrap_err();
    assert!(matches!(error, SourceError::UnknownRepository { .. }), "{error:?}");
    for status in [410, 451] {
        fake.fail("/commits/", 1, Fault::status(status));
        let error = source.head(&id(), &branch("main")).await.unwrap_err();
        assert!(matches!(error, SourceError::UnknownRepository { .. }), "{error:?}");
    }
    assert!(source.head(&id(), &branch("main")).await.is_ok());
}

#[tokio::test]
async fn objects_that_this_api_lacks_are_not_requested() {
    let (_temp, _repo, _, fake) = small().await;
    let mut limited = config(&fake);
    limited.only = Some(vec![RepoId::parse("https://127.0.0.1/acme/gadgets").unwrap()]);
    for (source, url) in [
        (source(&fake), "https://github.com/acme/widgets"),
        (source(&fake), "https://169.254.169.254/latest/meta-data"),
        (source(&fake), "https://127.0.0.1/acme/widgets/more"),
        (GithubSource::new(limited).unwrap(), "https://127.0.0.1/acme/widgets"),
    ] {
        let repo = RepoId::parse(url).unwrap();
        let error = source.head(&repo, &branch("main")).await.unwrap_err();
        assert!(
            matches!(error, SourceError::UnknownRepository { .. }),
            "{url}: {error:?}"
        );
        assert!(source.tree(&repo, &sha("abcdef1")).await.is_err());
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn a_repository_that_was_renamed_is_one_by_its_new_name_alone() {
    let (_temp, repo, head, fake) = small().await;
    repo.git(&["branch", "feature/a#b"]);
    fake.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let former = RepoId::parse("https://127.0.0.1/acme/gizmos").unwrap();
    let source = source(&fake);
    let now = RepoId::parse("https://127.0.0.1/acme/widgets").unwrap();
    let refused = async || match source.head(&former, &branch("main")).await {
        Err(SourceError::UnknownRepository { renamed_to, .. }) => renamed_to,
        other => panic!("{other:?}"),
    };
    assert!(source.head(&former, &branch("feature/a#b")).await.is_err());
    assert_eq!(refused().await.as_ref(), Some(&now));
    assert_eq!(source.head(&now, &branch("main")).await.unwrap(), sha(&head));
    let moved = format!("/api/v3/repositories/{NUMBER}/commits/heads");
    let expected = [
        "/api/v3/repos/acme/gizmos/commits/heads/feature/a%23b".to_owned(),
        format!("{moved}/feature/a%23b"),
        // Its current name. After that the old name is refused without a request.
        format!("/api/v3/repositories/{NUMBER}"),
        "/commits/heads/main".to_owned(),
    ];
    assert_eq!(fake.requested_paths(), expected);
}

/// Each kind of question finds the new name, and the first has told it to all others.
#[tokio::test]
async fn every_request_by_the_old_name_of_a_repository_finds_the_new_one() {
    let (_temp, repo, head, fake) = small().await;
    let next = repo.commit(&[("src/b.ts", "")]);
    fake.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let former = RepoId::parse("https://127.0.0.1/acme/gizmos").unwrap();
    let now = RepoId::parse("https://127.0.0.1/acme/widgets").unwrap();
    let (head, next) = (sha(&head), sha(&next));
    for question in 0..7 {
        let source = source(&fake);
        assert_eq!(source.renamed_to(&former), None);
        let failed = match question {
            0 => source.tree(&former, &head).await.err(),
            1 => source.is_ancestor(&former, &head, &next).await.err(),
            2 => source
                .compare(&former, &head, &next, &[FilePath::parse("src/a.ts").unwrap()])
                .await
                .err(),
            3 => source.recent_commits(&former, &next, 5).await.err(),
            4 => source.default_branch(&former).await.err(),
            // GitHub does not have the commit, at the new place.
            5 => source.is_ancestor(&former, &head, &sha(&"7".repeat(40))).await.err(),
            _ => source.refresh_head(&former, &branch("main"), None).await.err(),
        };
        assert!(
            matches!(&failed, Some(SourceError::UnknownRepository { renamed_to, .. }) if renamed_to.as_ref() == Some(&now)),
            "{question}: {failed:?}"
        );
        assert_eq!(source.renamed_to(&former).as_ref(), Some(&now));
        fake.seen();
        assert!(source.head(&former, &branch("main")).await.is_err());
        assert_eq!(fake.requested_paths(), Vec::<String>::new());
    }
}
