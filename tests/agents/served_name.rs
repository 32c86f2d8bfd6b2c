//! In a shared store, a repository without a remote has a separate name, so that it never collides with one of another
//! machine. Commands in the clone find the name by the announcement of its server.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use coord_test_support::redis::empty_database;
use coord_test_support::waiting::block_until;
use serde_json::json;

use crate::commands::{json as json_of, printed};
use crate::hook::claude;
use crate::mcp::{Agent, action};
use crate::texts::assert_has;
use coord_test_worlds::world::World;

/// The `coord serve` of a world, which ends with it.
pub struct Server<'a> {
    world: &'a World,
    process: Child,
}

impl<'a> Server<'a> {
    pub fn start(world: &'a World, store: &[&str]) -> Server<'a> {
        let mut command = world.coord(world.clone.path());
        command
            .args(["serve", "--port", "0"])
            .args(store)
            // This test makes more calls in a minute than one person does.
            .env("COORD_LIMIT_HOLDER_PER_MINUTE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn().unwrap();
        let id = process.id().to_string();
        block_until("the server listens", || world.server().as_deref() == Some(&id));
        Server { world, process }
    }

    /// Its address, as people write it.
    fn url(&self) -> String {
        let announced = std::fs::read_to_string(self.announcement()).unwrap();
        let address = announced.split(' ').next().unwrap();
        address.replace("127.0.0.1", "localhost")
    }

    fn announcement(&self) -> PathBuf {
        self.world.clone.path().join(".git/coord/listening")
    }

    /// Ends it without a word to anybody.
    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_file(self.announcement());
    }
}

fn world() -> World {
    World::without_remote(&[
        ("README.md", "# Shop\n"),
        ("src/auth.ts", "import { query } from './db';\n"),
        ("src/db.ts", "export const query = 1;\n"),
    ])
}

/// The id of the repository, as `coord doctor` shows it; nothing may be wrong.
fn found_well(world: &World) -> String {
    let findings = json_of(world, &["doctor", "--json"], 0);
    let findings = findings.as_array().unwrap();
    let of = |subject: &str| findings.iter().find(|finding| finding["subject"] == subject).unwrap();
    assert_eq!(of("access")["state"], "ok", "{findings:#?}");
    let repository = of("repository")["found"].as_str().unwrap();
    repository.split(' ').next().unwrap().to_owned()
}

/// The commands of people and scripts, each of which has to reach the server and end well.
fn people_are_served(world: &World, url: &str) {
    let run = |args: &[&str]| printed(world, args, 0);
    run(&["check", "src/db.ts"]);
    run(&["check", "src/db.ts", "--url", url]);
    run(&["claim", "src/db.ts", "-m", "Pooling the connections"]);
    let status = json_of(world, &["status", "--json"], 0);
    assert_eq!(status["locks"][0]["file_path"], "src/db.ts", "{status}");
    run(&["wait", "README.md", "--agent", "one"]);
    run(&["release", "README.md", "--agent", "one"]);
    assert!(run(&["log"]).contains("src/db.ts"));
    run(&["intent", "new", "INT-1", "--name", "Pool", "--scope", "src/db.ts"]);
    run(&["intent", "select", "INT-1"]);
    assert!(run(&["intent", "list"]).contains("INT-1"));
    let record = ["ledger", "record", "--kind", "call", "--tool", "test"];
    let more = ["--summary", "Tested it", "--intent", "INT-1"];
    run(&[&record[..], &more].concat());
    assert!(run(&["ledger", "log"]).contains("INT-1"));
    run(&["ledger", "verify"]);
    run(&["map"]);
    run(&["why", "src/db.ts"]);
    run(&["verify", "README.md"]);
    run(&["sync"]);
    run(&["sync", "--check"]);
    run(&["ledger", "verify", ".orchestration/agent_trace.jsonl"]);
    run(&["team", "create", "alpha", "--agent", "lead"]);
    run(&["team", "join", "alpha", "--agent", "one"]);
    assert!(run(&["team", "list"]).contains("alpha"));
    run(&["task", "add", "Pool", "--file", "README.md", "--agent", "lead"]);
    run(&["task", "claim", "t1", "--agent", "one"]);
    assert!(run(&["task", "list"]).contains("t1"));
    run(&["task", "release", "t1", "--abandon", "--agent", "one"]);
    run(&["message", "send", "--to", "one", "Look at t1", "--agent", "lead"]);
    assert!(run(&["message", "read", "--agent", "one"]).contains("Look at t1"));
    run(&["graph", "--stats"]);
    run(&["release", "src/db.ts"]);
}

/// The hooks of git, the hooks of an agent, and its `coord mcp`.
fn agents_are_served(world: &World, name: &str) {
    let claim = ["claim", "README.md", "-m", "Saying how to install it", "--agent", "bob"];
    printed(world, &claim, 0);
    std::fs::write(world.clone.path().join("README.md"), "# The shop\n").unwrap();
    world.clone.git(&["add", "README.md"]);
    printed(world, &["guard", "pre-commit"], 3);
    std::fs::write(world.clone.path().join("message"), "Pool\n").unwrap();
    printed(world, &["guard", "commit-msg", "message"], 0);
    let message = std::fs::read_to_string(world.clone.path().join("message")).unwrap();
    assert!(message.contains("INT-1"), "{message}");

    let (ada, bob) = (claude(world, "ada"), claude(world, "bob"));
    for agent in ["ada", "bob"] {
        printed(world, &["intent", "select", "INT-1", "--agent", agent], 0);
    }
    ada.starts();
    ada.may_edit("src/db.ts");
    ada.may_run("touch made.txt");
    bob.starts();
    assert_has(&bob.may_not_edit("src/db.ts"), &["by 'ada'"]);
    assert_has(&bob.may_not_run("git stash"), &["ada holds src/db.ts"]);
    ada.ends_turn();

    let mut command = world.coord(world.clone.path());
    command.arg("mcp");
    let mut eve = Agent::start(command);
    let claimed = eve.claim(&["new.txt"]);
    assert_eq!(action(&claimed), "PROCEED", "{claimed}");
    let named = json!({ "file_paths": ["new.txt"], "repo_url": name });
    let checked = eve.call("check_status", named)["structuredContent"].clone();
    assert_eq!(checked["status"], "OK", "{checked}");
    assert_eq!(eve.held("?holder=me"), ["new.txt"]);
    let ended = eve.end();
    assert!(ended.log.contains("its session goes on"), "{}", ended.log);
}

#[test]
fn all_commands_in_a_clone_without_a_remote_name_it_as_a_server_with_a_shared_store() {
    let Some(redis) = empty_database() else { return };
    let world = world();
    let mut server = Server::start(&world, &["--redis", &redis]);
    let name = found_well(&world);
    let digits = name.strip_prefix("localhost/local/clone-").expect("a name of its own");
    assert_eq!(digits.len(), 8, "{name}");
    people_are_served(&world, &server.url());
    agents_are_served(&world, &name);

    // The killed server has left its announcement behind, and the next server has a separate store.
    server.kill();
    assert!(server.announcement().exists());
    let _own = Server::start(&world, &[]);
    assert_eq!(found_well(&world), "localhost/local/clone");
}

// rule: servers#repository-id
#[test]
fn all_commands_in_a_clone_without_a_remote_name_it_as_a_server_with_its_own_store() {
    let world = world();
    let server = Server::start(&world, &[]);
    let name = found_well(&world);
    assert_eq!(name, "localhost/local/clone");
    people_are_served(&world, &server.url());
    agents_are_served(&world, &name);
}

#[test]
fn waiting_records_are_sent_under_the_next_servers_repository_name() {
    let Some(redis) = empty_database() else { return };
    let world = world();
    let server = Server::start(&world, &["--redis", &redis]);
    let new = ["intent", "new", "INT-1", "--name", "Pool", "--scope", "src/db.ts"];
    printed(&world, &new, 0);
    printed(&world, &["intent", "select", "INT-1", "--agent", "ada"], 0);
    let ada = claude(&world, "ada");
    ada.starts();
    ada.may_edit("src/db.ts");
    drop(server);
    std::fs::write(world.clone.path().join("src/db.ts"), "export const query = 2;\n").unwrap();
    ada.has_edited("src/db.ts");
    let spool = world.clone.path().join(".git/coord/ledger-spool.jsonl");
    let waiting = std::fs::read_to_string(&spool).unwrap();
    assert!(waiting.contains(r#""https://localhost/local/clone""#), "{waiting}");
    let _server = Server::start(&world, &["--redis", &redis]);
    ada.may_run("touch made.txt");
    ada.has_run("touch made.txt");
    assert_eq!(std::fs::read_to_string(&spool).unwrap(), "");
    assert_has(&printed(&world, &["ledger", "log"], 0), &["src/db.ts"]);
}
