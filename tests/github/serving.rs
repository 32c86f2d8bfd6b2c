//! `coord serve --github`, and functions that read GitHub.

use std::net::SocketAddr;
use std::path::Path;

use coord_serve::ServeArgs;
use serde_json::{Value, json};

use crate::cloud::{JWT_SECRET, jwt, listen};
use crate::small;
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault};
use coord_test_support::waiting::eventually;

fn args(fake: &Fake, data: &Path) -> ServeArgs {
    ServeArgs {
        github: vec!["acme/widgets".to_owned()],
        github_api: Some(fake.api().to_owned()),
        data_dir: Some(data.to_owned()),
        ..ServeArgs::default()
    }
}

async fn serve(args: &ServeArgs) -> SocketAddr {
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = coord_serve::build(args, loopback).await.unwrap();
    listen(server.router).await
}

async fn json_of(response: reqwest::Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

pub fn question(head: &str) -> Value {
    json!({"repo_url": "https://127.0.0.1/acme/widgets.git", "branch": "main", "file_paths": ["src/a.ts"], "agent_head": head})
}

/// A request with this header, which names the caller.
async fn post(address: SocketAddr, route: &str, body: &Value, caller: (&str, &str)) -> reqwest::Response {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(format!("http://{address}/api/{route}"));
    let request = request
        .header(caller.0, caller.1)
        .header("content-type", "application/json")
        .body(body.to_string());
    request.send().await.unwrap()
}

/// A caller without a credential.
const NOBODY: (&str, &str) = ("authorization", "Bearer ");

/// The graph once it is of `head`.
async fn graph(address: SocketAddr, repo_url: &str, head: &str) -> Value {
    eventually("the graph is ready", async || {
        let url = format!("http://{address}/api/graph?repo_url={repo_url}&branch=main");
        let graph = json_of(reqwest::get(url).await.unwrap()).await;
        (graph["state"] == "ready" && graph["version"] == head).then_some(graph)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_on_github_is_served_beside_one_on_disk() {
    let (_temp, repo, _, fake) = small().await;
    let head = repo.commit(&[("src/b.ts", "import './a';\n")]);
    let data = tempfile::tempdir().unwrap();
    let local = tempfile::tempdir().unwrap();
    let on_disk = Repo::init(local.path(), &[]);
    let local_head = on_disk.commit(&[("x.ts", "import './y';\n"), ("y.ts", "")]);
    on_disk.git(&["remote", "add", "origin", "https://github.com/acme/gadgets.git"]);
    let mut args = args(&fake, data.path());
    args.repo = vec![local.path().to_owned()];
    let address = serve(&args).await;

    let built = graph(address, "https://127.0.0.1/acme/widgets", &head).await;
    let edge = json!({"source": "src/b.ts", "target": "src/a.ts", "type": "import"});
    assert_eq!(built["edges"], json!([edge]));
    let built = graph(address, "https://github.com/acme/gadgets", &local_head).await;
    assert_eq!(built["edges"].as_array().unwrap().len(), 1);
    // The rules know the neighbor that GitHub's files tell of.
    let mut claim = question(&head);
    claim["status"] = json!("WRITING");
    claim["message"] = json!("Changing what it exports");
    let claimed = post(address, "post_status", &claim, ("x-coord-user", "bob")).await;
    assert_eq!(claimed.status(), 200);
    let mut check = question(&head);
    check["file_paths"] = json!(["src/b.ts"]);
    let check = json_of(post(address, "check_status", &check, NOBODY).await).await;
    assert_eq!(check["status"], "CONFLICT", "{check}");
    // A repository that is not served, on the host that is.
    let mut other = question(&head);
    other["repo_url"] = json!("https://127.0.0.1/acme/gadgets");
    let answer = post(address, "check_status", &other, NOBODY).await;
    assert_eq!(answer.status(), 404);
    let message = json_of(answer).await["message"].to_string();
    assert!(
        message.contains("127.0.0.1/acme/widgets") && message.contains("github.com/acme/gadgets"),
        "{message}"
    );
}

#[tokio::test]
async fn a_repository_that_is_not_there_is_no_server() {
    let (_temp, _repo, _, fake) = small().await;
    let data = tempfile::tempdir().unwrap();
    let refused = async |change: &dyn Fn(&mut ServeArgs)| {
        let mut args = args(&fake, data.path());
        change(&mut args);
        let server = coord_serve::build(&args, SocketAddr::from(([127, 0, 0, 1], 0))).await;
        server.err().unwrap().to_string()
    };
    let unknown = refused(&|args| args.github = vec!["acme/none".to_owned()]).await;
    assert!(
        unknown.contains("acme/none") && unknown.contains("GITHUB_TOKEN"),
        "{unknown}"
    );
    for name in ["widgets", "a/b/c", "https://github.com/a/b", "a/..", "", "a/b c"] {
        let error = refused(&|args| args.github = vec![name.to_owned()]).await;
        assert!(error.contains("OWNER/NAME"), "{name}: {error}");
    }
    let api = refused(&|args| args.github_api = Some("http://example.com".to_owned())).await;
    assert!(api.contains("--github-api must begin with https://"), "{api}");
    let twice = refused(&|args| args.github.push("ACME/widgets".to_owned())).await;
    assert!(twice.contains("named twice"), "{twice}");
}

#[tokio::test]
async fn a_github_that_cannot_be_reached_yet_keeps_no_server_from_starting() {
    let (_temp, _repo, head, fake) = small().await;
    let data = tempfile::tempdir().unwrap();
    fake.fail("/repos/acme/widgets", 3, Fault::status(503));
    let address = serve(&args(&fake, data.path())).await;
    let answer = post(address, "check_status", &question(&head), NOBODY).await;
    assert_eq!(json_of(answer).await["status"], "OK");
}

#[tokio::test]
async fn a_misconfigured_function_names_the_variable_and_shows_no_secret() {
    let (_temp, _repo, head, _fake) = small().await;
    for (pairs, variable) in [
        (&[("GITHUB_API_URL", "http://example.com")][..], "GITHUB_API_URL"),
        (
            &[("GITHUB_APP_ID", "7"), ("GITHUB_APP_PRIVATE_KEY", "hunter2")],
            "GITHUB_APP_PRIVATE_KEY",
        ),
        (&[("GITHUB_APP_PRIVATE_KEY", "hunter2")], "GITHUB_APP_ID"),
    ] {
        let environment = |name: &str| {
            let mut known = pairs.iter().chain(&[("COORD_JWT_SECRET", JWT_SECRET)]);
            let pair = known.find(|(variable, _)| *variable == name);
            pair.map(|(_, value)| (*value).to_owned())
        };
        let router = coord_extensions::function_router(coord_http::endpoint::CHECK_STATUS, &environment);
        let (address, bearer) = (listen(router).await, format!("Bearer {}", jwt("ann")));
        let caller = ("authorization", bearer.as_str());
        let answer = post(address, "check_status", &question(&head), caller).await;
        assert_eq!(answer.status(), 503);
        let body = json_of(answer).await.to_string();
        assert!(body.contains(variable) && !body.contains("hunter2"), "{body}");
    }
}
