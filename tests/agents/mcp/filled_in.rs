//! Fields that an agent may omit.

use coord_test_support::waiting::block_until;
use serde_json::{Value, json};

use super::client::{Agent, MESSAGE, action};
use super::{agent, agent_in, mcp};
use coord_test_worlds::world::{REPO_URL, World};

/// The holder and the branch of the first lock that `uri` shows.
fn holder(agent: &mut Agent, uri: &str) -> Value {
    let lock = agent.read(uri)["locks"][0].clone();
    json!([lock["agent_id"], lock["branch"]])
}

// rule: mcp#filled-in
#[test]
fn repository_branch_commits_and_agent_are_filled_in() {
    let world = World::with(&[("src/a.txt", "a"), ("src/b.txt", "b")]);
    let mut ada = agent_in(&world, &world.clone.path().join("src"));
    ada.gets_locks(&["a.txt", "../src/new/c.txt"]);
    let absolute = world.clone.path().join("src/b.txt").display().to_string();
    ada.gets_locks(&[&absolute]);
    let mine = "?holder=me";
    assert_eq!(ada.held(mine), ["src/a.txt", "src/b.txt", "src/new/c.txt"]);
    let locks = ada.read(&format!("coord://locks{mine}"));
    for lock in locks["locks"].as_array().unwrap() {
        assert_eq!(lock["branch"], "main");
        assert!(lock["agent_id"].as_str().unwrap().starts_with("test-client-"), "{lock}");
    }
}

#[test]
fn a_release_has_the_commit_that_was_pushed() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut ada = agent(&world);
    ada.gets_locks(&["a.txt"]);
    world.clone.commit(&[("a.txt", "changed")]);
    let refused = ada.post(&["a.txt"], "OPEN", MESSAGE);
    assert_eq!(action(&refused), "PUSH", "{refused}");
    world.clone.git(&["push", "--quiet"]);
    // The clone is behind what it has pushed, as after a checkout of an older commit.
    let worktree = world.worktree("bob");
    worktree.commit(&[("b.txt", "changed")]);
    worktree.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let released = ada.post(&["a.txt"], "OPEN", MESSAGE);
    assert_eq!(released["success"], true, "{released}");
    assert_eq!(ada.held("?holder=me"), [""; 0]);
}

#[test]
fn commits_that_are_not_pushed_do_not_make_an_agent_stale() {
    let world = World::with(&[("a.txt", "a")]);
    let mut ada = agent(&world);
    world.clone.commit(&[("a.txt", "changed")]);
    assert_eq!(ada.check(&["a.txt"])["status"], "OK");
    let worktree = world.worktree("bob");
    worktree.git(&["push", "--quiet", "origin", "HEAD:main"]);
    worktree.commit(&[("b.txt", "b")]);
    worktree.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let stale = ada.check(&["a.txt"]);
    assert_eq!((&stale["status"], action(&stale)), (&json!("STALE"), "PULL"), "{stale}");
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    assert_eq!(ada.check(&["a.txt"])["status"], "OK");
}

// rule: mcp#filled-in
#[test]
fn arguments_that_an_agent_sends_are_accepted() {
    let world = World::with(&[("a.txt", "a")]);
    world.clone.git(&["push", "--quiet", "origin", "main:next"]);
    let mut ada = agent(&world);
    let about = json!({ "file_paths": ["a.txt"], "repo_url": REPO_URL, "branch": "next", "agent_id": "the-second",
        "status": "WRITING", "message": MESSAGE });
    let claimed = ada.structured("post_status", about);
    assert_eq!(action(&claimed), "PROCEED", "{claimed}");
    assert_eq!(holder(&mut ada, "coord://locks"), json!(["the-second", "next"]));
    assert_eq!(ada.held("?holder=me"), [""; 0]);
    assert_eq!(ada.held("?holder=me&agent_id=the-second"), ["a.txt"]);
    // Another repository is asked for by its own name, and is not served here.
    let other = json!({ "file_paths": ["x/y.txt"], "repo_url": "https://github.com/team/other", "branch": "main",
        "agent_head": "0000000000000000000000000000000000000001" });
    let answer = ada.structured("check_status", other);
    assert_eq!(answer["error"], "UNKNOWN_REPOSITORY", "{answer}");
    assert_eq!(action(&answer), "STOP");
}

// rule: commands#configuration
#[test]
fn the_agent_and_the_branch_of_the_environment_take_precedence() {
    let world = World::with(&[("a.txt", "a")]);
    world.clone.git(&["push", "--quiet", "origin", "main:next"]);
    let mut command = mcp(&world, &[]);
    command.env("COORD_AGENT", "number-7").env("COORD_BRANCH", "next");
    let mut ada = Agent::start(command);
    ada.gets_locks(&["a.txt"]);
    assert_eq!(holder(&mut ada, "coord://locks?holder=me"), json!(["number-7", "next"]));
}

#[test]
fn two_processes_of_one_agent_are_one_holder() {
    let world = World::with(&[("a.txt", "a")]);
    // Both have the process of this test above them.
    let (mut first, mut second) = (agent(&world), agent(&world));
    first.gets_locks(&["a.txt"]);
    second.gets_locks(&["a.txt"]);
    assert_eq!(second.held("?holder=me"), ["a.txt"]);
}

#[test]
fn resources_and_activity_are_those_of_the_working_copy() {
    let world = World::with(&[("src/a.ts", "import './b';"), ("src/b.ts", "export {};")]);
    let mut ada = agent_in(&world, &world.clone.path().join("src"));
    ada.gets_locks(&["a.ts"]);
    assert_eq!(ada.held(""), ["src/a.ts"]);
    assert_eq!(ada.held("?branch=other"), [""; 0]);
    let activity = ada.read("coord://activity?branch=main");
    let mut events = activity["events"].as_array().unwrap().iter();
    assert!(events.any(|event| event["type"] == "lock_granted"), "{activity}");
    block_until("the graph is built", || {
        ada.read("coord://graph/a.ts")["state"] == "ready"
    });
    let graph = ada.read("coord://graph/a.ts?depth=1");
    assert_eq!(graph["focus"]["path"], "src/a.ts", "{graph}");
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 2, "{graph}");
    let gone = json!({ "uri": "coord://graph/gone.ts" });
    let error = ada.try_ask("resources/read", gone).unwrap_err();
    assert_eq!(error["data"]["error"], "UNKNOWN_FILE", "{error}");
}

#[test]
fn a_task_claims_its_files_and_releases_them_once_they_are_pushed() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut ada = agent(&world);
    ada.call("team", json!({ "action": "create", "team": "alpha", "handle": "ada" }));
    let tasks = json!([{ "title": "Change it", "files": ["a.txt"] }, { "title": "Another", "files": ["b.txt"] }]);
    ada.call("task_create", json!({ "tasks": tasks }));
    let claimed = ada.structured("task_claim", json!({}));
    assert_eq!(claimed["task"]["id"], "t1", "{claimed}");
    assert_eq!(claimed["locks"]["a.txt"]["message"], "t1: Change it", "{claimed}");
    world.clone.commit(&[("a.txt", "changed")]);
    let complete = json!({ "id": "t1", "action": "complete" });
    let refused = ada.structured("task_update", complete.clone());
    assert_eq!(action(&refused), "PUSH", "{refused}");
    assert_eq!(refused["error"], "NOT_PUSHED", "{refused}");
    world.clone.git(&["push", "--quiet"]);
    let done = ada.structured("task_update", complete);
    assert_eq!(action(&done), "PROCEED", "{done}");
    assert_eq!(done["task"]["status"], "completed", "{done}");
    ada.call("task_claim", json!({ "id": "t2" }));
    let release = json!({ "id": "t2", "action": "release", "abandon": true });
    let released = ada.structured("task_update", release);
    assert_eq!(action(&released), "PROCEED", "{released}");
    assert_eq!(ada.held("?holder=me"), [""; 0]);
}
