use coord_domain::FilePath;
use coord_sources::{Reachable, Source};

use crate::{id, main_head, sha, small, source};

#[tokio::test]
async fn relations_of_commits_match_git_and_are_requested_once() {
    let (_temp, repo, first, fake) = small().await;
    let second = repo.commit(&[("b", "1")]);
    repo.git(&["checkout", "--quiet", "-b", "side", &first]);
    let side = repo.commit(&[("c", "1")]);
    repo.git(&["checkout", "--quiet", "--orphan", "other"]);
    let orphan = repo.commit(&[("d", "1")]);
    let source = source(&fake);
    let missing = "1".repeat(40);
    let table = [
        (&first, &second, Reachable::Yes),
        (&second, &first, Reachable::No),
        (&side, &second, Reachable::No),
        (&first, &side, Reachable::Yes),
        (&orphan, &second, Reachable::Unknown),
        (&missing, &second, Reachable::Unknown),
        (&second, &missing, Reachable::Unknown),
    ];
    let ask = async |ancestor: &str, descendant: &str| {
        let answer = source.is_ancestor(&id(), &sha(ancestor), &sha(descendant)).await;
        answer.unwrap()
    };
    for _ in 0..3 {
        for (ancestor, descendant, expected) in table {
            assert_eq!(ask(ancestor, descendant).await, expected, "{ancestor} {descendant}");
        }
    }
    // The first two are one question.
    assert_eq!(fake.requested_paths().len(), table.len() - 1);
    assert_eq!(ask(&first, &first).await, Reachable::Yes);
    assert!(fake.requested_paths().is_empty());
    // The commit that an abbreviation stands for may change.
    for _ in 0..2 {
        assert_eq!(ask(&first[..9], &second).await, Reachable::Yes);
    }
    let target = format!("/compare/{}...{second}?per_page=1&page=2", &first[..9]);
    assert_eq!(fake.requested_paths(), [target.clone(), target]);
}

#[tokio::test]
async fn a_changed_file_is_found_in_every_spelling_of_its_name() {
    let (_temp, repo, _, fake) = small().await;
    let tracked = ["gro\u{308}\u{df}e.ts", "o\u{308}.ts", "u\u{308}.ts"];
    let base = repo.commit(&tracked.map(|path| (path, "A text of some length, so that a move of it is seen.\n")));
    repo.git(&["rm", "--quiet", tracked[1]]);
    repo.git(&["mv", tracked[2], "moved.ts"]);
    let tip = repo.commit(&[(tracked[0], "2")]);
    let source = source(&fake);
    let paths = ["gr\u{f6}\u{df}e.ts", "\u{f6}.ts", "\u{fc}.ts", "src/a.ts"].map(|path| FilePath::parse(path).unwrap());
    let compared = source.compare(&id(), &sha(&base), &sha(&tip), &paths).await.unwrap();
    assert_eq!(compared.same, [Some(false), Some(false), Some(false), Some(true)]);
    let blob = |path: &str| repo.git(&["rev-parse", &format!("HEAD:{path}")]);
    let gone = || Some(String::new());
    assert_eq!(compared.blobs, [Some(blob(tracked[0])), gone(), gone(), None]);
    let blobs = source.blobs_at(&id(), &sha(&tip), &paths).await.unwrap();
    assert_eq!(blobs, [Some(blob(tracked[0])), None, None, Some(blob("src/a.ts"))]);
}

#[tokio::test]
async fn recent_commits_are_listed_newest_first_over_several_pages() {
    let (_temp, repo, _, fake) = small().await;
    for _ in 0..149 {
        repo.git(&["commit", "--quiet", "--allow-empty", "--message", "More"]);
    }
    let source = source(&fake);
    let head = main_head(&source).await.unwrap();
    let log = repo.git(&["rev-list", "HEAD"]);
    let expected: Vec<_> = log.lines().map(sha).collect();
    for (limit, requests) in [(7, 1), (200, 2), (150, 0), (9, 0), (0, 0)] {
        fake.seen();
        let commits = source.recent_commits(&id(), &head, limit).await.unwrap();
        assert_eq!(commits, expected[..limit.min(150)]);
        assert_eq!(fake.requested_paths().len(), requests, "{limit}");
    }
    let missing = sha(&"1".repeat(40));
    assert_fails!(source.recent_commits(&id(), &missing, 5).await, Unreachable);
}
