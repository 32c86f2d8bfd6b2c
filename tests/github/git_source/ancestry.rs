use coord_domain::RepoId;
use coord_git::GitSource;
use coord_sources::{Reachable, Source};
use tempfile::tempdir;

use crate::git_source::{serve, sha};
use coord_test_support::git::Repo;

async fn ask(source: &GitSource, repo: &RepoId, ancestor: &str, descendant: &str) -> Reachable {
    source
        .is_ancestor(repo, &sha(ancestor), &sha(descendant))
        .await
        .unwrap()
}

/// `git merge-base --is-ancestor`, by another way.
fn git_reachability(repo: &Repo, ancestor: &str, descendant: &str) -> Reachable {
    let reachable = repo.git(&["rev-list", descendant]);
    if reachable.lines().any(|line| line == ancestor) {
        Reachable::Yes
    } else {
        Reachable::No
    }
}

/// A repository with branches that were merged, one that was not, a root without relation, and clocks that went wrong.
fn tangled(repo: &Repo) -> Vec<String> {
    let mut commits = vec![repo.commit(&[("a", "0")])];
    for round in 0..6 {
        let name = format!("side-{round}");
        repo.git(&["checkout", "--quiet", "-b", &name]);
        commits.push(repo.commit(&[(&name, "1")]));
        commits.push(repo.commit(&[(&name, "2")]));
        repo.git(&["checkout", "--quiet", "main"]);
        commits.push(repo.commit(&[("a", &name)]));
        if round % 2 == 0 {
            repo.git(&["merge", "--quiet", "--no-ff", "--no-edit", &name]);
            commits.push(repo.git(&["rev-parse", "HEAD"]));
        }
    }
    // Made with a clock that starts anew: older, by their dates, than all of their ancestors.
    let skewed = Repo::at(repo.path());
    skewed.git(&["checkout", "--quiet", "-b", "skewed"]);
    commits.push(skewed.commit(&[("s", "1")]));
    commits.push(skewed.commit(&[("s", "2")]));
    repo.git(&["checkout", "--quiet", "--orphan", "unrelated"]);
    commits.push(repo.commit(&[("u", "1")]));
    repo.git(&["checkout", "--quiet", "main"]);
    commits
}

#[tokio::test]
async fn reachability_matches_git() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let commits = tangled(&repo);
    let mut expected = Vec::new();
    for ancestor in &commits {
        for descendant in &commits {
            expected.push((ancestor, descendant, git_reachability(&repo, ancestor, descendant)));
        }
    }
    let loose = serve(repo.path());
    repo.git(&["commit-graph", "write", "--reachable"]);
    let with_graph = serve(repo.path());
    repo.commit(&[("a", "past the graph")]);
    repo.git(&["gc", "--quiet"]);
    let packed = serve(repo.path());
    for (source, id) in [&loose, &with_graph, &packed] {
        // Twice: the second time from memory.
        for _ in 0..2 {
            for &(ancestor, descendant, answer) in &expected {
                assert_eq!(
                    ask(source, id, ancestor, descendant).await,
                    answer,
                    "{ancestor} {descendant}"
                );
            }
        }
    }
}

#[tokio::test]
async fn local_commits_that_contain_the_head_are_not_behind() {
    let temp = tempdir().unwrap();
    let shared = Repo::init(temp.path().join("shared"), &[]);
    let head = shared.commit(&[("a", "1")]);
    shared.git(&["worktree", "add", "--quiet", "--detach", "../agent"]);
    let agent = Repo::at(temp.path().join("agent"));
    let local = agent.commit(&[("a", "2")]);
    let (source, id) = serve(shared.path());
    assert_eq!(ask(&source, &id, &head, &local).await, Reachable::Yes);
    assert_eq!(ask(&source, &id, &local, &head).await, Reachable::No);
}

#[tokio::test]
async fn abbreviated_ids_are_resolved_to_commits() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let first = repo.commit(&[("a", "1")]);
    let second = repo.commit(&[("a", "2")]);
    let (source, id) = serve(repo.path());
    for _ in 0..2 {
        for length in [7, 12, 39] {
            let (old, new) = (&first[..length], &second[..length]);
            assert_eq!(ask(&source, &id, old, new).await, Reachable::Yes);
            assert_eq!(ask(&source, &id, new, old).await, Reachable::No);
            assert_eq!(ask(&source, &id, new, &second).await, Reachable::Yes);
        }
        repo.git(&["gc", "--quiet"]);
    }
    let blob = repo.git(&["rev-parse", "HEAD:a"]);
    let too_long = format!("{second}{}", "0".repeat(24));
    for nothing in ["0123456789", &"0".repeat(40), &blob, &blob[..7], &too_long] {
        assert_eq!(
            ask(&source, &id, nothing, &second).await,
            Reachable::Unknown,
            "{nothing}"
        );
        assert_eq!(
            ask(&source, &id, &second, nothing).await,
            Reachable::Unknown,
            "{nothing}"
        );
    }
    let missing = source.recent_commits(&id, &sha("0123456789"), 3).await;
    assert!(missing.is_err(), "{missing:?}");
}

#[tokio::test]
async fn digits_that_begin_two_commits_are_unknown() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    let head = repo.commit(&[]);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    // Two commits whose ids share 7 digits, found by trying 2 x 10^4 messages; the birthday bound makes one likely.
    let content = |number: u32| {
        let person = "Ada <ada@example.com> 1700000000 +0000";
        format!("tree {tree}\nparent {head}\nauthor {person}\ncommitter {person}\n\n{number}\n")
    };
    let mut known = std::collections::HashMap::new();
    let (one, other) = (0..u32::MAX)
        .find_map(|number| {
            let body = content(number);
            let mut hash = sha1_smol::Sha1::new();
            hash.update(format!("commit {}\0{body}", body.len()).as_bytes());
            let digits = hash.digest().to_string()[..7].to_owned();
            known.insert(digits, number).map(|earlier| (earlier, number))
        })
        .unwrap();
    let made = [one, other].map(|number| {
        let file = temp.path().join("commit");
        std::fs::write(&file, content(number)).unwrap();
        repo.git(&["hash-object", "-t", "commit", "-w", "commit"])
    });
    assert_eq!(made[0][..7], made[1][..7]);
    let (source, id) = serve(repo.path());
    assert_eq!(ask(&source, &id, &head, &made[0][..7]).await, Reachable::Unknown);
    assert_eq!(ask(&source, &id, &head, &made[0]).await, Reachable::Yes);
}

#[tokio::test]
async fn a_shallow_repository_denies_only_what_it_can_see() {
    let temp = tempdir().unwrap();
    let full = Repo::init(temp.path().join("full"), &[]);
    let commits: Vec<String> = (0..6).map(|round| full.commit(&[("a", &round.to_string())])).collect();
    full.git(&["checkout", "--quiet", "-b", "side", &commits[1]]);
    let side = full.commit(&[("b", "1")]);
    full.git(&["checkout", "--quiet", "main"]);
    let url = format!("file://{}", full.path().display());
    let here = Repo::at(temp.path());
    here.git(&["clone", "--quiet", "--depth=3", "--no-single-branch", &url, "shallow"]);
    let shallow = Repo::at(temp.path().join("shallow"));
    let (source, id) = serve(shallow.path());
    assert!(source.opened()[0].shallow);
    assert_eq!(ask(&source, &id, &commits[3], &commits[5]).await, Reachable::Yes);
    // The walk from the older commit meets only what the newer one contains: proven without the missing part.
    assert_eq!(ask(&source, &id, &commits[5], &commits[4]).await, Reachable::No);
    // The tip of the other branch is not among what can be seen, but history is cut before it could be.
    assert_eq!(ask(&source, &id, &side, &commits[5]).await, Reachable::Unknown);
    assert_eq!(
        ask(&source, &id, &commits[0], &commits[5]).await,
        Reachable::Unknown,
        "missing"
    );
    let listed = source.recent_commits(&id, &sha(&commits[5]), 100).await.unwrap();
    assert_eq!(listed, [5, 4, 3].map(|round| sha(&commits[round])));

    // Unknown is not remembered.
    shallow.git(&["fetch", "--quiet", "--unshallow"]);
    assert_eq!(ask(&source, &id, &side, &commits[5]).await, Reachable::No);
    assert_eq!(ask(&source, &id, &commits[0], &commits[5]).await, Reachable::Yes);
}

#[tokio::test]
async fn recent_commits_come_newest_first() {
    let temp = tempdir().unwrap();
    let repo = Repo::init(temp.path(), &[]);
    tangled(&repo);
    let head = repo.git(&["rev-parse", "main"]);
    let (source, id) = serve(repo.path());
    let all: Vec<_> = repo
        .git(&["rev-list", "--date-order", "main"])
        .lines()
        .map(sha)
        .collect();
    let listed = source.recent_commits(&id, &sha(&head[..9]), 1000).await.unwrap();
    assert_eq!(listed, all);
    let three = source.recent_commits(&id, &sha(&head), 3).await.unwrap();
    assert_eq!(three, all[..3]);
    assert!(source.recent_commits(&id, &sha(&head), 0).await.unwrap().is_empty());
}
