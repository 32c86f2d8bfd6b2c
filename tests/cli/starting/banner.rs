//! The output of `coord serve` at its start can be sent back.

use std::io::{BufRead, Read};

use serde_json::{Value, json};

use crate::starting::{Running, exchange, serve_on};
use coord_test_support::git::Repo;
use coord_test_support::redis::empty_database;

/// All that is printed before the server waits for requests.
fn banner(running: &mut Running) -> Vec<String> {
    let lines = running.stdout.by_ref().lines().map(|line| line.expect("text"));
    lines.take_while(|line| !line.contains("Ctrl-C stops")).collect()
}

/// The name of the repository, and the request that the first line to try sends.
pub(super) fn printed(running: &mut Running) -> (String, Value) {
    let lines = banner(running);
    let serving = lines.iter().find_map(|line| line.trim().strip_prefix("serving "));
    let (name, _) = serving.expect("what is served").split_once(" (").expect("and where");
    let sent = lines
        .iter()
        .find_map(|line| line.split_once("check_status")?.1.split_once("-d '"));
    let sent = sent.expect("a line to try").1.trim_end_matches('\'');
    (name.trim().to_owned(), serde_json::from_str(sent).expect("JSON"))
}

/// Status and body of the answer to a POST.
pub(super) fn post(running: &Running, route: &str, body: &Value) -> (String, Value) {
    let body = body.to_string();
    let request = format!(
        "POST /api/{route} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(&running.address, &request).expect("it listens");
    let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).expect("a status").to_owned();
    (status, serde_json::from_str(body).expect("JSON"))
}

/// Two agents of one person who send no `agent_id` are one holder.
#[test]
fn every_line_to_try_that_claims_sends_the_id_of_an_agent() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = banner(&mut Running::on_free_port(folder.path()));
    let posts: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("curl ") && line.contains(" -d "))
        .collect();
    assert_eq!(posts.len(), 2, "{lines:?}");
    for line in posts {
        let (_, body) = line.split_once("-d '").expect("a body");
        let body: Value = serde_json::from_str(body.trim_end_matches('\'')).expect("JSON");
        assert!(body["agent_id"].is_string(), "{line}");
    }
}

#[test]
fn the_printed_name_of_a_repository_without_a_remote_works_in_a_request() {
    let folder = tempfile::tempdir().expect("a folder");
    Repo::init(folder.path().join("repository"), &[]).commit(&[("README.md", "a shop")]);
    let data = folder.path().join("data").display().to_string();
    let mut names = Vec::new();
    let shared = empty_database();
    let stores = [
        Some(["--data-dir", &data]),
        shared.as_deref().map(|url| ["--redis", url]),
    ];
    for store in stores.into_iter().flatten() {
        let mut running = Running::start(serve_on(folder.path(), &store, &["--port", "0"], &[]));
        let (name, to_try) = printed(&mut running);
        let with = |changes: Value| {
            let mut request = to_try.clone();
            let fields = changes.as_object().expect("fields").clone();
            request.as_object_mut().expect("a request").extend(fields);
            request
        };
        let check = json!({"repo_url": name});
        let claim = json!({"repo_url": name, "status": "WRITING", "message": "Saying how to install the shop"});
        for (route, body, field, value) in [
            ("check_status", check, "status", json!("OK")),
            ("post_status", claim, "success", json!(true)),
        ] {
            let (status, answer) = post(&running, route, &with(body));
            assert_eq!((status.as_str(), &answer[field]), ("200", &value), "{name}: {answer:#}");
        }

        // The line to try spells it with a scheme, and means the same repository.
        assert_eq!(to_try["repo_url"], format!("https://{name}"));
        let (_, answer) = post(&running, "check_status", &with(json!({"agent_id": "two"})));
        assert_eq!(answer["status"], "CONFLICT", "{name}: {answer:#}");
        assert_eq!(answer["locks"]["README.md"]["agent_id"], "one", "{name}: {answer:#}");
        names.push(name);
    }
    assert_eq!(names[0], "localhost/local/repository");
    if let Some(name) = names.get(1) {
        let digits = name
            .strip_prefix("localhost/local/repository-")
            .expect("a name of its own");
        assert_eq!(digits.len(), 8, "{name}");
    }
}

#[test]
fn the_banner_names_the_reference_of_the_head() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = Repo::at(folder.path());
    Repo::init(folder.path().join("hub.git"), &["--bare"]);
    here.git(&["clone", "--quiet", "hub.git", "repository"]);
    let clone = Repo::at(folder.path().join("repository"));
    clone.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let pushed = clone.commit(&[("README.md", "a shop")]);
    clone.git(&["push", "--quiet", "origin", "main"]);
    let unpushed = clone.commit(&[("README.md", "a larger shop")]);
    let line = || {
        let lines = banner(&mut Running::on_free_port(folder.path()));
        let line = lines.iter().find(|line| line.trim().starts_with("branch "));
        line.expect("the branch").trim().to_owned()
    };
    let (pushed_7, unpushed_7) = (&pushed[..7], &unpushed[..7]);
    assert_eq!(
        line(),
        format!("branch   main at {pushed_7} (refs/remotes/origin/main), {unpushed_7} is checked out")
    );
    // Where several remotes have it and none counts, the command that chooses one.
    clone.git(&["reset", "--quiet", "--hard", &pushed]);
    clone.git(&["remote", "rename", "origin", "hub"]);
    clone.git(&["remote", "add", "fork", "../hub.git"]);
    clone.git(&["fetch", "--quiet", "fork"]);
    clone.git(&["config", "--remove-section", "branch.main"]);
    let choose = "git config branch.main.remote hub";
    assert_eq!(
        line(),
        format!(
            "branch   main, which has no head: hub and fork have it, and the served clone does not follow one of them; \
             choose one there, for example {choose}"
        )
    );
    let words: Vec<&str> = choose.split(' ').skip(1).collect();
    clone.git(&words);
    assert_eq!(line(), format!("branch   main at {pushed_7} (refs/remotes/hub/main)"));
    clone.git(&["remote", "remove", "fork"]);
    clone.git(&["remote", "rename", "hub", "origin"]);
    let unpushed = clone.commit(&[("README.md", "a shop for all")]);
    // Without a remote, the branch itself is the head.
    clone.git(&["remote", "remove", "origin"]);
    assert_eq!(line(), format!("branch   main at {} (refs/heads/main)", &unpushed[..7]));
}
