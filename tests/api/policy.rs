//! The effect of `.coord.toml` on callers.

use coord_settings::policy::PolicyText;
use coord_settings::policy::file::PolicyFile;
use coord_state as state;
use serde_json::json;

use crate::api::{Api, GRAPH, LOCKS, main_branch};

impl Api {
    /// Stores a policy with the graph of `main`, as a build does.
    pub async fn publish_policy(&self, toml: &str, problem: Option<&str>) {
        let text = PolicyText {
            file: PolicyFile::parse(toml.as_bytes()).unwrap(),
            problem: problem.map(str::to_owned),
            ..PolicyText::default()
        };
        let (text, digest) = text.to_stored().unwrap();
        let key = state::builds::keys::graph(&self.repo(), &main_branch());
        self.command(["HSET", &key, "policy", &text, "policy_digest", &digest])
            .await;
    }
}

/// A server with the graph of its head.
async fn start() -> Api {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api
}

// rule: policy#shared
#[tokio::test]
async fn a_shared_file_is_no_conflict_and_warns_shared_file() {
    let api = start().await;
    api.claim("bob", "WRITING", &["Cargo.lock"]).await;
    let check = api.check("ann", &["Cargo.lock"], json!({})).await;
    let body = check.expect("200 OK PROCEED");
    assert_eq!(body["locks"]["Cargo.lock"]["shared"], true);
    assert_eq!(body["locks"]["Cargo.lock"]["lock_type"], "DIRECT");
    let claim = api.post_status("ann", "WRITING", &["Cargo.lock"], json!({})).await;
    claim.expect("200");
    for answer in [check, claim] {
        let warning = &answer.warnings("")[0];
        assert!(
            warning.starts_with("SHARED_FILE: 'Cargo.lock' is also being written by user 'bob'")
                && warning.ends_with("; regenerate it with its tool, or merge."),
            "{warning}"
        );
    }
    let held = api.get_json(LOCKS).await;
    let locks = held["locks"].as_array().unwrap().iter();
    let users = locks.map(|lock| (lock["user"].as_str().unwrap(), lock["shared"].as_bool()));
    assert_eq!(users.collect::<Vec<_>>(), [("bob", Some(true)), ("ann", Some(true))]);
    // A lost lock of this kind has no new holder.
    api.publish_policy("ttl_seconds = 60", None).await;
    api.granted("cyd", "OPEN", &["Cargo.lock"], json!({})).await;
}

// rule: policy#ignore
#[tokio::test]
async fn an_ignored_file_is_granted_without_a_lock_and_warns_ignored_file() {
    let api = start().await;
    api.publish_policy("ignore = [\"dist/\"]\nttl_seconds = 60", None).await;
    let claim = async |user: &str, files: &[&str]| api.post_status(user, "WRITING", files, json!({})).await;
    let ignored = ["IGNORED_FILE: .coord.toml ignores 'dist/a.js': it has no lock."];
    let both = ["IGNORED_FILE: .coord.toml ignores 'dist/a.js', 'dist/b.js': they have no locks."];
    let first = claim("ann", &["src/auth.ts", "dist/a.js"]).await;
    for (answer, warnings) in [
        (&first, ignored),
        (&claim("bob", &["dist/a.js", "dist/b.js"]).await, both),
        (&api.check("bob", &["dist/a.js"], json!({})).await, ignored),
        (
            &api.post_status("bob", "OPEN", &["dist/a.js"], json!({})).await,
            ignored,
        ),
    ] {
        let outcome = answer.outcome();
        assert!(
            ["200 OK PROCEED", "200 PROCEED"].contains(&outcome.as_str()),
            "{}",
            answer.json()
        );
        assert_eq!(answer.warnings(""), warnings);
    }
    let locks = first.json()["locks"].take();
    let locked: Vec<_> = locks.as_object().unwrap().keys().collect();
    assert_eq!(locked, ["src/auth.ts"]);
    let lock = &locks["src/auth.ts"];
    assert_eq!(
        lock["expiry"].as_i64().unwrap() - lock["timestamp"].as_i64().unwrap(),
        60
    );
}

// rule: policy#invalid
#[tokio::test]
async fn every_response_warns_policy_invalid_with_the_problem() {
    let api = start().await;
    let problem = ".coord.toml:3:7: unknown key \"x\"";
    api.publish_policy("neighbors = \"off\"", Some(problem)).await;
    let warning = format!("POLICY_INVALID: {problem}; the last valid policy applies.");
    let claim = async |user: &str, file: &str| api.post_status(user, "WRITING", &[file], json!({})).await;
    for (answer, outcome) in [
        (api.check("ann", &["src/auth.ts"], json!({})).await, "200 OK"),
        (claim("ann", "src/auth.ts").await, "200"),
        (claim("bob", "src/auth.ts").await, "409"),
        // The neighbors are off.
        (claim("bob", "src/page.ts").await, "200"),
    ] {
        answer.expect(outcome);
        assert_eq!(answer.warnings(""), [warning.as_str()]);
    }
    let open = api.abandon("bob", &["src/page.ts"]).await;
    assert_eq!(open.warnings(&warning).len(), 1, "{}", open.json());
}

#[tokio::test]
async fn the_graph_shows_the_policy_and_a_change_of_it() {
    let api = Api::start_with(|state| state.locks.ttl_seconds = 500).await;
    api.publish_graph(&api.head).await;
    let plain = api.get(GRAPH, &[]).await;
    assert_eq!(
        plain.json()["policy"],
        json!({"ttl_seconds": 500, "neighbors": "interface"})
    );
    let toml = "ttl_seconds = 90\nneighbors = \"warn\"\nshared = [\"a.md\"]\nignore = [\"dist/\"]";
    api.publish_policy(toml, Some(".coord.toml:1:1: wrong")).await;
    let shown = api.get(GRAPH, &[]).await;
    let expected = json!({
        "ttl_seconds": 90, "neighbors": "warn", "shared": ["a.md"], "ignore": ["dist/"], "problem": ".coord.toml:1:1: wrong",
    });
    assert_eq!(shown.json()["policy"], expected);
    assert_ne!(plain.header("etag"), shown.header("etag"));
}
