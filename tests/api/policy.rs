//! The effect of `.coord.toml` on callers.

use coord_settings::policy::PolicyText;
use coord_settings::policy::file::PolicyFile;
use coord_state as state;
use serde_json::{Value, json};

use crate::api::{Api, main_branch, repo};

impl Api {
    /// Stores a policy with the graph of `main`, as a build does.
    pub async fn publish_policy(&self, toml: &str, problem: Option<&str>) {
        let text = PolicyText {
            file: PolicyFile::parse(toml.as_bytes()).unwrap(),
            problem: problem.map(str::to_owned),
            ..PolicyText::default()
        };
        let (text, digest) = text.to_stored().unwrap();
        let key = state::builds::keys::graph(&repo(), &main_branch());
        self.command(["HSET", &key, "policy", &text, "policy_digest", &digest])
            .await;
    }
}

fn warnings(body: &Value) -> Vec<&str> {
    body["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

// rule: policy#shared
#[tokio::test]
async fn a_shared_file_is_no_conflict_and_warns_shared_file() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["Cargo.lock"]).await;
    let warning = "SHARED_FILE: 'Cargo.lock' is also being written by user 'bob'";
    let check = api.check("ann", &["Cargo.lock"], json!({})).await;
    let body = check.json();
    assert_eq!(
        (&body["status"], &body["orchestration"]["action"]),
        (&json!("OK"), &json!("PROCEED"))
    );
    assert_eq!(body["locks"]["Cargo.lock"]["shared"], true);
    assert_eq!(body["locks"]["Cargo.lock"]["lock_type"], "DIRECT");
    assert!(warnings(&body)[0].starts_with(warning), "{body}");
    assert!(
        warnings(&body)[0].ends_with("; let the tool make it again, or merge."),
        "{body}"
    );
    let claim = api.post_status("ann", "WRITING", &["Cargo.lock"], json!({})).await;
    assert_eq!(claim.status, 200);
    assert!(warnings(&claim.json())[0].starts_with(warning));
    let held = api
        .get("/api/locks?repo_url=https://github.com/acme/shop", &[])
        .await
        .json();
    let users = held["locks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lock| (&lock["user"], &lock["shared"]));
    assert_eq!(
        users.collect::<Vec<_>>(),
        [(&json!("bob"), &json!(true)), (&json!("ann"), &json!(true))]
    );
    // A lost lock of this kind has no new holder.
    api.publish_policy("ttl_seconds = 60", None).await;
    let open = api.post_status("cyd", "OPEN", &["Cargo.lock"], json!({})).await;
    assert_eq!(open.status, 200, "{}", open.json());
}

// rule: policy#ignore
#[tokio::test]
async fn an_ignored_file_is_granted_without_a_lock_and_warns_ignored_file() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.publish_policy("ignore = [\"dist/\"]\nttl_seconds = 60", None).await;
    let claim = api
        .post_status("ann", "WRITING", &["src/auth.ts", "dist/a.js"], json!({}))
        .await;
    let body = claim.json();
    assert_eq!(claim.status, 200, "{body}");
    assert_eq!(
        warnings(&body),
        ["IGNORED_FILE: .coord.toml ignores 'dist/a.js': it has no lock."]
    );
    let locks = body["locks"].as_object().unwrap();
    assert_eq!(locks.keys().collect::<Vec<_>>(), ["src/auth.ts"]);
    let lock = &locks["src/auth.ts"];
    assert_eq!(
        lock["expiry"].as_i64().unwrap() - lock["timestamp"].as_i64().unwrap(),
        60
    );
    let both = api
        .post_status("bob", "WRITING", &["dist/a.js", "dist/b.js"], json!({}))
        .await;
    let warning = "IGNORED_FILE: .coord.toml ignores 'dist/a.js', 'dist/b.js': they have no locks.";
    assert_eq!((both.status, warnings(&both.json())), (200, vec![warning]));
    let check = api.check("bob", &["dist/a.js"], json!({})).await.json();
    assert_eq!((&check["status"], warnings(&check).len()), (&json!("OK"), 1));
    let open = api.post_status("bob", "OPEN", &["dist/a.js"], json!({})).await;
    assert_eq!(
        warnings(&open.json()),
        ["IGNORED_FILE: .coord.toml ignores 'dist/a.js': it has no lock."]
    );
}

// rule: policy#invalid
#[tokio::test]
async fn every_response_warns_policy_invalid_with_the_problem() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let problem = ".coord.toml:3:7: unknown key \"x\"";
    api.publish_policy("neighbors = \"off\"", Some(problem)).await;
    let warning = format!("POLICY_INVALID: {problem}; the last good policy counts.");
    let check = api.check("ann", &["src/auth.ts"], json!({})).await.json();
    assert_eq!(warnings(&check), [&warning]);
    let claim = api
        .post_status("ann", "WRITING", &["src/auth.ts"], json!({}))
        .await
        .json();
    assert_eq!(warnings(&claim), [&warning]);
    let refused = api.post_status("bob", "WRITING", &["src/auth.ts"], json!({})).await;
    assert_eq!(
        (refused.status, warnings(&refused.json())),
        (409, vec![warning.as_str()])
    );
    let neighbor = api.post_status("bob", "WRITING", &["src/page.ts"], json!({})).await;
    assert_eq!(
        (neighbor.status, warnings(&neighbor.json())),
        (200, vec![warning.as_str()]),
        "off"
    );
    let open = api
        .post_status("bob", "OPEN", &["src/page.ts"], json!({"abandon": true}))
        .await
        .json();
    assert!(warnings(&open).contains(&warning.as_str()), "{open}");
}

#[tokio::test]
async fn the_graph_shows_the_policy_and_a_change_of_it() {
    let api = Api::start_with(|state| state.locks.ttl_seconds = 500).await;
    api.publish_graph(&api.head).await;
    let path = "/api/graph?repo_url=https://github.com/acme/shop&branch=main";
    let plain = api.get(path, &[]).await;
    assert_eq!(
        plain.json()["policy"],
        json!({"ttl_seconds": 500, "neighbors": "interface"})
    );
    let toml = "ttl_seconds = 90\nneighbors = \"warn\"\nshared = [\"a.md\"]\nignore = [\"dist/\"]";
    api.publish_policy(toml, Some(".coord.toml:1:1: wrong")).await;
    let shown = api.get(path, &[]).await;
    let expected = json!({
        "ttl_seconds": 90, "neighbors": "warn", "shared": ["a.md"], "ignore": ["dist/"], "problem": ".coord.toml:1:1: wrong",
    });
    assert_eq!(shown.json()["policy"], expected);
    assert_ne!(plain.headers["etag"], shown.headers["etag"]);
}
