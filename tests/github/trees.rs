use coord_git::GitSource;
use coord_sources::{EntryKind, Source, SourceError};

use crate::{config, id, sha, small, source};
use coord_sources::github::GithubSource;
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault};

/// A repository with folders, a symbolic link, a submodule and names that are not UTF-8.
fn varied(repo: &Repo, library: &Repo) -> String {
    library.commit(&[("l", "1")]);
    let names: Vec<String> = (0..60)
        .map(|number| format!("d{}/e{}/f{number}.ts", number % 3, number % 7))
        .collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    files.extend([
        ("src/a.ts", "a"),
        ("src.ts", "b"),
        ("src-x/a.ts", "c"),
        ("src/deep/er/ü.py", "d"),
        ("z", "e"),
    ]);
    repo.commit(&files);
    repo.git(&[
        "submodule",
        "--quiet",
        "add",
        library.path().to_str().unwrap(),
        "vendor/library",
    ]);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        std::os::unix::fs::symlink("src/a.ts", repo.path().join("link")).unwrap();
        let bad = repo.path().join(std::ffi::OsStr::from_bytes(b"bad-\xff.ts"));
        std::fs::write(bad, "x").unwrap();
    }
    repo.git(&["update-index", "--chmod=+x", "z"]);
    repo.commit(&[])
}

#[tokio::test]
async fn a_tree_is_that_of_the_local_source_whole_or_truncated() {
    let temp = tempfile::tempdir().unwrap();
    let library = Repo::init(temp.path().join("library"), &[]);
    let repo = Repo::init(temp.path().join("repo"), &[]);
    let head = sha(&varied(&repo, &library));
    let local = GitSource::open(&[repo.path().to_owned()]).unwrap();
    let expected = local.tree(&local.repositories()[0], &head).await.unwrap();
    for kind in [EntryKind::File, EntryKind::Symlink, EntryKind::Submodule] {
        assert!(expected.iter().any(|entry| entry.kind == kind), "{kind:?}");
    }
    let fake = Fake::serve(repo.path()).await;
    let source = source(&fake);
    for (most, requests) in [(None, 1..=1), (Some(70), 2..=20), (Some(7), 2..=80)] {
        fake.behave(|behavior| behavior.most_tree_entries = most);
        fake.seen();
        assert_eq!(source.tree(&id(), &head).await.unwrap(), expected, "{most:?}");
        let paths = fake.requested_paths();
        assert!(requests.contains(&paths.len()), "{most:?}: {paths:?}");
    }
}

#[tokio::test]
async fn a_tree_in_too_many_pieces_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let names: Vec<String> = (0..40).map(|number| format!("d{number}/f.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let head = sha(&repo.commit(&files));
    let fake = Fake::serve(temp.path()).await;
    fake.behave(|behavior| behavior.most_tree_entries = Some(10));
    let mut few = config(&fake);
    few.limits.tree_requests = 12;
    let mut small = config(&fake);
    small.limits.tree_entries = 12;
    let mut short = config(&fake);
    short.limits.tree_path_bytes = 60;
    for config in [few, small, short] {
        let source = GithubSource::new(config).unwrap();
        let error = source.tree(&id(), &head).await.unwrap_err();
        assert!(matches!(error, SourceError::Unreachable(_)), "{error:?}");
    }
    assert!(fake.requested_paths().len() <= 36 + 2);
    // A folder that is cut off by itself cannot be listed.
    let source = source(&fake);
    let cut = Fault::with(200, &[], r#"{"sha":"0","tree":[],"truncated":true}"#);
    fake.fail("/git/trees/", 9, cut);
    assert!(source.tree(&id(), &head).await.is_err());
}

#[tokio::test]
async fn a_commit_that_is_not_there_is_an_error_and_not_an_empty_tree() {
    let (_temp, _repo, _, fake) = small().await;
    let error = source(&fake).tree(&id(), &sha(&"1".repeat(40))).await.unwrap_err();
    assert!(matches!(error, SourceError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn ids_of_a_sha256_repository_are_whole() {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &["--object-format=sha256"]);
    let names: Vec<String> = (0..50).map(|number| format!("f{number}.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let head = sha(&repo.commit(&files));
    let fake = Fake::serve(temp.path()).await;
    let source = source(&fake);
    assert_eq!(source.head(&id(), &crate::branch("main")).await.unwrap(), head);
    let entries = source.tree(&id(), &head).await.unwrap();
    assert_eq!((entries.len(), entries[0].blob.len()), (50, 64));
    let blobs = entries.iter().map(|entry| entry.blob.clone()).collect();
    let got = crate::read(&source, &id(), blobs, 100).await;
    for (index, entry) in entries.iter().enumerate() {
        assert_eq!(got[&index].as_deref(), Ok(entry.path.as_bytes()));
    }
    assert_eq!(source.requests().downloads, 1);
}
