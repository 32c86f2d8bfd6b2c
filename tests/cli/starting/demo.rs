//! `coord demo`.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use coord_test_support::waiting::block_until;
use serde_json::Value;

use crate::starting::get;

/// A `coord demo`, killed when dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The members `name` of a list of JSON objects.
fn members(list: &Value, name: &str) -> Vec<String> {
    let members = list.as_array().into_iter().flatten();
    let mut members: Vec<String> = members
        .filter_map(|one| one[name].as_str().map(str::to_owned))
        .collect();
    members.sort_unstable();
    members
}

#[test]
fn four_agents_work_wait_and_are_blocked_until_ctrl_c_which_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(crate::COORD);
    command
        .args(["demo", "--port", "0"])
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .env("XDG_STATE_HOME", folder.path().join("state"))
        // The user's own settings are for the user's own repositories.
        .env("COORD_URL", "http://127.0.0.1:9")
        .env("COORD_REPOSITORIES", "acme/*")
        .env("COORD_AGENT", "somebody")
        .stdout(Stdio::piped());
    let mut demo = Demo(command.spawn().expect("coord starts"));
    let mut output = BufReader::new(demo.0.stdout.take().expect("its output"));
    let lines = output.by_ref().lines().map_while(Result::ok);
    let address = lines
        .map(|line| line.trim().to_owned())
        .find(|line| line.starts_with("http://"));
    let address = address.expect("an address");
    let (place, shown) = address["http://".len()..].split_once("/?").expect("a page");
    assert_eq!(shown, "repo_url=https://localhost/local/shop&branch=main");
    let get = |path: &str| -> Value {
        let answer = get(place, path, "").expect("it listens");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).unwrap_or_default()
    };
    let served = get("/served.json");
    assert_eq!(served["repositories"][0]["repo_url"], "https://localhost/local/shop");
    let locks = || get("/api/locks?repo_url=https://localhost/local/shop");
    block_until("all four have begun", || {
        members(&locks()["waiting"], "agent_id").len() == 2
    });
    let now = locks();
    assert_eq!(
        members(&now["locks"], "file_path"),
        ["src/db.ts", "src/ui/cart.ts", "src/ui/theme.ts"]
    );
    assert_eq!(members(&now["waiting"], "agent_id"), ["bob", "cleo"]);
    let tasks = get("/api/tasks?repo_url=https://localhost/local/shop&team=checkout");
    assert_eq!(tasks["tasks"].as_array().map(Vec::len), Some(8), "{tasks}");
    let messages = get("/api/messages?repo_url=https://localhost/local/shop&team=checkout");
    assert_eq!(members(&messages["messages"], "from"), ["ada", "bob"], "{messages}");

    let number = demo.0.id().to_string();
    let stopped = Command::new("kill").args(["-INT", &number]).status().expect("a signal");
    assert!(stopped.success());
    assert_eq!(demo.0.wait().expect("an end").code(), Some(0));
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("text");
    assert!(rest.contains("The demo is over."), "{rest}");
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder")
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
