//! `coord serve` put together: heads recorded and graphs built in the background, with the documented rules on top.

use std::path::Path;

use coord_serve::ServeArgs;
use coord_test_support::waiting::eventually;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::api::{Api, GRAPH, JSON};

/// Starts a whole server over the repository of `api` with its data in `folder`, until `stopped` ends.
async fn serve_until(
    api: &Api,
    folder: &Path,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> (Api, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let args = ServeArgs {
        repo: vec![api.git.path().to_owned()],
        data_dir: Some(folder.to_owned()),
        ..ServeArgs::default()
    };
    let server = coord_serve::build(&args, address).await.unwrap();
    let store = server.store.clone();
    let running = tokio::spawn(coord_serve::listen::serve(listener, server.router, stopped));
    (api.elsewhere(address, store), running)
}

async fn serve(api: &Api, folder: &Path) -> Api {
    serve_until(api, folder, std::future::pending()).await.0
}

/// The graph once it is of the head of the branch.
async fn ready_graph(api: &Api) -> Value {
    eventually("the graph is ready", async || {
        let graph = api.get_json(GRAPH).await;
        (graph["state"] == "ready").then_some(graph)
    })
    .await
}

#[tokio::test]
async fn a_graph_is_built_by_itself_and_follows_the_branch() {
    let repository = Api::start().await;
    let folder = tempfile::tempdir().unwrap();
    let api = serve(&repository, folder.path()).await;
    let graph = ready_graph(&api).await;
    assert_eq!(graph["version"], json!(api.head));
    assert_eq!(
        graph["edges"],
        json!([
            { "source": "src/auth.ts", "target": "src/db.ts", "type": "import" },
            { "source": "src/page.ts", "target": "src/auth.ts", "type": "import" }
        ])
    );
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    let refused = api.post_status("ann", "WRITING", &["src/auth.ts"], json!({})).await;
    refused.expect("409 LOCK_CONFLICT");
    assert_eq!(refused.warnings(""), [""; 0]);

    // A commit that takes the import away: what was a neighbor is none any more.
    let pushed = api.git.commit(&[("src/auth.ts", "export {};\n")]);
    let graph = ready_graph(&api).await;
    assert_eq!(graph["version"], json!(pushed));
    let up_to_date = json!({ "agent_head": pushed });
    api.granted("ann", "WRITING", &["src/auth.ts"], up_to_date).await;
}

#[tokio::test]
async fn a_graph_names_the_bound_that_its_build_has_met() {
    let repository = Api::start().await;
    let imports: String = (0..25_000).map(|number| format!("import './{number}'\n")).collect();
    repository.git.commit(&[("src/many.ts", &imports)]);
    let folder = tempfile::tempdir().unwrap();
    let api = serve(&repository, folder.path()).await;
    let graph = ready_graph(&api).await;
    let expected = json!([{ "bound": "file_imports", "files": 1, "first": ["src/many.ts"] }]);
    assert_eq!(graph["bounds"], expected);
    assert_eq!(graph["not_scanned"], json!({ "over_limit": 1 }));
}

#[tokio::test]
async fn the_openapi_document_is_served_beside_the_page() {
    let repository = Api::start().await;
    let folder = tempfile::tempdir().unwrap();
    let answer = serve(&repository, folder.path()).await.get("/openapi.json", &[]).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/json"))
    );
    assert!(answer.json() == coord_extensions::document(), "it is another document");
}

// rule: http#loopback
#[tokio::test]
async fn a_name_that_is_not_this_machine_s_is_refused_with_a_command_for_agents() {
    let repository = Api::start().await;
    let folder = tempfile::tempdir().unwrap();
    let api = serve(&repository, folder.path()).await;
    let headers = [("host", "rebound.example.com"), JSON];
    for (method, path, outcome) in [
        (Method::POST, "/api/check_status", "403 FORBIDDEN STOP"),
        (Method::POST, "/api/post_status", "403 FORBIDDEN STOP"),
        (Method::GET, "/api/graph", "403 FORBIDDEN"),
    ] {
        let answer = api.request(method, path, &headers, "{}").await;
        assert_eq!(answer.outcome(), outcome, "{path}");
    }
}

#[tokio::test]
async fn locks_outlive_the_server() {
    let repository = Api::start().await;
    let folder = tempfile::tempdir().unwrap();
    {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let until = async move {
            let _ = stopped.await;
        };
        let (api, running) = serve_until(&repository, folder.path(), until).await;
        api.claim("ann", "WRITING", &["src/auth.ts"]).await;
        drop(api);
        stop.send(()).unwrap();
        running.await.unwrap();
    }
    // Background work of the old server may hold the store a moment longer.
    let store = eventually("the store is free", async || {
        coord_embedded::EmbeddedStore::open(&folder.path().join("store.redb")).ok()
    });
    drop(store.await);
    let api = serve(&repository, folder.path()).await;
    let check = api.check("bob", &["src/auth.ts"], json!({})).await;
    let body = check.expect("200 CONFLICT");
    assert_eq!(body["locks"]["src/auth.ts"]["user"], "ann");
}

#[tokio::test]
async fn a_folder_that_is_no_repository_is_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let args = ServeArgs {
        repo: vec![folder.path().to_owned()],
        ..ServeArgs::default()
    };
    let error = coord_serve::build(&args, "127.0.0.1:1".parse().unwrap())
        .await
        .err()
        .unwrap();
    assert!(
        error.to_string().contains(&folder.path().display().to_string()),
        "{error}"
    );
}

#[tokio::test]
async fn the_page_has_its_own_policy_and_everything_else_of_the_edge() {
    let repository = Api::start().await;
    let folder = tempfile::tempdir().unwrap();
    let api = serve(&repository, folder.path()).await;
    for path in ["/", "/index.html", "/app/main.js", "/style/page.css"] {
        let answer = api.get(path, &[("x-request-id", "mine")]).await;
        assert_eq!(answer.status, 200, "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        for (name, value) in [
            ("cache-control", "no-cache"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-request-id", "mine"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path} {name}");
        }
    }
    let health = api.get("/api/health", &[]).await.expect("200");
    assert_eq!(health["source"]["status"], "ok");
    // A site that resolves its host name to this server is refused, also for this, and in the same form.
    let rebound = api.get("/api/health", &[("host", "evil.example")]).await;
    assert_eq!(
        (rebound.status, rebound.header("cache-control")),
        (403, Some("no-store"))
    );
    assert!(rebound.header("x-request-id").is_some());
}
