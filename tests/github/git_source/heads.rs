use coord_domain::RepoId;
use coord_git::GitSource;
use coord_sources::{Source, SourceError};
use tempfile::tempdir;

use crate::git_source::{branch, serve, sha};
use coord_test_support::git::Repo;

/// Names near `name`, which does not exist, and whether the repository has no commits.
async fn near(source: &GitSource, repo: &RepoId, name: &str) -> (Vec<String>, bool) {
    match source.head(repo, &branch(name)).await {
        Err(SourceError::UnknownBranch {
            suggestions, is_empty, ..
        }) => (suggestions, is_empty),
        other => panic!("{name}: {other:?}"),
    }
}

#[tokio::test]
async fn a_head_is_the_current_tip_after_every_kind_of_move() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let (source, id) = serve(repo.path());
    for round in 0..5 {
        let head = repo.commit(&[("a", &round.to_string())]);
        assert_eq!(source.head(&id, &branch("main")).await.unwrap(), sha(&head));
        repo.git(&["pack-refs", "--all", "--prune"]);
        assert!(!repo.path().join(".git/refs/heads/main").exists());
        assert_eq!(source.head(&id, &branch("main")).await.unwrap(), sha(&head));
    }
    let older = repo.git(&["rev-parse", "HEAD~2"]);
    repo.git(&["reset", "--quiet", "--hard", &older]);
    assert_eq!(source.head(&id, &branch("main")).await.unwrap(), sha(&older));
    repo.git(&["branch", "--move", "main", "renamed"]);
    assert_eq!(near(&source, &id, "main").await.0, ["renamed"]);
    assert_eq!(source.head(&id, &branch("renamed")).await.unwrap(), sha(&older));
}

#[tokio::test]
async fn names_with_slashes_are_branches_and_their_folders_are_not() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = repo.commit(&[]);
    let (source, id) = serve(repo.path());
    repo.git(&["branch", "feature/a/b"]);
    repo.git(&["tag", "v1"]);
    for _ in 0..2 {
        assert_eq!(source.head(&id, &branch("feature/a/b")).await.unwrap(), sha(&head));
        for name in [
            "feature",
            "feature/a",
            "feature/a/b/c",
            "main/x",
            "v1",
            "refs/heads/main",
        ] {
            near(&source, &id, name).await;
        }
        repo.git(&["pack-refs", "--all", "--prune"]);
    }
    // A folder that packing left behind does not hide a branch of its name.
    repo.git(&["branch", "--delete", "--force", "feature/a/b"]);
    repo.git(&["branch", "feature"]);
    repo.git(&["pack-refs", "--all", "--prune"]);
    std::fs::create_dir_all(repo.path().join(".git/refs/heads/feature/a")).unwrap();
    assert_eq!(source.head(&id, &branch("feature")).await.unwrap(), sha(&head));
}

#[tokio::test]
async fn symbolic_references_are_followed_but_not_in_circles() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = repo.commit(&[]);
    let (source, id) = serve(repo.path());
    repo.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    assert_eq!(source.head(&id, &branch("alias")).await.unwrap(), sha(&head));
    repo.git(&["symbolic-ref", "refs/heads/dangling", "refs/heads/nowhere"]);
    near(&source, &id, "dangling").await;
    repo.git(&["symbolic-ref", "refs/heads/one", "refs/heads/two"]);
    repo.git(&["symbolic-ref", "refs/heads/two", "refs/heads/one"]);
    let heads = repo.path().join(".git/refs/heads");
    std::fs::write(heads.join("outside"), "ref: ../../etc/passwd\n").unwrap();
    std::fs::write(heads.join("upwards"), "ref: refs/../../../etc/passwd\n").unwrap();
    std::fs::write(heads.join("empty"), "").unwrap();
    std::fs::write(heads.join("short"), "abc1234\n").unwrap();
    for name in ["one", "outside", "upwards", "empty", "short"] {
        let answer = source.head(&id, &branch(name)).await;
        assert!(matches!(answer, Err(SourceError::Unreachable(_))), "{name}: {answer:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_named_pipe_in_place_of_a_reference_blocks_no_request() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    repo.commit(&[]);
    let (source, id) = serve(repo.path());
    let pipe = repo.path().join(".git/refs/heads/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    near(&source, &id, "pipe").await;
}

#[tokio::test]
async fn ids_of_a_sha256_repository_are_whole() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &["--object-format=sha256"]);
    let first = repo.commit(&[("a/b", "1")]);
    let second = repo.commit(&[("a/b", "2")]);
    assert_eq!(second.len(), 64);
    let (source, id) = serve(repo.path());
    for _ in 0..2 {
        assert_eq!(source.head(&id, &branch("main")).await.unwrap(), sha(&second));
        let commits = source.recent_commits(&id, &sha(&second), 9).await.unwrap();
        assert_eq!(commits, [sha(&second), sha(&first)]);
        let [file] = source.tree(&id, &sha(&second)).await.unwrap().try_into().unwrap();
        assert_eq!((file.path.as_str(), file.blob.len()), ("a/b", 64));
        let once = GitSource::open_once(repo.path()).unwrap();
        assert_eq!(once.tree(&id, &sha(&second)).await.unwrap(), [file]);
        repo.git(&["gc", "--quiet"]);
    }
}

#[tokio::test]
async fn a_missing_branch_lists_near_names() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    repo.commit(&[]);
    let (source, id) = serve(repo.path());
    for name in ["Feature/Login", "feature/logout", "fix/login", "release-1", "release-2"] {
        repo.git(&["branch", name]);
    }
    assert_eq!(near(&source, &id, "master").await, (vec!["main".to_owned()], false));
    assert_eq!(near(&source, &id, "mian").await.0, ["main"]);
    repo.git(&["pack-refs", "--all"]);
    let (names, _) = near(&source, &id, "feature/login").await;
    assert_eq!(names, ["Feature/Login", "fix/login", "feature/logout"]);
    // A remote that heads are not read from, because another is `origin`.
    repo.git(&["remote", "add", "origin", "https://github.com/a/b"]);
    repo.git(&["remote", "add", "fork", "https://github.com/c/b"]);
    repo.git(&["update-ref", "refs/remotes/fork/feature/login", "HEAD"]);
    for name in ["Feature/Login", "fix/login"] {
        repo.git(&["update-ref", &format!("refs/remotes/origin/{name}"), "HEAD"]);
    }
    let (source, id) = serve(repo.path());
    let (names, _) = near(&source, &id, "feature/login").await;
    assert_eq!(names, ["Feature/Login", "fix/login"]);
}

#[tokio::test]
async fn a_missing_branch_among_fifty_thousand_still_lists_near_names() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = repo.commit(&[]);
    let mut packed = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    for number in 0..50_000 {
        packed.push_str(&format!("{head} refs/heads/topic/{number:05}\n"));
    }
    std::fs::write(repo.path().join(".git/packed-refs"), packed).unwrap();
    let (source, id) = serve(repo.path());
    assert_eq!(source.head(&id, &branch("topic/49999")).await.unwrap(), sha(&head));
    let (names, _) = near(&source, &id, "topic/500000").await;
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("topic/")), "{names:?}");
}

#[tokio::test]
async fn an_empty_repository_has_no_branch_until_its_first_commit() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let (source, id) = serve(repo.path());
    let error = source.head(&id, &branch("main")).await.unwrap_err();
    assert!(error.to_string().ends_with("it has no commits yet"), "{error}");
    assert_eq!(near(&source, &id, "main").await, (Vec::new(), true));
    let head = repo.commit(&[]);
    assert_eq!(source.head(&id, &branch("main")).await.unwrap(), sha(&head));
}

#[tokio::test]
async fn an_unknown_repository_lists_those_that_are_served() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("core"), &[]);
    let (source, id) = serve(repo.path());
    let other = RepoId::parse("https://github.com/a/b").unwrap();
    let error = source.head(&other, &branch("main")).await.unwrap_err();
    assert!(
        matches!(&error, SourceError::UnknownRepository { known, .. } if *known == [id]),
        "{error:?}"
    );
}
