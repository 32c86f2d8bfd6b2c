//! The branch that tasks land on.

use std::sync::Arc;

use coord_domain::{CommitSha, FilePath};
use coord_settings::policy;
use coord_sources::{Reachable, Source};

use coord_test_support::git::Repo;
use coord_test_worlds::replay::branch::{Base, ReplayedBranch};
use coord_test_worlds::replay::history::History;

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
