//! `GET /api/graph`.

use coord_domain::BuildProgress;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_state as state;
use coord_state::builds::{lease_build, report_build};
use coord_store::Request;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::api::Api;

const PATH: &str = "/api/graph?repo_url=https://github.com/acme/shop.git&branch=main";

#[tokio::test]
async fn a_graph_that_is_not_built_yet_is_accepted() {
    let api = Api::start().await;
    assert_json_snapshot!(api.get(PATH, &[]).await.snapshot());
}

#[tokio::test]
async fn a_graph_comes_with_the_locks_of_its_branch() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.git.git(&["branch", "other"]);
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    for user in ["cid", "dan"] {
        api.claim(user, "READING", &["src/db.ts"]).await;
    }
    let elsewhere = json!({ "branch": "other" });
    assert_eq!(
        api.post_status("eve", "WRITING", &["README.md"], elsewhere)
            .await
            .status,
        200
    );
    assert_json_snapshot!("whole", api.get(PATH, &[]).await.snapshot());
    let compact = api.get(&format!("{PATH}&format=compact"), &[]).await.json();
    assert_eq!(compact["edges"], json!([[0, 1], [2, 0]]));
    assert_eq!(
        api.get(&format!("{PATH}&format=full"), &[]).await.json()["edges"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    api.expire_locks("src/auth.ts").await;
    let locks = api.get(PATH, &[]).await.json()["locks"].clone();
    assert_eq!(
        locks.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["src/db.ts"],
        "what expired is free"
    );
}

#[tokio::test]
async fn a_graph_of_an_older_commit_is_stale() {
    let api = Api::start().await;
    api.publish_graph(&api.first).await;
    let answer = api.get(PATH, &[]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        (&answer.json()["state"], &answer.json()["version"]),
        (&json!("stale"), &json!(api.first))
    );
    api.publish_graph(&api.head).await;
    let answer = api.get(PATH, &[]).await;
    assert_eq!(
        (&answer.json()["state"], &answer.json()["version"]),
        (&json!("ready"), &json!(api.head))
    );
}

#[tokio::test]
async fn a_stored_graph_that_cannot_be_read_counts_as_missing() {
    let api = Api::start().await;
    let repo = RepoId::parse("https://github.com/acme/shop").unwrap();
    let key = state::builds::keys::graph_json(&repo, &Branch::parse("main").unwrap());
    for damage in [["SET", &key, "rubbish"].as_slice(), ["DEL", &key].as_slice()] {
        api.publish_graph(&api.head).await;
        let words = damage.iter().map(|word| word.as_bytes().to_vec()).collect();
        api.store.run(vec![Request::Command(words)]).await.unwrap();
        let missing = api.get(PATH, &[]).await;
        assert_eq!(
            (missing.status, &missing.json()["state"]),
            (202, &json!("building")),
            "{damage:?}"
        );
        let check = api.check("ann", &["src/auth.ts"], json!({})).await.json();
        assert!(check["warnings"].to_string().contains("GRAPH_MISSING"), "{check}");
    }
    api.publish_graph(&api.head).await;
    assert_eq!(api.get(PATH, &[]).await.json()["state"], json!("ready"));
}

#[tokio::test]
async fn known_records_are_not_sent_again() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let first = api.get(PATH, &[]).await;
    let tag = first.header("etag").unwrap().to_owned();
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));
    for known in [
        tag.clone(),
        tag.trim_start_matches("W/").to_owned(),
        format!("\"x\", {tag}"),
        "*".to_owned(),
    ] {
        let again = api.get(PATH, &[("if-none-match", &known)]).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{known}");
        assert_eq!(again.header("etag"), Some(tag.as_str()));
    }
    let known = [("if-none-match", tag.as_str())];
    assert_eq!(
        api.get(&format!("{PATH}&format=compact"), &known).await.status,
        200,
        "another form is another entity"
    );
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let changed = api.get(PATH, &known).await;
    assert_eq!(changed.status, 200, "a lock is a change");
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
}

#[tokio::test]
async fn a_graph_is_compressed_for_clients_that_accept_gzip() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let plain = api.get(PATH, &[]).await;
    assert_eq!(plain.header("content-encoding"), None);
    let packed = api.get(PATH, &[("accept-encoding", "gzip")]).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.bytes[..2], [0x1f, 0x8b]);
    // A response to `X-API-Key` is for that caller alone, as one to `Authorization` is.
    let varies_by = packed.header("vary").unwrap();
    for header in ["authorization", "x-api-key", "accept-encoding"] {
        assert!(varies_by.contains(header), "{varies_by}");
    }
    let tag = packed.header("etag").unwrap();
    assert_eq!(api.get(PATH, &[("if-none-match", tag)]).await.status, 304);
}

#[tokio::test]
async fn a_query_without_its_parameters_names_the_missing_one() {
    let api = Api::start().await;
    let url = "repo_url=https://github.com/acme/shop.git";
    let mut lines = Vec::new();
    for query in [
        String::new(),
        "?".to_owned(),
        "?branch=main".to_owned(),
        format!("?{url}"),
        format!("?{url}&branch="),
        format!("?{url}&branch=a%20b"),
        format!("?{url}&branch=main&format=xml"),
        format!("?{url}&branch=main&depth=2"),
        format!("?{url}&branch=main&direction=imports"),
        format!("?{url}&branch=main&focus="),
        format!("?{url}&branch=main&focus=../a.ts"),
        format!("?{url}&branch=main&focus=a.ts&depth=-1"),
        format!("?{url}&branch=main&focus=a.ts&depth=33"),
        format!("?{url}&branch=main&focus=a.ts&depth=all"),
        format!("?{url}&branch=main&focus=a.ts&direction=up"),
        format!("?{url}&branch=main&focus=a.ts&focus=b.ts"),
        format!("?{url}&branch=%ff"),
        format!("?{url}&branch=main&branch=other"),
        "?repo_url=shop&branch=main".to_owned(),
        "?repo_url=https://github.com/acme/other&branch=main".to_owned(),
        format!("?{url}&branch=mian"),
    ] {
        let answer = api.get(&format!("/api/graph{query}"), &[]).await;
        lines.push(format!("{query}\n    {}", answer.refusal()));
    }
    assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_focus_gives_the_part_of_the_graph_around_a_file() {
    let api = Api::start().await;
    let focus = |rest: &str| format!("{PATH}&focus={rest}");
    let unbuilt = api.get(&focus("src/page.ts"), &[]).await;
    assert_eq!((unbuilt.status, &unbuilt.json()["nodes"]), (202, &json!([])));
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    api.claim("bob", "READING", &["src/page.ts"]).await;
    // Two steps lie between the page and the database; one is the default.
    assert_json_snapshot!("around", api.get(&focus("src/page.ts"), &[]).await.snapshot());
    for (rest, nodes, edges) in [
        ("src/page.ts&depth=0", &["src/page.ts"][..], json!([])),
        (
            "src/page.ts&depth=2",
            &["src/auth.ts", "src/db.ts", "src/page.ts"],
            json!([[0, 1], [2, 0]]),
        ),
        (
            "src/auth.ts",
            &["src/auth.ts", "src/db.ts", "src/page.ts"],
            json!([[0, 1], [2, 0]]),
        ),
        (
            "src/auth.ts&direction=imports",
            &["src/auth.ts", "src/db.ts"],
            json!([[0, 1]]),
        ),
        (
            "./src/auth.ts&direction=importers",
            &["src/auth.ts", "src/page.ts"],
            json!([[1, 0]]),
        ),
        (
            "src/db.ts&direction=importers&depth=32",
            &["src/auth.ts", "src/db.ts", "src/page.ts"],
            json!([[0, 1], [2, 0]]),
        ),
    ] {
        let answer = api.get(&focus(&format!("{rest}&format=compact")), &[]).await.json();
        let ids: Vec<_> = answer["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["id"].as_str().unwrap())
            .collect();
        assert_eq!((ids.as_slice(), &answer["edges"]), (nodes, &edges), "{rest}");
    }
    let whole = api.get(PATH, &[]).await;
    let known = [("if-none-match", whole.header("etag").unwrap())];
    assert_eq!(
        api.get(&focus("src/page.ts"), &known).await.status,
        200,
        "a part is another entity"
    );
    assert_snapshot!("no_such_file", api.get(&focus("src/none.ts"), &[]).await.refusal());
}

#[tokio::test]
async fn a_build_that_is_under_way_reports_its_progress() {
    let api = Api::start().await;
    let (repo, branch) = (crate::api::repo(), crate::api::main_branch());
    let commit = CommitSha::parse(&api.head).unwrap();
    lease_build(&*api.store, &repo, &branch, "one", &commit).await.unwrap();
    let progress = BuildProgress {
        files: 9,
        wanted: 7,
        scanned: 3,
    };
    report_build(&*api.store, &repo, &branch, "one", progress)
        .await
        .unwrap();
    let answer = api.get(PATH, &[]).await;
    assert_eq!(
        (answer.status, &answer.json()["progress"]),
        (202, &json!({ "files": 9, "wanted": 7, "scanned": 3 }))
    );
    // The builder dies, and its lease expires.
    let key = state::builds::keys::graph(&repo, &branch);
    api.command(["HSET", &key, "lease_until", "1000000000"]).await;
    assert_eq!(api.get(PATH, &[]).await.json().get("progress"), None);
}

#[tokio::test]
async fn a_failed_build_reports_its_failure() {
    let api = Api::start().await;
    let key = state::builds::keys::graph(&crate::api::repo(), &crate::api::main_branch());
    api.command(["HSET", &key, "failure", "the repository has more than 500,000 files"])
        .await;
    let answer = api.get(PATH, &[]).await;
    assert_eq!(
        (answer.status, &answer.json()["failure"]),
        (202, &json!("the repository has more than 500,000 files"))
    );
}
