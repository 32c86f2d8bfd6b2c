//! The working copy of a call is that of its files.

use serde_json::json;

use super::client::{MESSAGE, action};
use super::{agent, agent_in};
use crate::texts::assert_has;
use coord_test_worlds::world::World;

fn shown(path: &std::path::Path, file: &str) -> String {
    path.join(file).display().to_string()
}

// rule: mcp#working-copy
#[test]
fn a_call_counts_for_the_worktree_that_its_files_are_in() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let worktree = world.worktree("ada");
    worktree.commit(&[("b.txt", "changed")]);
    worktree.git(&["push", "--quiet", "origin", "HEAD:main"]);
    // The process works in the clone, which lacks that commit.
    let mut ada = agent(&world);
    assert_eq!(action(&ada.check(&["a.txt"])), "PULL");
    let in_worktree = shown(worktree.path(), "a.txt");
    assert_eq!(action(&ada.check(&[&in_worktree])), "PROCEED");
    ada.gets_locks(&[&in_worktree]);
    // All worktrees have the same locks.
    let mut bob = agent_in(&world, worktree.path());
    let claim = json!({ "file_paths": ["a.txt"], "agent_id": "bob", "status": "WRITING", "message": MESSAGE });
    let answer = bob.structured("post_status", claim);
    assert_eq!(action(&answer), "WAIT", "{answer}");
}

#[test]
fn a_worktree_inside_of_another_working_copy_counts_by_itself() {
    let world = World::with(&[("a.txt", "a")]);
    let inner = shown(world.clone.path(), ".agents/one");
    let add = ["worktree", "add", "--quiet", "--track", "-b", "one"];
    world.clone.git(&[&add[..], &[&inner, "origin/main"]].concat());
    let mut ada = agent(&world);
    ada.gets_locks(&[".agents/one/a.txt"]);
    assert_eq!(ada.held("?holder=me"), ["a.txt"]);
}

// rule: mcp#working-copy
#[test]
fn files_of_two_working_copies_are_two_calls() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let worktree = world.worktree("ada");
    let files = ["a.txt", &shown(worktree.path(), "b.txt")];
    let result = agent(&world).call("check_status", json!({ "file_paths": files }));
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_has(text, &["are in two working copies", "make a call for each"]);
}

#[test]
fn another_repository_has_another_server() {
    let (here, there) = (World::with(&[("a.txt", "a")]), World::with(&[("a.txt", "a")]));
    let url = "https://github.com/team/other";
    there.clone.git(&["remote", "set-url", "origin", url]);
    let mut ada = agent(&here);
    ada.gets_locks(&["a.txt"]);
    ada.gets_locks(&[&shown(there.clone.path(), "a.txt")]);
    assert!(here.server().is_some() && there.server().is_some());
    assert_ne!(here.server(), there.server());
    let log = ada.end().log;
    assert_eq!(log.matches("its session goes on").count(), 2, "{log}");
}
