use std::sync::Arc;
use std::time::Duration;

use coord_domain::{FilePath, RepoId};
use coord_sources::github::GithubSource;
use coord_sources::{Source, SourceError};

use crate::{branch, config, id, main_head, repo, sha, small, source};
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
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
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
    for name in ["v1", &head] {
        assert!(source.head(&id(), &branch(name)).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_known_head_is_requested_with_its_etag() {
    let (_temp, repo, first, fake) = small().await;
    let source = source(&fake);
    for _ in 0..2 {
        assert_eq!(main_head(&source).await.unwrap(), sha(&first));
    }
    let second = repo.commit(&[("src/a.ts", "")]);
    assert_eq!(main_head(&source).await.unwrap(), sha(&second));
    let etags: Vec<_> = fake.seen().into_iter().map(|seen| seen.if_none_match).collect();
    let known = Some(format!("\"{first}\""));
    assert_eq!(etags, [None, known.clone(), known]);
}

#[tokio::test]
async fn an_etag_that_lies_gives_no_wrong_head() {
    let (_temp, _repo, _, fake) = small().await;
    let source = source(&fake);
    // 304, though nothing is known.
    fake.fail("/commits/", 1, Fault::with(304, &[("etag", "\"x\"")], ""));
    assert_fails!(main_head(&source).await, Unreachable);
    // The same ETag for another head: the body counts. An ETag far too long is not kept.
    let (one, other, long) = ("1".repeat(40), "2".repeat(40), "x".repeat(4_000));
    for (head, etag) in [(&one, "\"same\""), (&other, "\"same\""), (&one, &long)] {
        fake.fail("/commits/", 1, Fault::with(200, &[("etag", etag)], head));
        assert_eq!(main_head(&source).await.unwrap(), sha(head));
    }
    fake.seen();
    main_head(&source).await.unwrap();
    assert_eq!(fake.seen()[0].if_none_match, None);
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
        fake.fail("/commits/", 2, Fault::with(200, &[], body));
        assert_fails!(main_head(&source).await, Unreachable, "{body:?}");
        let refreshed = source.refresh_head(&id(), &branch("main"), None).await;
        assert_fails!(refreshed, Unreachable, "{body:?}");
    }
}

#[tokio::test]
async fn sixty_four_concurrent_callers_send_one_request() {
    let (_temp, _repo, head, fake) = small().await;
    let source = source(&fake);
    fake.fail("/commits/", 1, Fault::Slow(Duration::from_millis(100)));
    for answer in futures::future::join_all((0..64).map(|_| main_head(&source))).await {
        assert_eq!(answer.unwrap(), sha(&head));
    }
    assert_eq!(fake.requested_paths(), ["/commits/heads/main"]);
}

#[tokio::test]
async fn a_shared_request_continues_when_its_first_caller_is_gone() {
    let (_temp, _repo, head, fake) = small().await;
    let source = Arc::new(source(&fake));
    fake.fail("/commits/", 1, Fault::Slow(Duration::from_millis(150)));
    let first = {
        let source = Arc::clone(&source);
        tokio::spawn(async move { main_head(&source).await })
    };
    fake.until_requested("/commits/").await;
    first.abort();
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
    assert_eq!(fake.requested_paths().len(), 1);
}

#[tokio::test]
async fn a_young_head_is_not_requested_again() {
    let (_temp, repo, first, fake) = small().await;
    let mut config = config(&fake);
    config.head_max_age = Duration::from_secs(3);
    let source = GithubSource::new(config).unwrap();
    for _ in 0..50 {
        assert_eq!(main_head(&source).await.unwrap(), sha(&first));
        assert!(source.head(&id(), &branch("mian")).await.is_err());
    }
    assert_eq!(
        fake.requested_paths(),
        ["/commits/heads/main", "/commits/heads/mian", "/branches?per_page=100"]
    );
    let second = repo.commit(&[]);
    let_pass(Duration::from_secs(3)).await;
    assert_eq!(main_head(&source).await.unwrap(), sha(&second));
}

#[tokio::test]
async fn a_missing_branch_lists_near_names_or_the_default_branch() {
    let (_temp, repo, _, fake) = small().await;
    for name in ["Feature/Login", "feature/logout", "release-1"] {
        repo.git(&["branch", name]);
    }
    let source = source(&fake);
    assert_eq!(near(&source, "mian").await, (vec!["main".to_owned()], false));
    let names = near(&source, "feature/login").await.0;
    assert_eq!(names, ["Feature/Login", "feature/logout"]);
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
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
}

#[tokio::test]
async fn a_repository_that_is_not_there_or_gone_is_unknown() {
    let (_temp, _repo, _, fake) = small().await;
    let source = source(&fake);
    assert_fails!(source.head(&repo("gadgets"), &branch("main")).await, UnknownRepository);
    for status in [410, 451] {
        fake.fail("/commits/", 1, Fault::status(status));
        assert_fails!(main_head(&source).await, UnknownRepository, "{status}");
    }
    assert!(main_head(&source).await.is_ok());
}

#[tokio::test]
async fn objects_that_this_api_lacks_are_not_requested() {
    let (_temp, _repo, _, fake) = small().await;
    let mut limited = config(&fake);
    limited.only = Some(vec![repo("gadgets")]);
    for (source, url) in [
        (source(&fake), "https://github.com/acme/widgets"),
        (source(&fake), "https://169.254.169.254/latest/meta-data"),
        (source(&fake), "https://127.0.0.1/acme/widgets/more"),
        (GithubSource::new(limited).unwrap(), "https://127.0.0.1/acme/widgets"),
    ] {
        let repo = RepoId::parse(url).unwrap();
        assert_fails!(source.head(&repo, &branch("main")).await, UnknownRepository, "{url}");
        assert!(source.tree(&repo, &sha("abcdef1")).await.is_err());
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn a_repository_that_was_renamed_is_one_by_its_new_name_alone() {
    let (_temp, git, head, fake) = small().await;
    git.git(&["branch", "feature/a#b"]);
    fake.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let former = repo("gizmos");
    let source = source(&fake);
    assert!(source.head(&former, &branch("feature/a#b")).await.is_err());
    match source.head(&former, &branch("main")).await {
        Err(SourceError::UnknownRepository { renamed_to, .. }) => assert_eq!(renamed_to, Some(id())),
        other => panic!("{other:?}"),
    }
    assert_eq!(main_head(&source).await.unwrap(), sha(&head));
    let expected = [
        "/api/v3/repos/acme/gizmos/commits/heads/feature/a%23b".to_owned(),
        format!("/api/v3/repositories/{NUMBER}/commits/heads/feature/a%23b"),
        // Its current name. After that the old name is refused without a request.
        format!("/api/v3/repositories/{NUMBER}"),
        "/commits/heads/main".to_owned(),
    ];
    assert_eq!(fake.requested_paths(), expected);
}

/// Each kind of question finds the new name, and the first stores it for all others.
#[tokio::test]
async fn every_request_by_the_old_name_of_a_repository_finds_the_new_one() {
    let (_temp, git, head, fake) = small().await;
    let next = git.commit(&[("src/b.ts", "")]);
    fake.behave(|behavior| behavior.former_name = Some("gizmos".to_owned()));
    let former = repo("gizmos");
    let (head, next, paths) = (sha(&head), sha(&next), [FilePath::parse("src/a.ts").unwrap()]);
    for question in 0..7 {
        let source = source(&fake);
        assert_eq!(source.renamed_to(&former), None);
        let failed = match question {
            0 => source.tree(&former, &head).await.err(),
            1 => source.is_ancestor(&former, &head, &next).await.err(),
            2 => source.compare(&former, &head, &next, &paths).await.err(),
            3 => source.recent_commits(&former, &next, 5).await.err(),
            4 => source.default_branch(&former).await.err(),
            // GitHub does not have the commit, at the new place.
            5 => source.is_ancestor(&former, &head, &sha(&"7".repeat(40))).await.err(),
            _ => source.refresh_head(&former, &branch("main"), None).await.err(),
        };
        match failed {
            Some(SourceError::UnknownRepository { renamed_to, .. }) => assert_eq!(renamed_to, Some(id()), "{question}"),
            other => panic!("{question}: {other:?}"),
        }
        assert_eq!(source.renamed_to(&former), Some(id()));
        fake.seen();
        assert!(source.head(&former, &branch("main")).await.is_err());
        assert_eq!(fake.requested_paths(), Vec::<String>::new());
    }
}
