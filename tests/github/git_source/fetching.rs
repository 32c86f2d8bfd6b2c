//! Clones that are kept current.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use coord_git::GitSource;
use coord_serve::fetch::keep_current;
use coord_sources::Source;
use tempfile::tempdir;

use crate::git_source::{branch, sha};
use coord_test_support::git::Repo;
use coord_test_support::waiting;

#[tokio::test]
async fn a_fetching_clone_learns_what_others_push_until_it_is_stopped() {
    let temp = tempdir().unwrap();
    Repo::init(temp.path().join("hub.git"), &["--bare"]);
    let here = Repo::at(temp.path());
    here.git(&["clone", "--quiet", "hub.git", "agent"]);
    let agent = Repo::at(temp.path().join("agent"));
    agent.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let first = agent.commit(&[("a", "1")]);
    agent.git(&["push", "--quiet", "origin", "main"]);
    here.git(&["clone", "--quiet", "hub.git", "served"]);
    let source = Arc::new(GitSource::open(&[temp.path().join("served")]).unwrap());
    let [repo] = source.repositories().try_into().unwrap();
    assert_eq!(source.remotes(&repo).unwrap(), ["origin"]);
    let pushed = agent.commit(&[("a", "2")]);
    agent.git(&["push", "--quiet", "origin", "main"]);
    assert_eq!(source.head(&repo, &branch("main")).await.unwrap(), sha(&first));

    let fetches = Arc::new(AtomicUsize::new(0));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let until = async move {
        let _ = stopped.await;
    };
    let count = Arc::clone(&fetches);
    let fetched = move || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let keeping = tokio::spawn(keep_current(
        Arc::clone(&source),
        Duration::from_millis(20),
        until,
        fetched,
    ));
    let wait_for = async |commit: &str| {
        let commit = sha(commit);
        let is_there = async || source.head(&repo, &branch("main")).await.unwrap() == commit;
        waiting::until("the commit is fetched", is_there).await;
    };
    wait_for(&pushed).await;
    let again = agent.commit(&[("a", "3")]);
    agent.git(&["push", "--quiet", "origin", "main"]);
    wait_for(&again).await;
    assert!(
        !temp.path().join("served/.git/FETCH_HEAD").exists(),
        "what the user fetched last is left alone"
    );
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(60), keeping)
        .await
        .unwrap()
        .unwrap();
    // The second may have been under way when it was stopped.
    assert!(fetches.load(Ordering::Relaxed) >= 1);
}
