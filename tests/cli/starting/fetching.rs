//! `coord serve --fetch`: a clone that is kept current.

use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Running, serve_on};
use crate::starting::banner::post;
use coord_test_support::git::Repo;
use coord_test_support::waiting::block_until_served;

/// The least that `--fetch` takes.
const SECONDS: &str = "5";

/// Makes a hub, the clone in `folder` that is served, and one of another person, who has pushed the first commit.
fn cloned(folder: &Path) -> (Repo, String) {
    let elsewhere = Repo::init(folder.join("elsewhere"), &[]);
    let head = elsewhere.commit(&[("a.txt", "a")]);
    let [from, hub, served] =
        ["elsewhere", "hub.git", "repository"].map(|name| folder.join(name).display().to_string());
    elsewhere.git(&["clone", "--quiet", "--bare", &from, &hub]);
    elsewhere.git(&["clone", "--quiet", &hub, &served]);
    elsewhere.git(&["remote", "add", "origin", &hub]);
    (elsewhere, head)
}

/// Returns the answer to a check by an agent at `head`.
fn check(running: &Running, repo: &str, head: &str) -> Value {
    let body =
        json!({"repo_url": repo, "branch": "main", "file_paths": ["a.txt"], "agent_head": head, "agent_id": "one"});
    let (status, answer) = post(running, "check_status", &body);
    assert_eq!(status, "200", "{answer}");
    answer
}

#[test]
fn a_clone_is_fetched_with_the_fetch_flag_and_left_alone_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (elsewhere, head) = cloned(folder.path());
    let serve = |name: &str, more: &[&str]| {
        let data = folder.path().join(name).display().to_string();
        let words = [&["--port", "0"], more].concat();
        let mut command = serve_on(folder.path(), &["--data-dir", &data], &words, &[]);
        command.stderr(Stdio::null());
        let mut running = Running::start(command);
        let (name, _) = super::banner::printed(&mut running);
        (running, format!("https://{name}"))
    };
    let (alone, name) = serve("alone", &[]);
    assert_eq!(check(&alone, &name, &head)["repo_head"], json!(head));
    let push = |text: &str| {
        let pushed = elsewhere.commit(&[("a.txt", text)]);
        elsewhere.git(&["push", "--quiet", "origin", "main"]);
        pushed
    };
    let pushed = push("b");
    // time: a server that does not fetch sees no push.
    sleep(Duration::from_secs(1));
    assert_eq!(check(&alone, &name, &head)["status"], "OK");
    drop(alone);

    // Commits that exist at the start are fetched at once, and later ones with the next fetch.
    let (fetching, name) = serve("fetching", &["--fetch", SECONDS]);
    let mut last = head;
    for is_at_start in [true, false] {
        let head = if is_at_start { pushed.clone() } else { push("c") };
        let mut stale = json!({});
        block_until_served("the commit is fetched", || {
            stale = check(&fetching, &name, &last);
            stale["status"] == "STALE"
        });
        assert_eq!(
            (&stale["status"], &stale["repo_head"], &stale["orchestration"]["action"]),
            (&json!("STALE"), &json!(head), &json!("PULL")),
            "{stale}"
        );
        last = head;
    }
}
