//! `GET /api/graph`.

use coord_domain::{BuildProgress, CommitSha};
use coord_state::builds::{keys, lease_build, report_build};
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::api::{Api, GRAPH, main_branch};

/// A server with the graph of its head.
async fn start() -> Api {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api
}

#[tokio::test]
async fn a_graph_that_is_not_built_yet_is_accepted() {
    let api = Api::start().await;
    assert_json_snapshot!(api.get(GRAPH, &[]).await.snapshot());
}

#[tokio::test]
async fn a_graph_comes_with_the_locks_of_its_branch() {
    let api = start().await;
    api.git.git(&["branch", "other"]);
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    for user in ["cid", "dan"] {
        api.claim(user, "READING", &["src/db.ts"]).await;
    }
    let elsewhere = json!({ "branch": "other" });
    api.granted("eve", "WRITING", &["README.md"], elsewhere).await;
    let whole = api.get(GRAPH, &[]).await;
    assert_json_snapshot!("whole", whole.snapshot());
    let compact = api.get_json(&format!("{GRAPH}&format=compact")).await;
    assert_eq!(compact["edges"], json!([[0, 1], [2, 0]]));
    let full = api.get_json(&format!("{GRAPH}&format=full")).await;
    assert_eq!(full["edges"], whole.json()["edges"]);
    api.expire_locks("src/auth.ts").await;
    let locks = api.get_json(GRAPH).await["locks"].take();
    let locked: Vec<_> = locks.as_object().unwrap().keys().collect();
    assert_eq!(locked, ["src/db.ts"], "an expired lock is not shown");
}

#[tokio::test]
async fn a_graph_of_an_older_commit_is_stale() {
    let api = Api::start().await;
    for (commit, state) in [(&api.first, "stale"), (&api.head, "ready")] {
        api.publish_graph(commit).await;
        let graph = api.get(GRAPH, &[]).await.expect("200");
        assert_eq!((&graph["state"], &graph["version"]), (&json!(state), &json!(commit)));
    }
}

#[tokio::test]
async fn a_stored_graph_that_cannot_be_read_counts_as_missing() {
    let api = Api::start().await;
    let key = keys::graph_json(&api.repo(), &main_branch());
    for is_deleted in [false, true] {
        api.publish_graph(&api.head).await;
        if is_deleted {
            api.command(["DEL", &key]).await;
        } else {
            api.command(["SET", &key, "rubbish"]).await;
        }
        let missing = api.get(GRAPH, &[]).await.expect("202");
        assert_eq!(missing["state"], "building", "{is_deleted}");
        let check = api.check("ann", &["src/auth.ts"], json!({})).await;
        assert_eq!(check.warnings("GRAPH_MISSING").len(), 1, "{}", check.json());
    }
    api.publish_graph(&api.head).await;
    assert_eq!(api.get_json(GRAPH).await["state"], "ready");
}

#[tokio::test]
async fn known_records_are_not_sent_again() {
    let api = start().await;
    let first = api.get(GRAPH, &[]).await;
    first.expect("200");
    let tag = first.header("etag").unwrap();
    let known = [
        tag.to_owned(),
        tag.trim_start_matches("W/").to_owned(),
        format!("\"x\", {tag}"),
        "*".to_owned(),
    ];
    let mut answers = vec![];
    for known in known {
        let again = api.get(GRAPH, &[("if-none-match", &known)]).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{known}");
        answers.push(again);
    }
    for answer in answers.iter().chain([&first]) {
        for (header, value) in [
            ("etag", tag),
            ("cache-control", "private, no-cache"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(header), Some(value), "{}", answer.status);
        }
        assert!(answer.header("x-request-id").is_some());
    }
    let known = [("if-none-match", tag)];
    // Another form is another entity, and so is a part.
    for query in ["&format=compact", "&focus=src/page.ts"] {
        let other = api.get(&format!("{GRAPH}{query}"), &known).await;
        assert_eq!(other.status, 200, "{query}");
    }
    let missing = api.get(&format!("{GRAPH}&focus=nothing.ts"), &[]).await;
    let policy = missing.header("cache-control");
    assert_eq!((missing.status, policy), (404, Some("no-store")));
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let changed = api.get(GRAPH, &known).await;
    assert_eq!(changed.status, 200, "a lock is a change");
    assert_ne!(changed.header("etag"), Some(tag));
}

#[tokio::test]
async fn a_graph_is_compressed_for_clients_that_accept_gzip() {
    let api = start().await;
    let plain = api.get(GRAPH, &[]).await;
    assert_eq!(plain.header("content-encoding"), None);
    let packed = api.get(GRAPH, &[("accept-encoding", "gzip")]).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.bytes[..2], [0x1f, 0x8b]);
    // A response to `X-API-Key` is for that caller alone, as one to `Authorization` is.
    let varies_by = packed.header("vary").unwrap();
    for header in ["authorization", "x-api-key", "accept-encoding"] {
        assert!(varies_by.contains(header), "{varies_by}");
    }
    let tag = packed.header("etag").unwrap();
    assert_eq!(api.get(GRAPH, &[("if-none-match", tag)]).await.status, 304);
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
    let focus = async |rest: &str| api.get(&format!("{GRAPH}&focus={rest}"), &[]).await;
    assert_eq!(focus("src/page.ts").await.expect("202")["nodes"], json!([]));
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    api.claim("bob", "READING", &["src/page.ts"]).await;
    // Two steps lie between the page and the database; one is the default.
    assert_json_snapshot!("around", focus("src/page.ts").await.snapshot());
    let all = ["src/auth.ts", "src/db.ts", "src/page.ts"];
    let both = json!([[0, 1], [2, 0]]);
    for (rest, nodes, edges) in [
        ("src/page.ts&depth=0", &all[2..], json!([])),
        ("src/page.ts&depth=2", &all, both.clone()),
        ("src/auth.ts", &all, both.clone()),
        ("src/auth.ts&direction=imports", &all[..2], json!([[0, 1]])),
        (
            "./src/auth.ts&direction=importers",
            &["src/auth.ts", "src/page.ts"],
            json!([[1, 0]]),
        ),
        ("src/db.ts&direction=importers&depth=32", &all, both),
    ] {
        let part = focus(&format!("{rest}&format=compact")).await.json();
        let ids: Vec<_> = part["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| &node["id"])
            .collect();
        assert_eq!(ids, nodes, "{rest}");
        assert_eq!(part["edges"], edges, "{rest}");
    }
    assert_snapshot!("no_such_file", focus("src/none.ts").await.refusal());
}

#[tokio::test]
async fn a_build_that_is_under_way_reports_its_progress_and_a_failed_one_its_failure() {
    let api = Api::start().await;
    let (repo, branch) = (api.repo(), main_branch());
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
    let graph = async || api.get(GRAPH, &[]).await.expect("202");
    assert_eq!(
        graph().await["progress"],
        json!({ "files": 9, "wanted": 7, "scanned": 3 })
    );
    // The builder dies, and its lease expires.
    let key = keys::graph(&repo, &branch);
    api.command(["HSET", &key, "lease_until", "1000000000"]).await;
    assert_eq!(graph().await.get("progress"), None);
    let failure = "the repository has more than 500,000 files";
    api.command(["HSET", &key, "failure", failure]).await;
    assert_eq!(graph().await["failure"], failure);
}
