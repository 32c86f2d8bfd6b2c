//! Tests of git's facts about a working copy.

use coord_git::WorkingCopy;

use coord_test_worlds::world::World;

/// The branch that the work is for, and the one that is committed to, where it is another.
fn branches(path: &std::path::Path) -> String {
    let (branch, work_branch) = WorkingCopy::containing(path).unwrap().branches().unwrap();
    match work_branch {
        Some(work_branch) => format!("{branch} on {work_branch}"),
        None => branch.to_string(),
    }
}

#[test]
fn the_work_of_a_worktree_is_for_the_upstream_of_another_name_or_for_the_default_branch() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("ada");
    assert_eq!(branches(worktree.path()), "main on ada");
    worktree.git(&["branch", "--unset-upstream"]);
    assert_eq!(branches(worktree.path()), "main on ada");
    worktree.git(&["push", "--quiet", "--set-upstream", "origin", "ada"]);
    assert_eq!(branches(worktree.path()), "main on ada");
    world.clone.git(&["push", "--quiet", "origin", "main:release"]);
    worktree.git(&["fetch", "--quiet"]);
    worktree.git(&["branch", "--set-upstream-to", "origin/release"]);
    assert_eq!(branches(worktree.path()), "release on ada");
    worktree.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(branches(worktree.path()), "main");
    assert_eq!(branches(world.clone.path()), "main");
}

#[test]
fn the_base_is_the_newest_commit_of_the_remote_branch_that_is_contained() {
    let world = World::with(&[("a.txt", "a")]);
    let first = world.clone.git(&["rev-parse", "HEAD"]);
    let worktree = world.worktree("ada");
    worktree.commit(&[("b.txt", "b")]);
    world.clone.commit(&[("c.txt", "c")]);
    world.clone.git(&["push", "--quiet"]);
    let working_copy = WorkingCopy::containing(worktree.path()).unwrap();
    let main = coord_domain::Branch::parse("main").unwrap();
    assert_eq!(working_copy.base_head(&main).map(|base| base.to_string()), Some(first));
    let head = worktree.git(&["rev-parse", "HEAD"]);
    assert_eq!(working_copy.head().map(|head| head.to_string()), Some(head));
}

#[test]
fn a_path_is_one_of_the_repository_however_it_is_written() {
    let world = World::with(&[("src/a.txt", "a")]);
    let root = world.clone.path();
    let source = root.join("src");
    let working_copy = WorkingCopy::containing(&source.join("not/there/yet.txt")).unwrap();
    assert_eq!(working_copy.root(), root.canonicalize().unwrap());
    std::os::unix::fs::symlink(&source, root.join("link")).unwrap();
    for (written, path) in [
        ("a.txt", "src/a.txt"),
        ("./new/file.txt", "src/new/file.txt"),
        ("../src/../b.txt", "b.txt"),
        ("../link/a.txt", "src/a.txt"),
        ("gone/../a.txt", "src/a.txt"),
    ] {
        let found = working_copy.repo_path(&source, written.as_ref());
        assert_eq!(found.as_ref().map(|path| path.as_str()), Ok(path), "{written}");
    }
    let absolute = source.join("a.txt");
    let found = working_copy.repo_path("/".as_ref(), &absolute).unwrap();
    assert_eq!(found.as_str(), "src/a.txt");
    for outside in ["../../x", "/etc/passwd", "../.git/config", "..", "a\nb"] {
        assert!(working_copy.repo_path(&source, outside.as_ref()).is_err(), "{outside}");
    }
}

#[test]
fn settings_are_those_of_git_and_an_empty_one_counts_as_none() {
    let world = World::with(&[("a.txt", "a")]);
    world.clone.git(&["config", "coord.url", "https://coord.example.com"]);
    world.clone.git(&["config", "coord.branch", ""]);
    let working_copy = WorkingCopy::containing(world.clone.path()).unwrap();
    assert_eq!(
        working_copy.setting("coord.url").as_deref(),
        Some("https://coord.example.com")
    );
    assert_eq!(working_copy.setting("coord.branch"), None);
    assert_eq!(working_copy.setting("coord.tokenFile"), None);
}
