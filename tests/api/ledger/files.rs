//! The ledger's facts about files: verdicts on their content, and the map.

use coord_protocol::{FileContent, FileVerdict, VerifyRequest};
use serde_json::json;

use super::{EMPTY, HASH, change, client, record};
use crate::api::{Api, REPO_URL, repo};

/// An intent, as the scripts of the registry write it.
async fn has_intent(api: &Api, id: &str, status: &str, heard_ms: u64) {
    let record = json!({
        "status": status, "digest": "", "version": 1, "order": 1, "bytes": 1, "created_ms": 1, "updated_ms": 1,
    });
    let repo = repo();
    let text = record.to_string();
    api.command(["HSET", &coord_intents_state::intents::keys::intents(&repo), id, &text])
        .await;
    api.command(["INCR", &coord_intents_state::intents::keys::governed(&repo)])
        .await;
    let last_activity = format!("0 0 {heard_ms}");
    api.command([
        "HSET",
        &coord_intents_state::intents::keys::intent_use(&repo),
        id,
        &last_activity,
    ])
    .await;
}

#[tokio::test]
async fn a_change_beyond_the_recorded_files_warns_content_not_kept() {
    let api = Api::start().await;
    has_intent(&api, "a", "IN_PROGRESS", 1).await;
    let owners = coord_intents_state::intents::keys::owners(&repo());
    for part in 0..40 {
        let names: [String; 500] = std::array::from_fn(|number| format!("{part}/{number}.ts"));
        let words: [&str; 1002] = std::array::from_fn(|place| match place {
            0 => "HSET",
            1 => &owners,
            _ if place % 2 == 0 => &names[place / 2 - 1],
            _ => r#"[{"intent":"a"}]"#,
        });
        api.command(words).await;
    }
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let recorded = record(&api, "ann", &[change("t1", "src/db.ts", HASH)], json!({})).await;
    let warning = "CONTENT_NOT_KEPT: The repository has too many recorded files, so 1 of these can be verified by the ledger alone.";
    assert_eq!(recorded["warnings"], json!([warning]));
}

// rule: ledger#hash
#[tokio::test]
async fn files_are_compared_with_what_was_recorded_of_them() {
    let api = Api::start().await;
    let paths = ["README.md", "src/db.ts", "src/page.ts", "src/auth.ts", "empty.ts"];
    api.claim("ann", "WRITING", &paths).await;
    let entries = [
        change("t1", "README.md", HASH),
        change("t2", "src/db.ts", EMPTY),
        change("t3", "src/db.ts", HASH),
        change("t4", "src/page.ts", HASH),
        change("t5", "src/auth.ts", "DELETED"),
        change("t6", "empty.ts", EMPTY),
    ];
    record(&api, "ann", &entries, json!({})).await;
    let other = format!("sha256:{:064}", 1);
    let file = |path: &str, hash: &str| FileContent {
        file_path: path.to_owned(),
        hash: hash.to_owned(),
    };
    let request = VerifyRequest {
        repo_url: Some(REPO_URL.to_owned()),
        branch: Some("main".to_owned()),
        files: Some(vec![
            file("README.md", HASH),
            file("README.md", &other),
            file("README.md", "DELETED"),
            file("src/db.ts", EMPTY),
            file("src/auth.ts", "DELETED"),
            file("src/auth.ts", HASH),
            file("empty.ts", EMPTY),
            file("unknown.ts", HASH),
        ]),
        agent_id: None,
    };
    let verdicts: Vec<FileVerdict> = client(&api)
        .verify_files(&request)
        .await
        .unwrap()
        .files
        .into_iter()
        .map(|file| file.verdict)
        .collect();
    assert_eq!(
        verdicts,
        [
            FileVerdict::Intact,
            FileVerdict::Changed,
            FileVerdict::Missing,
            FileVerdict::Reverted,
            FileVerdict::Intact,
            FileVerdict::Changed,
            FileVerdict::Intact,
            FileVerdict::Unrecorded
        ]
    );
    // On another branch nothing was recorded.
    let elsewhere = VerifyRequest {
        branch: Some("other".to_owned()),
        files: Some(vec![file("README.md", HASH)]),
        ..request
    };
    let elsewhere = client(&api).verify_files(&elsewhere).await.unwrap();
    assert_eq!(elsewhere.files[0].verdict, FileVerdict::Unrecorded);
}

#[tokio::test]
async fn the_map_has_the_files_of_intents_and_names_their_owners() {
    let api = Api::start().await;
    let empty = client(&api).intent_map_text(REPO_URL).await.unwrap();
    assert_eq!(empty, "# Intent Map\n\n_No intents have been mapped yet._\n");
    let far = 9_000_000_000_000;
    has_intent(&api, "active", "IN_PROGRESS", far).await;
    has_intent(&api, "idle", "IN_PROGRESS", 1).await;
    has_intent(&api, "ended", "COMPLETED", far).await;
    api.claim(
        "ann",
        "WRITING",
        &["src/db.ts", "src/page.ts", "src/auth.ts", "README.md"],
    )
    .await;
    for (path, intent) in [
        ("src/db.ts", "active"),
        ("src/page.ts", "idle"),
        ("src/auth.ts", "ended"),
    ] {
        record(
            &api,
            "ann",
            &[change(path.trim_start_matches("src/"), path, HASH)],
            json!({ "intent_id": intent }),
        )
        .await;
    }
    record(&api, "ann", &[change("none", "README.md", HASH)], json!({})).await;
    // Recording for an intent counts as activity.
    has_intent(&api, "idle", "IN_PROGRESS", 1).await;
    let map = client(&api).intent_map(REPO_URL, Some("main")).await.unwrap();
    let rows: Vec<_> = map
        .files
        .iter()
        .map(|file| {
            (
                file.file_path.as_str(),
                file.intent_id.as_str(),
                file.is_locked,
                file.hash.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("src/auth.ts", "ended", false, Some(HASH)),
            ("src/db.ts", "active", true, Some(HASH)),
            ("src/page.ts", "idle", false, Some(HASH)),
        ]
    );
    let text = client(&api).intent_map_text(REPO_URL).await.unwrap();
    let read = coord_intents::intent_map::read(&text);
    assert_eq!(read.len(), 3);
    assert!(text.contains("| `src/db.ts`") && read[1].is_locked, "{text}");
    let answer = api
        .get(&format!("/api/ledger/map?repo_url={REPO_URL}&format=markdown"), &[])
        .await;
    assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
}
