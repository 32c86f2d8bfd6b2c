//! The ledger's facts about files: verdicts on their content, and the map.

use coord_intents_state::intents::keys;
use coord_protocol::{FileContent, FileVerdict, VerifyRequest};
use serde_json::json;

use super::{EMPTY, HASH, change, client, record};
use crate::api::{Api, REPO_URL, repo};

/// An intent, as the scripts of the registry write it.
async fn has_intent(api: &Api, id: &str, status: &str, last_activity_ms: u64) {
    let record = json!({
        "status": status, "digest": "", "version": 1, "order": 1, "bytes": 1, "created_ms": 1, "updated_ms": 1,
    });
    let repo = repo();
    let last_activity = format!("0 0 {last_activity_ms}");
    api.command(["HSET", &keys::intents(&repo), id, &record.to_string()])
        .await;
    api.command(["INCR", &keys::governed(&repo)]).await;
    api.command(["HSET", &keys::intent_use(&repo), id, &last_activity])
        .await;
}

#[tokio::test]
async fn a_change_beyond_the_recorded_files_warns_content_not_kept() {
    let api = Api::start().await;
    has_intent(&api, "a", "IN_PROGRESS", 1).await;
    let owners = keys::owners(&repo());
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

/// The verdicts on these contents of files of a branch.
async fn verdicts(api: &Api, branch: &str, files: &[(&str, &str)]) -> Vec<FileVerdict> {
    let file = |(path, hash): &(&str, &str)| FileContent {
        file_path: (*path).to_owned(),
        hash: (*hash).to_owned(),
    };
    let request = VerifyRequest {
        repo_url: Some(REPO_URL.to_owned()),
        branch: Some(branch.to_owned()),
        files: Some(files.iter().map(file).collect()),
        agent_id: None,
    };
    let verified = client(api).verify_files(&request).await.unwrap();
    verified.files.into_iter().map(|file| file.verdict).collect()
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
    let (files, expected): (Vec<_>, Vec<_>) = [
        (("README.md", HASH), FileVerdict::Intact),
        (("README.md", other.as_str()), FileVerdict::Changed),
        (("README.md", "DELETED"), FileVerdict::Missing),
        (("src/db.ts", EMPTY), FileVerdict::Reverted),
        (("src/auth.ts", "DELETED"), FileVerdict::Intact),
        (("src/auth.ts", HASH), FileVerdict::Changed),
        (("empty.ts", EMPTY), FileVerdict::Intact),
        (("unknown.ts", HASH), FileVerdict::Unrecorded),
    ]
    .into_iter()
    .unzip();
    assert_eq!(verdicts(&api, "main", &files).await, expected);
    // On another branch nothing was recorded.
    let elsewhere = verdicts(&api, "other", &[("README.md", HASH)]).await;
    assert_eq!(elsewhere, [FileVerdict::Unrecorded]);
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
    let paths = ["src/db.ts", "src/page.ts", "src/auth.ts", "README.md"];
    api.claim("ann", "WRITING", &paths).await;
    for (path, intent) in paths.into_iter().zip(["active", "idle", "ended"]) {
        let changed = [change(path.trim_start_matches("src/"), path, HASH)];
        record(&api, "ann", &changed, json!({ "intent_id": intent })).await;
    }
    record(&api, "ann", &[change("none", "README.md", HASH)], json!({})).await;
    // Recording for an intent counts as activity.
    has_intent(&api, "idle", "IN_PROGRESS", 1).await;
    let map = client(&api).intent_map(REPO_URL, Some("main")).await.unwrap();
    let rows: Vec<_> = map
        .files
        .iter()
        .map(|file| (file.file_path.as_str(), file.intent_id.as_str(), file.is_locked))
        .collect();
    assert_eq!(
        rows,
        [
            ("src/auth.ts", "ended", false),
            ("src/db.ts", "active", true),
            ("src/page.ts", "idle", false),
        ]
    );
    assert!(map.files.iter().all(|file| file.hash.as_deref() == Some(HASH)));
    let text = client(&api).intent_map_text(REPO_URL).await.unwrap();
    let read = coord_intents::intent_map::read(&text);
    assert_eq!(read.len(), 3);
    assert!(text.contains("| `src/db.ts`") && read[1].is_locked, "{text}");
    let answer = api.gets("ann", "ledger/map", "&format=markdown").await;
    assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
}
