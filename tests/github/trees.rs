use coord_git::GitSource;
use coord_sources::{EntryKind, Source};

use crate::{blobs, commit_all, config, id, main_head, read, sha, small, source};
use coord_sources::github::GithubSource;
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault};

/// A repository with folders, a symbolic link, a submodule and names that are not UTF-8.
fn varied(repo: &Repo, library: &Repo) -> String {
    library.commit(&[("l", "1")]);
    let numbered = (0..60).map(|number| format!("d{}/e{}/f{number}.ts", number % 3, number % 7));
    commit_all(repo, numbered.map(|name| (name, "x".to_owned())));
    repo.commit(&[
        ("src/a.ts", "a"),
        ("src.ts", "b"),
        ("src-x/a.ts", "c"),
        ("src/deep/er/ü.py", "d"),
        ("z", "e"),
    ]);
    let library = library.path().to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", library, "vendor/library"]);
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
    let files = (0..40).map(|number| (format!("d{number}/f.ts"), "x".to_owned()));
    let head = sha(&commit_all(&repo, files));
    let fake = Fake::serve(temp.path()).await;
    fake.behave(|behavior| behavior.most_tree_entries = Some(10));
    let [mut few, mut small, mut short] = [config(&fake), config(&fake), config(&fake)];
    few.limits.tree_requests = 12;
    small.limits.tree_entries = 12;
    short.limits.tree_path_bytes = 60;
    for config in [few, small, short] {
        let source = GithubSource::new(config).unwrap();
        assert_fails!(source.tree(&id(), &head).await, Unreachable);
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
    let missing = sha(&"1".repeat(40));
    assert_fails!(source(&fake).tree(&id(), &missing).await, Unreachable);
}

#[tokio::test]
async fn ids_of_a_sha256_repository_are_whole() {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path(), &["--object-format=sha256"]);
    let names = (0..50).map(|number| format!("f{number}.ts"));
    let head = sha(&commit_all(&repo, names.map(|name| (name.clone(), name))));
    let fake = Fake::serve(temp.path()).await;
    let source = source(&fake);
    assert_eq!(main_head(&source).await.unwrap(), head);
    let entries = source.tree(&id(), &head).await.unwrap();
    assert_eq!((entries.len(), entries[0].blob.len()), (50, 64));
    let got = read(&source, &id(), blobs(&entries), 100).await;
    for (index, entry) in entries.iter().enumerate() {
        assert_eq!(got[&index].as_deref(), Ok(entry.path.as_bytes()));
    }
    assert_eq!(fake.download_count(), 1);
}
