//! Fields that an agent may omit.

use coord_test_support::waiting::block_until;
use serde_json::json;

use super::client::{Agent, MESSAGE, action};
use super::{agent, agent_in};
use coord_test_worlds::world::{REPO_URL, World};

// rule: mcp#filled-in
#[test]
fn repository_branch_commits_and_agent_are_filled_in() {
    let world = World::with(&[("src/a.txt", "a"), ("src/b.txt", "b")]);
    let mut ada = agent_in(&world, &world.clone.path().join("src"));
    let claimed = ada.claim(&["a.txt", "../src/new/c.txt"]);
    assert_eq!(action(&claimed), "PROCEED", "{claimed}");
    let absolute = world.clone.path().join("src/b.txt").display().to_string();
    assert_eq!(action(&ada.claim(&[&absolute])), "PROCEED");
    let locks = ada.read("coord://locks?holder=me");
    let locks = locks["locks"].as_array().unwrap();
    let paths: Vec<_> = locks.iter().map(|lock| lock["file_path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["src/a.txt", "src/b.txt", "src/new/c.txt"]);
    for lock in locks {
        assert_eq!(lock["branch"], "main");
        assert!(lock["agent_id"].as_str().unwrap().starts_with("test-client-"), "{lock}");
    }
}

#[test]
fn a_release_has_the_commit_that_was_pushed() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut ada = agent(&world);
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
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
    let claimed = ada.call("post_status", about)["structuredContent"].clone();
    assert_eq!(action(&claimed), "PROCEED", "{claimed}");
    let locks = ada.read("coord://locks");
    assert_eq!(locks["locks"][0]["agent_id"], "the-second");
    assert_eq!(locks["locks"][0]["branch"], "next");
    assert_eq!(ada.held("?holder=me"), [""; 0]);
    assert_eq!(ada.held("?holder=me&agent_id=the-second"), ["a.txt"]);
    // Another repository is asked for by its own name, and is not served here.
    let other = json!({ "file_paths": ["x/y.txt"], "repo_url": "https://github.com/team/other", "branch": "main",
        "agent_head": "0000000000000000000000000000000000000001" });
    let answer = ada.call("check_status", other)["structuredContent"].clone();
    assert_eq!(answer["error"], "UNKNOWN_REPOSITORY", "{answer}");
    assert_eq!(action(&answer), "STOP");
}

// rule: commands#configuration
#[test]
fn the_agent_and_the_branch_of_the_environment_take_precedence() {
    let world = World::with(&[("a.txt", "a")]);
    world.clone.git(&["push", "--quiet", "origin", "main:next"]);
    let mut command = world.coord(world.clone.path());
    command
        .arg("mcp")
        .env("COORD_AGENT", "number-7")
        .env("COORD_BRANCH", "next");
    let mut ada = Agent::start(command);
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    let locks = ada.read("coord://locks?holder=me");
    assert_eq!(locks["locks"][0]["agent_id"], "number-7");
    assert_eq!(locks["locks"][0]["branch"], "next");
}

#[test]
fn two_processes_of_one_agent_are_one_holder() {
    let world = World::with(&[("a.txt", "a")]);
    // Both have the process of this test above them.
    let (mut first, mut second) = (agent(&world), agent(&world));
    assert_eq!(action(&first.claim(&["a.txt"])), "PROCEED");
    assert_eq!(action(&second.claim(&["a.txt"])), "PROCEED");
    assert_eq!(second.held("?holder=me"), ["a.txt"]);
}

#[test]
fn resources_are_those_of_the_working_copy() {
    let world = World::with(&[("src/a.ts", "import './b';"), ("src/b.ts", "export {};")]);
    let mut ada = agent_in(&world, &world.clone.path().join("src"));
    assert_eq!(action(&ada.claim(&["a.ts"])), "PROCEED");
    assert_eq!(ada.held(""), ["src/a.ts"]);
    assert_eq!(ada.held("?branch=other"), [""; 0]);
    block_until("the graph is built", || {
        ada.read("coord://graph/a.ts")["state"] == "ready"
    });
    let graph = ada.read("coord://graph/a.ts?depth=1");
    assert_eq!(graph["focus"]["path"], "src/a.ts", "{graph}");
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 2, "{graph}");
    let error = ada
        .try_ask("resources/read", json!({ "uri": "coord://graph/gone.ts" }))
        .unwrap_err();
    assert_eq!(error["data"]["error"], "UNKNOWN_FILE", "{error}");
}

#[test]
fn activity_is_that_of_the_repository() {
    let world = World::with(&[("a.txt", "a")]);
    let mut ada = agent(&world);
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    let activity = ada.read("coord://activity?branch=main");
    assert!(
        activity["events"]
            .as_array()
            .unwrap()
            .iter()
            .any(|event| event["type"] == "lock_granted"),
        "{activity}"
    );
}

#[test]
fn a_task_claims_its_files_and_releases_them_once_they_are_pushed() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut ada = agent(&world);
    let mut call = |name: &str, arguments: serde_json::Value| {
        let answer = ada.call(name, arguments);
        answer["structuredContent"].clone()
    };
    call("team", json!({ "action": "create", "team": "alpha", "handle": "ada" }));
    let tasks = json!([{ "title": "Change it", "files": ["a.txt"] }, { "title": "Another", "files": ["b.txt"] }]);
    call("task_create", json!({ "tasks": tasks }));
    let claimed = call("task_claim", json!({}));
    assert_eq!(
        (&claimed["task"]["id"], &claimed["locks"]["a.txt"]["message"]),
        (&json!("t1"), &json!("t1: Change it")),
        "{claimed}"
    );
    world.clone.commit(&[("a.txt", "changed")]);
    let refused = call("task_update", json!({ "id": "t1", "action": "complete" }));
    assert_eq!(
        (action(&refused), &refused["error"]),
        ("PUSH", &json!("NOT_PUSHED")),
        "{refused}"
    );
    world.clone.git(&["push", "--quiet"]);
    let done = call("task_update", json!({ "id": "t1", "action": "complete" }));
    assert_eq!(
        (action(&done), &done["task"]["status"]),
        ("PROCEED", &json!("completed")),
        "{done}"
    );
    call("task_claim", json!({ "id": "t2" }));
    let released = call(
        "task_update",
        json!({ "id": "t2", "action": "release", "abandon": true }),
    );
    assert_eq!(action(&released), "PROCEED", "{released}");
    assert_eq!(ada.held("?holder=me"), [""; 0]);
}
