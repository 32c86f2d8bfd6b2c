//! `POST /api/post_status` with READING and WRITING.

use insta::assert_json_snapshot;
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_claim_shows_what_is_held() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    assert_json_snapshot!(
        "written",
        api.post_status("ann", "WRITING", &["src/auth.ts", "src/new.ts"], json!({}))
            .await
            .snapshot()
    );
    assert_json_snapshot!(
        "read",
        api.post_status("bob", "READING", &["README.md"], json!({}))
            .await
            .snapshot()
    );
}

// rule: messages#wait
#[tokio::test]
async fn a_conflict_names_its_holder_its_reason_and_its_expiry() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    assert_json_snapshot!(
        "direct",
        api.post_status("ann", "WRITING", &["src/auth.ts", "README.md"], json!({}))
            .await
            .snapshot()
    );
    assert_json_snapshot!(
        "neighbor",
        api.post_status("ann", "WRITING", &["src/page.ts"], json!({}))
            .await
            .snapshot()
    );
    let answer = api
        .post_status("ann", "WRITING", &["src/auth.ts", "src/db.ts"], json!({}))
        .await;
    assert_eq!(
        answer.json()["orchestration"]["metadata"]["conflicts"],
        json!(["src/auth.ts"])
    );
    assert_eq!(api.held().await, 1);
}

#[tokio::test]
async fn a_reader_of_a_written_neighbor_is_granted_with_a_warning() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    assert_json_snapshot!(
        api.post_status("ann", "READING", &["src/page.ts"], json!({}))
            .await
            .snapshot()
    );
}

// rule: locks#stale-head
// rule: messages#pull
#[tokio::test]
async fn writing_behind_the_branch_is_refused_with_a_pull() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let behind = json!({ "agent_head": api.first });
    assert_json_snapshot!(
        api.post_status("ann", "WRITING", &["src/auth.ts"], behind.clone())
            .await
            .snapshot()
    );
    assert_eq!(api.held().await, 0);
    let read = api.post_status("ann", "READING", &["src/auth.ts"], behind).await;
    assert_eq!(read.status, 200);
    assert_eq!(read.json()["warnings"][0], "STALE_BRANCH: Your branch is behind main.");
}

// rule: locks#vague-message
#[tokio::test]
async fn a_vague_message_is_accepted_with_an_example_of_a_good_one() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    for (message, is_vague) in [
        ("Working on auth.ts", true),
        ("  editing src/auth.ts...  ", true),
        ("fix", true),
        ("Checking the password before the database is asked", false),
    ] {
        let claim = json!({ "message": message, "agent_id": message.len().to_string() });
        let answer = api.post_status("ann", "WRITING", &["src/auth.ts"], claim.clone()).await;
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
        let agent = json!({ "abandon": true, "agent_id": claim["agent_id"] });
        assert_eq!(
            api.post_status("ann", "OPEN", &["src/auth.ts"], agent).await.status,
            200
        );
    }
}

#[tokio::test]
async fn an_agent_that_may_be_ahead_gets_no_missing_commit() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let unknown = json!({ "agent_head": "0123456789abcdef0123456789abcdef01234567" });
    let refused = api
        .post_status("ann", "WRITING", &["src/auth.ts"], unknown.clone())
        .await;
    assert_json_snapshot!("perhaps_behind", refused.snapshot());
    let checked = api.check("ann", &["src/auth.ts"], unknown).await.json();
    assert_eq!(checked["orchestration"]["action"], "PULL");
    for sentence in [&checked["orchestration"]["reason"], &checked["warnings"][0]] {
        let sentence = sentence.as_str().unwrap();
        assert!(
            sentence.contains("it is unknown whether") && sentence.contains("base_head"),
            "{sentence}"
        );
    }
    // The answer tells the facts that the source knows.
    let known = api
        .check("ann", &["src/auth.ts"], json!({ "agent_head": api.first }))
        .await
        .json();
    let reason = known["orchestration"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("Your working copy lacks commit"), "{reason}");
}

#[tokio::test]
async fn a_claim_of_a_held_file_warns_already_held() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let first = api
        .post_status("ann", "WRITING", &["src/auth.ts"], json!({}))
        .await
        .json();
    assert_eq!(first["warnings"], json!([]));
    let other = json!({ "message": "Rewriting the login form from the ground up" });
    let second = api
        .post_status("ann", "WRITING", &["src/auth.ts", "README.md"], other)
        .await;
    let token = |answer: &serde_json::Value| answer["locks"]["src/auth.ts"]["token"].clone();
    assert_eq!(token(&first), token(&second.json()), "one holder, one token");
    assert_json_snapshot!("already_held", second.snapshot()["body"]["warnings"]);
    // With an id, each agent is a separate holder, and a renewal is not asked for an id.
    let one = json!({ "agent_id": "one" });
    assert_eq!(
        api.post_status("ann", "WRITING", &["src/auth.ts"], one.clone())
            .await
            .status,
        409
    );
    api.post_status("ann", "WRITING", &["src/db.md"], one.clone()).await;
    let renewed = api.post_status("ann", "WRITING", &["src/db.md"], one).await;
    assert_json_snapshot!("already_held_by_an_agent", renewed.snapshot()["body"]["warnings"]);
}

// rule: locks#reason
#[tokio::test]
async fn a_refusal_names_the_agent_that_holds_the_lock() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let agent = json!({ "agent_id": "one" });
    assert_eq!(
        api.post_status("ann", "WRITING", &["src/db.ts"], agent).await.status,
        200
    );
    let metadata = |answer: crate::api::Answer| answer.json()["orchestration"]["metadata"].clone();
    let refused = api.post_status("bob", "WRITING", &["src/db.ts"], json!({})).await;
    let neighbor = api.post_status("bob", "WRITING", &["src/auth.ts"], json!({})).await;
    let checked = api.check("bob", &["src/db.ts"], json!({})).await;
    assert_eq!((refused.status, neighbor.status, checked.status), (409, 409, 200));
    for data in [metadata(refused), metadata(neighbor), metadata(checked)] {
        assert_eq!(
            (&data["lock_owner"], &data["lock_owner_agent"]),
            (&json!("ann"), &json!("one")),
            "{data}"
        );
    }
    // The answer tells the agent that lost its lock, too.
    let agent = json!({ "agent_id": "two" });
    assert_eq!(
        api.post_status("cid", "WRITING", &["README.md"], agent).await.status,
        200
    );
    api.expire_locks("README.md").await;
    let agent = json!({ "agent_id": "three" });
    assert_eq!(
        api.post_status("dan", "WRITING", &["README.md"], agent).await.status,
        200
    );
    let agent = json!({ "agent_id": "two", "new_repo_head": api.head });
    let lost = api.post_status("cid", "OPEN", &["README.md"], agent).await;
    assert_eq!((lost.status, &lost.json()["error"]), (409, &json!("LOCK_LOST")));
    let data = metadata(lost);
    assert_eq!(
        (&data["lock_owner"], &data["lock_owner_agent"]),
        (&json!("dan"), &json!("three"))
    );
    // One without an agent id has none.
    api.claim("eve", "WRITING", &["LICENSE"]).await;
    let data = metadata(api.post_status("bob", "WRITING", &["LICENSE"], json!({})).await);
    assert_eq!(
        (&data["lock_owner"], data.get("lock_owner_agent")),
        (&json!("eve"), None)
    );
}
