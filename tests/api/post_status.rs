//! `POST /api/post_status` with READING and WRITING.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::api::{Answer, Api};

/// A server with the graph of its head.
async fn start() -> Api {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api
}

/// Ann's claim to write `paths`.
async fn write(api: &Api, paths: &[&str], more: Value) -> Answer {
    api.post_status("ann", "WRITING", paths, more).await
}

#[tokio::test]
async fn a_claim_shows_what_is_held() {
    let api = start().await;
    let written = write(&api, &["src/auth.ts", "src/new.ts"], json!({})).await;
    assert_json_snapshot!("written", written.snapshot());
    let read = api.post_status("bob", "READING", &["README.md"], json!({})).await;
    assert_json_snapshot!("read", read.snapshot());
}

// rule: http#errors
// rule: messages#wait
#[tokio::test]
async fn a_conflict_names_its_holder_its_reason_and_its_expiry() {
    let api = start().await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let direct = write(&api, &["src/auth.ts", "README.md"], json!({})).await;
    assert_json_snapshot!("direct", direct.snapshot());
    let neighbor = write(&api, &["src/page.ts"], json!({})).await;
    assert_json_snapshot!("neighbor", neighbor.snapshot());
    let both = write(&api, &["src/auth.ts", "src/db.ts"], json!({})).await;
    assert_eq!(
        both.json()["orchestration"]["metadata"]["conflicts"],
        json!(["src/auth.ts"])
    );
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn a_reader_of_a_written_neighbor_is_granted_with_a_warning() {
    let api = start().await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let read = api.post_status("ann", "READING", &["src/page.ts"], json!({})).await;
    assert_json_snapshot!(read.snapshot());
}

// rule: locks#stale-head
// rule: messages#pull
#[tokio::test]
async fn writing_behind_the_branch_is_refused_with_a_pull() {
    let api = start().await;
    let behind = json!({ "agent_head": api.first });
    assert_json_snapshot!(write(&api, &["src/auth.ts"], behind.clone()).await.snapshot());
    assert_eq!(api.held().await, 0);
    let read = api.granted("ann", "READING", &["src/auth.ts"], behind).await;
    assert_eq!(read["warnings"][0], "STALE_BRANCH: Your branch is behind main.");
}

// rule: locks#vague-message
#[tokio::test]
async fn a_vague_message_is_accepted_with_an_example_of_a_good_one() {
    let api = start().await;
    for (agent, message, is_vague) in [
        ("one", "Working on auth.ts", true),
        ("two", "  editing src/auth.ts...  ", true),
        ("three", "fix", true),
        ("four", "Checking the password before the database is asked", false),
    ] {
        let claim = json!({ "message": message, "agent_id": agent });
        let warnings = api.granted("ann", "WRITING", &["src/auth.ts"], claim).await["warnings"].take();
        let count = warnings.as_array().unwrap().len();
        assert_eq!(count, usize::from(is_vague), "{message}: {warnings}");
        if is_vague {
            assert_json_snapshot!("vague", warnings);
        }
        let release = json!({ "abandon": true, "agent_id": agent });
        api.granted("ann", "OPEN", &["src/auth.ts"], release).await;
    }
}

#[tokio::test]
async fn an_agent_that_may_be_ahead_gets_no_missing_commit() {
    let api = start().await;
    let unknown = json!({ "agent_head": "0123456789abcdef0123456789abcdef01234567" });
    let refused = write(&api, &["src/auth.ts"], unknown.clone()).await;
    assert_json_snapshot!("perhaps_behind", refused.snapshot());
    let checked = api.check("ann", &["src/auth.ts"], unknown).await;
    checked.expect("200 STALE PULL");
    for sentence in [&checked.reason(), &checked.warnings("")[0]] {
        assert!(
            sentence.contains("it is unknown whether") && sentence.contains("base_head"),
            "{sentence}"
        );
    }
    // The answer tells the facts that the source knows.
    let behind = json!({ "agent_head": api.first });
    let reason = api.check("ann", &["src/auth.ts"], behind).await.reason();
    assert!(reason.starts_with("Your working copy lacks commit"), "{reason}");
}

// rule: locks#holder
#[tokio::test]
async fn a_claim_of_a_held_file_warns_already_held() {
    let api = start().await;
    let first = write(&api, &["src/auth.ts"], json!({})).await.json();
    assert_eq!(first["warnings"], json!([]));
    let other = json!({ "message": "Rewriting the login form from the ground up" });
    let second = write(&api, &["src/auth.ts", "README.md"], other).await;
    let token = |answer: &Value| answer["locks"]["src/auth.ts"]["token"].clone();
    assert_eq!(token(&first), token(&second.json()), "one holder, one token");
    assert_json_snapshot!("already_held", second.snapshot()["body"]["warnings"]);
    // With an id, each agent is a separate holder, and a renewal is not asked for an id.
    let one = json!({ "agent_id": "one" });
    let refused = write(&api, &["src/auth.ts"], one.clone()).await;
    refused.expect("409 LOCK_CONFLICT WAIT");
    write(&api, &["src/db.md"], one.clone()).await;
    let renewed = write(&api, &["src/db.md"], one).await;
    assert_json_snapshot!("already_held_by_an_agent", renewed.snapshot()["body"]["warnings"]);
}

/// Asserts that the answer names `agent` of `user` as the holder of the lock.
#[track_caller]
fn assert_owner(answer: &Answer, outcome: &str, user: &str, agent: Option<&str>) {
    let metadata = answer.expect(outcome)["orchestration"]["metadata"].take();
    let owner = (metadata["lock_owner"].as_str(), metadata["lock_owner_agent"].as_str());
    assert_eq!(owner, (Some(user), agent), "{metadata}");
}

// rule: locks#reason
#[tokio::test]
async fn a_refusal_names_the_agent_that_holds_the_lock() {
    let api = start().await;
    let by = |agent: &str| json!({ "agent_id": agent });
    api.granted("ann", "WRITING", &["src/db.ts"], by("one")).await;
    for path in ["src/db.ts", "src/auth.ts"] {
        let refused = api.post_status("bob", "WRITING", &[path], json!({})).await;
        assert_owner(&refused, "409", "ann", Some("one"));
    }
    let checked = api.check("bob", &["src/db.ts"], json!({})).await;
    assert_owner(&checked, "200", "ann", Some("one"));
    // The answer tells the agent that lost its lock, too.
    api.granted("cid", "WRITING", &["README.md"], by("two")).await;
    api.expire_locks("README.md").await;
    api.granted("dan", "WRITING", &["README.md"], by("three")).await;
    let open = json!({ "agent_id": "two", "new_repo_head": api.head });
    let lost = api.post_status("cid", "OPEN", &["README.md"], open).await;
    assert_owner(&lost, "409 LOCK_LOST", "dan", Some("three"));
    // One without an agent id has none.
    api.claim("eve", "WRITING", &["LICENSE"]).await;
    let refused = api.post_status("bob", "WRITING", &["LICENSE"], json!({})).await;
    assert_owner(&refused, "409", "eve", None);
}
