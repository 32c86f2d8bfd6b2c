use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coord_sources::{Blob, Reachable, Source};
use tempfile::tempdir;

use crate::git_source::files::read;
use crate::git_source::{branch, serve, sha};
use crate::{blobs, commit_all};
use coord_test_support::git::Repo;

#[tokio::test]
async fn packs_and_fetches_by_other_processes_are_seen() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    let first = repo.commit(&[("a", "0")]);
    let (source, id) = serve(repo.path());
    for round in 1..8 {
        let text = round.to_string();
        let head = repo.commit(&[("a", &text), (&format!("dir/{round}"), &text)]);
        match round % 4 {
            0 => repo.git(&["gc", "--quiet", "--prune=now"]),
            1 => repo.git(&["repack", "--quiet", "-d"]),
            2 => repo.git(&["repack", "--quiet", "-a", "-d", "--write-midx"]),
            _ => String::new(),
        };
        assert_eq!(source.head(&id, &branch("main")).await.unwrap(), sha(&head));
        let answer = source.is_ancestor(&id, &sha(&first), &sha(&head)).await.unwrap();
        assert_eq!(answer, Reachable::Yes);
        let entries = source.tree(&id, &sha(&head)).await.unwrap();
        assert_eq!(entries.len(), round + 1);
        let got = read(&source, &id, vec![entries[0].blob.clone()], 100).await;
        assert_eq!(got[&0].as_deref(), Some(text.as_bytes()));
    }
    // A fetch that brings a pack, into a repository that is being served.
    let clone = temp.path().join("clone");
    Repo::at(temp.path()).git(&["clone", "--quiet", "--bare", "repo", "clone"]);
    let (served, served_id) = serve(&clone);
    let pushed = repo.commit(&[("b", "pushed")]);
    let clone = Repo::at(clone);
    clone.git(&["-c", "fetch.unpackLimit=1", "fetch", "--quiet", "../repo", "main:main"]);
    assert_eq!(served.head(&served_id, &branch("main")).await.unwrap(), sha(&pushed));
    assert_eq!(served.tree(&served_id, &sha(&pushed)).await.unwrap().len(), 9);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_never_fail_while_git_repacks_under_them() {
    let temp = tempdir().unwrap();
    let repo = Arc::new(Repo::init(temp.path(), &[]));
    let files = (0..300).map(|number| (format!("d{}/{number}", number % 9), format!("{number} ").repeat(number)));
    let first = commit_all(&repo, files);
    let (source, id) = serve(repo.path());
    let source = Arc::new(source);
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let (source, id, first, done) = (Arc::clone(&source), id.clone(), sha(&first), Arc::clone(&done));
        readers.spawn(async move {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) || rounds == 0 {
                let head = source.head(&id, &branch("main")).await.unwrap();
                assert_eq!(source.is_ancestor(&id, &first, &head).await.unwrap(), Reachable::Yes);
                assert!(source.recent_commits(&id, &head, 5).await.unwrap().contains(&head));
                let entries = source.tree(&id, &head).await.unwrap();
                let got = read(&*source, &id, blobs(&entries), 1 << 20).await;
                assert_eq!(got.len(), entries.len());
                for (index, entry) in entries.iter().enumerate() {
                    let content = got[&index].as_ref().expect("a blob went missing");
                    let mut hash = sha1_smol::Sha1::new();
                    hash.update(format!("blob {}\0", content.len()).as_bytes());
                    hash.update(content);
                    assert_eq!(hash.digest().to_string(), entry.blob);
                }
                rounds += 1;
            }
        });
    }
    let writer = Arc::clone(&repo);
    tokio::task::spawn_blocking(move || {
        for round in 0..12 {
            writer.commit(&[("changing", &round.to_string())]);
            writer.git(&["pack-refs", "--all", "--prune"]);
            match round % 3 {
                0 => writer.git(&["gc", "--quiet", "--prune=now"]),
                1 => writer.git(&["repack", "--quiet", "-d"]),
                _ => writer.git(&["repack", "--quiet", "-a", "-d", "-F"]),
            };
        }
    })
    .await
    .unwrap();
    done.store(true, Ordering::Relaxed);
    while let Some(reader) = readers.join_next().await {
        reader.unwrap();
    }
}

#[tokio::test]
async fn a_repository_that_is_deleted_is_unreachable() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    let first = sha(&repo.commit(&[("a", "1")]));
    let second = sha(&repo.commit(&[("a", "2")]));
    let (source, id) = serve(repo.path());
    let entries = source.tree(&id, &second).await.unwrap();
    std::fs::remove_dir_all(repo.path()).unwrap();
    assert_fails!(source.head(&id, &branch("main")).await, Unreachable);
    assert_fails!(source.is_ancestor(&id, &first, &second).await, Unreachable);
    assert_fails!(source.recent_commits(&id, &second, 5).await, Unreachable);
    assert_fails!(source.tree(&id, &second).await, Unreachable);
    let sink = Arc::new(|_, _: Blob<'_>| ());
    let answer = source.read_blobs(&id, blobs(&entries[..1]), 10, sink).await;
    assert_fails!(answer, Unreachable);
    // One that is made at its place is another one, which may have another server.
    let again = Repo::init(repo.path(), &[]);
    let head = sha(&again.commit(&[("b", "1")]));
    assert_fails!(source.head(&id, &branch("main")).await, Unreachable);
    assert!(source.lost_reason().is_some());
    let (source, id) = serve(repo.path());
    assert_eq!(source.head(&id, &branch("main")).await.unwrap(), head);
    assert_eq!(source.lost_reason(), None);
}

#[tokio::test]
async fn a_sink_that_fails_is_an_error_and_not_a_crash() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = sha(&repo.commit(&[("a", "1")]));
    let (source, id) = serve(repo.path());
    let blob = source.tree(&id, &head).await.unwrap().remove(0).blob;
    let sink = Arc::new(|_, _: Blob<'_>| panic!("a defect of the caller"));
    let answer = source.read_blobs(&id, vec![blob; 200], 10, sink).await;
    assert_fails!(answer, Unreachable);
}
