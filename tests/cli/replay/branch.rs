//! The branch that tasks land on.

use std::sync::Arc;

use coord_domain::{Branch, CommitSha, FilePath};
use coord_settings::policy;
use coord_sources::{Reachable, Source, SourceError};

use super::bench::branch::{Base, ReplayedBranch, work_branch};
use super::bench::history::History;
use coord_test_support::git::Repo;

#[tokio::test]
async fn a_file_is_as_the_latest_commit_that_has_landed_left_it() {
    let folder = tempfile::tempdir().unwrap();
    let git = Repo::init(folder.path(), &[]);
    for files in [
        [("a", "0"), ("b", "0")],
        [("a", "1"), ("b", "0")],
        [("a", "2"), ("b", "2")],
    ] {
        git.commit(&files);
    }
    let history = History::read(folder.path(), "main", 2).unwrap();
    let base = Arc::new(Base::open(folder.path(), &history).await.unwrap());
    let branch = ReplayedBranch::new(Arc::clone(&base), "ttl_seconds = 60".to_owned());
    let (repo, first) = (base.repo().clone(), branch.tip());
    let read = async |head: &CommitSha| {
        let mut read = String::new();
        for entry in branch.tree(&repo, head).await.unwrap() {
            if entry.path != policy::PATH {
                read += &String::from_utf8(base.read(&entry.blob, 9).await.unwrap().unwrap()).unwrap();
            }
        }
        read
    };
    // The later one lands first; the earlier one changes nothing any more.
    let second = branch.land(1, &history.tasks[1]);
    assert_eq!(
        branch.change(0, "a", &history.tasks[0]).0,
        branch.change(0, "a", &history.tasks[0]).1
    );
    let third = branch.land(0, &history.tasks[0]);
    assert_eq!(
        (read(&first).await, read(&second).await, read(&third).await),
        ("00".into(), "22".into(), "22".into())
    );

    let paths = [FilePath::parse("a").unwrap(), FilePath::parse("none").unwrap()];
    let compared = branch.compare(&repo, &first, &second, &paths).await.unwrap();
    assert_eq!(
        (compared.descends, compared.same),
        (Reachable::Yes, vec![Some(false), Some(true)])
    );
    let compared = branch.compare(&repo, &third, &second, &paths).await.unwrap();
    assert_eq!(
        (compared.descends, compared.same),
        (Reachable::No, vec![Some(true), Some(true)])
    );
    assert_eq!(branch.recent_commits(&repo, &third, 2).await.unwrap(), [third, second]);
}

#[tokio::test]
async fn a_work_branch_has_the_change_of_its_task_until_it_is_merged() {
    let folder = tempfile::tempdir().unwrap();
    let git = Repo::init(folder.path(), &[]);
    for files in [
        [("a", "0"), ("b", "0")],
        [("a", "1"), ("b", "0")],
        [("a", "1"), ("b", "2")],
    ] {
        git.commit(&files);
    }
    let history = History::read(folder.path(), "main", 2).unwrap();
    let base = Arc::new(Base::open(folder.path(), &history).await.unwrap());
    let branch = ReplayedBranch::new(Arc::clone(&base), String::new());
    let (repo, first) = (base.repo().clone(), branch.tip());
    let work_branch = Branch::parse(&work_branch(0)).unwrap();
    let head = async || branch.head(&repo, &work_branch).await;
    assert!(matches!(head().await, Err(SourceError::UnknownBranch { .. })));

    let work = branch.push(0, &history.tasks[0], &first).unwrap();
    assert_eq!(head().await.unwrap(), work);
    let second = branch.land(1, &history.tasks[1]);
    let reaches = async |one: &CommitSha, other: &CommitSha| branch.is_ancestor(&repo, one, other).await.unwrap();
    assert_eq!(reaches(&first, &work).await, Reachable::Yes);
    assert_eq!(reaches(&second, &work).await, Reachable::No);
    assert_eq!(reaches(&work, &second).await, Reachable::No);
    let paths = ["a", "b"].map(|path| FilePath::parse(path).unwrap());
    let compared = branch.compare(&repo, &first, &work, &paths).await.unwrap();
    assert_eq!(compared.same, [Some(false), Some(true)]);
    let compared = branch.compare(&repo, &second, &work, &paths).await.unwrap();
    assert_eq!(
        (compared.descends, compared.same),
        (Reachable::No, vec![Some(false); 2])
    );
    let commits = branch.recent_commits(&repo, &work, 9).await.unwrap();
    assert_eq!(commits, [work.clone(), first]);

    let merged = branch.land(0, &history.tasks[0]);
    assert_eq!(reaches(&work, &merged).await, Reachable::Yes);
    assert!(head().await.is_err(), "it is deleted");
    let files = branch.blobs_at(&repo, &merged, &paths).await.unwrap();
    assert_eq!(files[0], branch.blobs_at(&repo, &work, &paths).await.unwrap()[0]);
    assert_eq!(files[1], branch.blobs_at(&repo, &second, &paths).await.unwrap()[1]);
}
