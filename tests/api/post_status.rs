//! `POST /api/post_status` with READING and WRITING.

use coord::domain::NeighborPolicy;
use insta::assert_json_snapshot;
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_claim_shows_what_is_held() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    assert_json_snapshot!(
        "written",
        api.tell("ann", "WRITING", &["src/auth.ts", "src/new.ts"], json!({}))
            .await
            .snapshot()
    );
    assert_json_snapshot!(
        "read",
        api.tell("bob", "READING", &["README.md"], json!({})).await.snapshot()
    );
}

#[tokio::test]
async fn a_conflict_says_who_what_and_how_long() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    assert_json_snapshot!(
        "direct",
        api.tell("ann", "WRITING", &["src/auth.ts", "README.md"], json!({}))
            .await
            .snapshot()
    );
    assert_json_snapshot!(
        "neighbor",
        api.tell("ann", "WRITING", &["src/page.ts"], json!({})).await.snapshot()
    );
    let answer = api
        .tell("ann", "WRITING", &["src/auth.ts", "src/db.ts"], json!({}))
        .await;
    assert_eq!(
        answer.json()["orchestration"]["metadata"]["conflicts"],
        json!(["src/auth.ts"])
    );
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn a_reader_is_told_of_a_written_neighbor_and_goes_on() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    assert_json_snapshot!(api.tell("ann", "READING", &["src/page.ts"], json!({})).await.snapshot());
}

#[tokio::test]
async fn where_the_policy_is_to_warn_a_writer_goes_on_too() {
    let warns = |state: &mut coord::http::AppState| state.locks.neighbor_policy = NeighborPolicy::Warn;
    let api = Api::start_with(warns).await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let answer = api.tell("ann", "WRITING", &["src/page.ts"], json!({})).await;
    assert_eq!(answer.status, 200);
    let warning = answer.json()["warnings"][0].as_str().unwrap().to_owned();
    assert!(
        warning
            .starts_with("NEIGHBOR: File 'src/auth.ts', which 'src/page.ts' imports, is being written by user 'bob'"),
        "{warning}"
    );
    assert_eq!(
        api.tell("ann", "WRITING", &["src/auth.ts"], json!({})).await.status,
        409
    );
}

#[tokio::test]
async fn writing_behind_the_branch_is_refused_with_a_pull() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let behind = json!({ "agent_head": api.first });
    assert_json_snapshot!(
        api.tell("ann", "WRITING", &["src/auth.ts"], behind.clone())
            .await
            .snapshot()
    );
    assert_eq!(api.held().await, 0);
    let read = api.tell("ann", "READING", &["src/auth.ts"], behind).await;
    assert_eq!(read.status, 200);
    assert_eq!(
        read.json()["warnings"][0],
        "STALE_BRANCH: Your branch is behind origin/main."
    );
}

#[tokio::test]
async fn a_message_that_says_nothing_is_taken_with_an_example_of_a_good_one() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    for (message, is_vague) in [
        ("Working on auth.ts", true),
        ("  editing src/auth.ts...  ", true),
        ("fix", true),
        ("Checking the password before the database is asked", false),
    ] {
        let answer = api
            .tell("ann", "WRITING", &["src/auth.ts"], json!({ "message": message }))
            .await;
        assert_eq!(answer.status, 200);
        let warnings = answer.json()["warnings"].clone();
        assert_eq!(
            warnings.as_array().unwrap().len(),
            usize::from(is_vague),
            "{message}: {warnings}"
        );
        if is_vague {
            assert_json_snapshot!("vague", warnings);
        }
    }
}

#[tokio::test]
async fn spellings_of_one_file_are_one_lock() {
    let api = Api::start().await;
    let spellings = [
        "./src/auth.ts",
        "src//auth.ts",
        "src/./auth.ts",
        "././src///auth.ts",
        "src/auth.ts",
    ];
    let answer = api.tell("ann", "WRITING", &spellings, json!({})).await;
    let held: Vec<String> = answer.json()["locks"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(held, ["src/auth.ts"]);
    for spelling in spellings {
        assert_eq!(
            api.tell("bob", "WRITING", &[spelling], json!({})).await.status,
            409,
            "{spelling}"
        );
    }
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn spellings_of_one_repository_are_one_repository() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    for url in [
        "https://github.com/acme/shop",
        "https://github.com/acme/shop/",
        "https://GitHub.com/Acme/Shop.git",
        "http://github.com/acme/shop.git/",
        "git@github.com:acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git",
        "https://user:secret@github.com/acme/shop.git",
        "git://github.com/acme/shop",
    ] {
        let answer = api
            .tell("bob", "WRITING", &["src/auth.ts"], json!({ "repo_url": url }))
            .await;
        assert_eq!(answer.status, 409, "{url}: {}", answer.json());
    }
}

#[tokio::test]
async fn a_renewal_keeps_the_token_and_moves_the_expiry() {
    let api = Api::start_with(|state| state.locks.ttl_seconds = 1000).await;
    let lock = async || {
        let answer = api.tell("ann", "WRITING", &["src/auth.ts"], json!({})).await.json();
        let lock = answer["locks"]["src/auth.ts"].clone();
        (
            lock["token"].as_i64().unwrap(),
            lock["timestamp"].as_i64().unwrap(),
            lock["expiry"].as_i64().unwrap(),
        )
    };
    let (token, timestamp, expiry) = lock().await;
    assert_eq!(expiry - timestamp, 1000);
    let (again, later, until) = lock().await;
    assert_eq!((again, until - later), (token, 1000));
}
