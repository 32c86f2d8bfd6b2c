//! `POST /api/check_status`.

use insta::assert_json_snapshot;
use serde_json::json;

use crate::api::Api;

#[tokio::test]
async fn a_check_without_conflicts_is_ok() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    assert_json_snapshot!(api.check("ann", &["src/auth.ts"], json!({})).await.snapshot());
}

#[tokio::test]
async fn a_graph_that_is_missing_or_old_is_a_warning() {
    let api = Api::start().await;
    assert_json_snapshot!(
        "missing",
        api.check("ann", &["src/auth.ts"], json!({})).await.json()["warnings"]
    );
    api.publish_graph(&api.first).await;
    assert_json_snapshot!(
        "old",
        api.check("ann", &["src/auth.ts"], json!({})).await.json()["warnings"]
    );
}

#[tokio::test]
async fn a_working_copy_that_is_behind_is_stale() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    let answer = api
        .check("ann", &["src/auth.ts"], json!({ "agent_head": api.first }))
        .await;
    assert_json_snapshot!(answer.snapshot());
}

#[tokio::test]
async fn a_commit_that_is_not_pushed_is_not_stale_when_its_base_is_known() {
    let api = Api::start().await;
    api.git.git(&["checkout", "--quiet", "-b", "work"]);
    let local = api.git.commit(&[("src/new.ts", "")]);
    let status = async |more| api.check("ann", &["src/auth.ts"], more).await.json()["status"].clone();
    assert_eq!(
        status(json!({ "agent_head": local })).await,
        "OK",
        "the source knows the commit"
    );
    assert_eq!(status(json!({ "agent_head": &local[..10] })).await, "OK");
    let unknown = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(
        status(json!({ "agent_head": unknown })).await,
        "STALE",
        "nobody knows it"
    );
    assert_eq!(
        status(json!({ "agent_head": unknown, "base_head": api.head })).await,
        "OK"
    );
    assert_eq!(
        status(json!({ "agent_head": unknown, "base_head": api.first })).await,
        "STALE"
    );
    assert_eq!(status(json!({ "agent_head": unknown, "base_head": local })).await, "OK");
}

// rule: messages#switch-task
#[tokio::test]
async fn a_file_that_another_writes_is_a_direct_conflict() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    assert_json_snapshot!(api.check("ann", &["src/auth.ts"], json!({})).await.snapshot());
}

#[tokio::test]
async fn written_neighbors_are_conflicts_both_ways_and_name_their_relation() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    api.claim("cid", "WRITING", &["src/page.ts"]).await;
    assert_json_snapshot!(api.check("ann", &["src/auth.ts"], json!({})).await.snapshot());
}

#[tokio::test]
async fn a_conflict_that_is_also_stale_reports_both() {
    let api = Api::start().await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let answer = api
        .check("ann", &["src/auth.ts"], json!({ "agent_head": api.first }))
        .await;
    assert_json_snapshot!(answer.snapshot());
}

#[tokio::test]
async fn an_own_lock_is_held_and_no_conflict() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.claim("ann", "READING", &["src/db.ts"]).await;
    assert_json_snapshot!(
        api.check("ann", &["src/auth.ts", "src/db.ts", "src/page.ts"], json!({}))
            .await
            .snapshot()
    );
}

#[tokio::test]
async fn several_readers_are_all_listed_behind_the_earliest() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    for user in ["bob", "cid"] {
        api.claim(user, "READING", &["src/auth.ts"]).await;
    }
    let two = json!({ "agent_id": "two" });
    assert_eq!(
        api.post_status("cid", "READING", &["src/auth.ts"], two).await.status,
        200
    );
    assert_json_snapshot!(
        "to_write",
        api.check("ann", &["src/auth.ts"], json!({})).await.snapshot()
    );
    let to_read = api
        .check("ann", &["src/auth.ts"], json!({ "intent": "READING" }))
        .await
        .json();
    assert_eq!(
        (&to_read["status"], &to_read["orchestration"]["action"]),
        (&"OK".into(), &"PROCEED".into())
    );
    assert_eq!(to_read["locks"]["src/auth.ts"]["readers"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_reader_is_only_warned_of_a_written_neighbor() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    assert_json_snapshot!(
        api.check("ann", &["src/auth.ts"], json!({ "intent": "READING" }))
            .await
            .snapshot()
    );
}

#[tokio::test]
async fn a_lock_on_another_branch_is_a_warning_that_names_it() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api.git.git(&["branch", "feature/login"]);
    let there = json!({ "branch": "feature/login", "agent_id": "night-shift" });
    assert_eq!(
        api.post_status("bob", "WRITING", &["src/auth.ts"], there).await.status,
        200
    );
    assert_json_snapshot!(api.check("ann", &["src/auth.ts"], json!({})).await.snapshot());
}

#[tokio::test]
async fn another_agent_of_the_same_person_is_another_holder() {
    let api = Api::start().await;
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({}));
    let headers = [
        ("content-type", "application/json"),
        ("x-coord-user", "ann"),
        ("x-coord-agent", "one"),
    ];
    let claimed = api
        .request(reqwest::Method::POST, "/api/post_status", &headers, body.to_string())
        .await;
    assert_eq!(claimed.status, 200);
    let status = async |more| api.check("ann", &["src/auth.ts"], more).await.json()["status"].clone();
    assert_eq!(status(json!({})).await, "CONFLICT");
    assert_eq!(status(json!({ "agent_id": "two" })).await, "CONFLICT");
    assert_eq!(
        status(json!({ "agent_id": "one" })).await,
        "OK",
        "the field says what the header said"
    );
    // The field counts where both are sent.
    let body = api.check_body(&["src/auth.ts"], json!({ "agent_id": "two" }));
    let checked = api
        .request(reqwest::Method::POST, "/api/check_status", &headers, body.to_string())
        .await;
    assert_eq!(checked.json()["status"], "CONFLICT");
}

#[tokio::test]
async fn a_file_that_is_tracked_in_other_case_is_named() {
    let api = Api::start().await;
    api.build_graph().await;
    let warnings = async |paths: &[&str]| api.check("ann", paths, json!({})).await.json()["warnings"].clone();
    assert_eq!(
        warnings(&["src/Auth.ts", "README.md", "src/new.ts"]).await,
        json!(["CASE_DIFFERS: 'src/Auth.ts' is not tracked, and 'src/auth.ts' is; check which file you mean."])
    );
    assert_eq!(warnings(&["src/auth.ts", "README.md", "src/Page.tsx"]).await, json!([]));

    // The same of a claim; of many files the first are named.
    let spellings: Vec<String> = (0..64_u32)
        .map(|bits| {
            let letters = "readme".char_indices();
            let name: String = letters
                .map(|(at, letter)| {
                    if bits >> at & 1 == 1 {
                        letter.to_ascii_uppercase()
                    } else {
                        letter
                    }
                })
                .collect();
            format!("{name}.md")
        })
        .filter(|path| path != "README.md")
        .collect();
    let paths: Vec<&str> = spellings.iter().map(String::as_str).collect();
    let claimed = api.post_status("ann", "WRITING", &paths, json!({})).await.json();
    assert_eq!(claimed["success"], true);
    let warnings = claimed["warnings"].as_array().unwrap();
    let texts: Vec<&str> = warnings.iter().filter_map(|warning| warning.as_str()).collect();
    let of_case: Vec<&&str> = texts.iter().filter(|text| text.starts_with("CASE_DIFFERS: ")).collect();
    assert_eq!(of_case.len(), 17, "{texts:?}");
    assert_eq!(
        *of_case[16],
        "CASE_DIFFERS: 47 more of these files differ from tracked ones in case only."
    );
}
