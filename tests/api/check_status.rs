//! `POST /api/check_status`.

use insta::assert_json_snapshot;
use serde_json::json;

use crate::api::{Answer, Api};

/// A server with the graph of its head.
async fn start() -> Api {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    api
}

/// Ann's check of `src/auth.ts`.
async fn check_auth(api: &Api) -> Answer {
    api.check("ann", &["src/auth.ts"], json!({})).await
}

#[tokio::test]
async fn a_check_without_conflicts_is_ok() {
    let api = start().await;
    assert_json_snapshot!(check_auth(&api).await.snapshot());
}

#[tokio::test]
async fn a_graph_that_is_missing_or_old_is_a_warning() {
    let api = Api::start().await;
    assert_json_snapshot!("missing", check_auth(&api).await.json()["warnings"]);
    api.publish_graph(&api.first).await;
    assert_json_snapshot!("old", check_auth(&api).await.json()["warnings"]);
}

#[tokio::test]
async fn a_working_copy_that_is_behind_is_stale() {
    let api = start().await;
    let behind = json!({ "agent_head": api.first });
    assert_json_snapshot!(api.check("ann", &["src/auth.ts"], behind).await.snapshot());
}

#[tokio::test]
async fn a_commit_that_is_not_pushed_is_not_stale_when_its_base_is_known() {
    let api = Api::start().await;
    api.git.git(&["checkout", "--quiet", "-b", "work"]);
    let local = api.git.commit(&[("src/new.ts", "")]);
    let unknown = "0123456789abcdef0123456789abcdef01234567";
    for (heads, status) in [
        // The source knows the commit.
        (json!({ "agent_head": local }), "200 OK"),
        (json!({ "agent_head": &local[..10] }), "200 OK"),
        (json!({ "agent_head": unknown }), "200 STALE"),
        (json!({ "agent_head": unknown, "base_head": api.head }), "200 OK"),
        (json!({ "agent_head": unknown, "base_head": api.first }), "200 STALE"),
        (json!({ "agent_head": unknown, "base_head": local }), "200 OK"),
    ] {
        api.check("ann", &["src/auth.ts"], heads).await.expect(status);
    }
}

// rule: messages#switch-task
#[tokio::test]
async fn a_file_that_another_writes_is_a_direct_conflict() {
    let api = start().await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    assert_json_snapshot!(check_auth(&api).await.snapshot());
}

#[tokio::test]
async fn written_neighbors_are_conflicts_both_ways_and_name_their_relation() {
    let api = start().await;
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    api.claim("cid", "WRITING", &["src/page.ts"]).await;
    assert_json_snapshot!(check_auth(&api).await.snapshot());
}

#[tokio::test]
async fn a_conflict_that_is_also_stale_reports_both() {
    let api = Api::start().await;
    api.claim("bob", "WRITING", &["src/auth.ts"]).await;
    let behind = json!({ "agent_head": api.first });
    assert_json_snapshot!(api.check("ann", &["src/auth.ts"], behind).await.snapshot());
}

#[tokio::test]
async fn an_own_lock_is_held_and_no_conflict() {
    let api = start().await;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    api.claim("ann", "READING", &["src/db.ts"]).await;
    let files = ["src/auth.ts", "src/db.ts", "src/page.ts"];
    assert_json_snapshot!(api.check("ann", &files, json!({})).await.snapshot());
}

#[tokio::test]
async fn several_readers_are_all_listed_behind_the_earliest() {
    let api = start().await;
    for user in ["bob", "cid"] {
        api.claim(user, "READING", &["src/auth.ts"]).await;
    }
    let two = json!({ "agent_id": "two" });
    api.granted("cid", "READING", &["src/auth.ts"], two).await;
    assert_json_snapshot!("to_write", check_auth(&api).await.snapshot());
    let to_read = json!({ "intent": "READING" });
    let to_read = api.check("ann", &["src/auth.ts"], to_read).await;
    let readers = &to_read.expect("200 OK PROCEED")["locks"]["src/auth.ts"]["readers"];
    assert_eq!(readers.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_reader_is_only_warned_of_a_written_neighbor() {
    let api = start().await;
    api.claim("bob", "WRITING", &["src/db.ts"]).await;
    let to_read = json!({ "intent": "READING" });
    assert_json_snapshot!(api.check("ann", &["src/auth.ts"], to_read).await.snapshot());
}

#[tokio::test]
async fn a_lock_on_another_branch_is_a_warning_that_names_it() {
    let api = start().await;
    api.git.git(&["branch", "feature/login"]);
    let there = json!({ "branch": "feature/login", "agent_id": "night-shift" });
    api.granted("bob", "WRITING", &["src/auth.ts"], there).await;
    assert_json_snapshot!(check_auth(&api).await.snapshot());
}

#[tokio::test]
async fn another_agent_of_the_same_person_is_another_holder() {
    let api = Api::start().await;
    let body = api.post_body("WRITING", &["src/auth.ts"], json!({}));
    let as_one = [("x-coord-user", "ann"), ("x-coord-agent", "one")];
    api.post_with(&as_one, "/api/post_status", &body).await.expect("200");
    for (more, status) in [
        (json!({}), "200 CONFLICT"),
        (json!({ "agent_id": "two" }), "200 CONFLICT"),
        // The field says what the header said.
        (json!({ "agent_id": "one" }), "200 OK"),
    ] {
        api.check("ann", &["src/auth.ts"], more).await.expect(status);
    }
    // The field counts where both are sent.
    let body = api.check_body(&["src/auth.ts"], json!({ "agent_id": "two" }));
    let checked = api.post_with(&as_one, "/api/check_status", &body).await;
    checked.expect("200 CONFLICT");
}

#[tokio::test]
async fn a_file_that_is_tracked_in_other_case_is_named() {
    let api = Api::start().await;
    api.build_graph().await;
    for (paths, warnings) in [
        (
            ["src/Auth.ts", "README.md", "src/new.ts"],
            &["CASE_DIFFERS: 'src/Auth.ts' is not tracked, and 'src/auth.ts' is; check which file you mean."][..],
        ),
        (["src/auth.ts", "README.md", "src/Page.tsx"], &[]),
    ] {
        assert_eq!(api.check("ann", &paths, json!({})).await.warnings(""), warnings);
    }

    // The same of a claim; of many files the first are named.
    let spell = |bits: u32| {
        let letters = "readme".char_indices();
        let name = letters.map(|(at, letter)| match bits >> at & 1 {
            1 => letter.to_ascii_uppercase(),
            _ => letter,
        });
        format!("{}.md", name.collect::<String>())
    };
    let spellings: Vec<String> = (0..64).map(spell).filter(|path| path != "README.md").collect();
    let paths: Vec<&str> = spellings.iter().map(String::as_str).collect();
    let claimed = api.post_status("ann", "WRITING", &paths, json!({})).await;
    claimed.expect("200");
    let warnings = claimed.warnings("CASE_DIFFERS: ");
    assert_eq!(warnings.len(), 17, "{warnings:?}");
    assert_eq!(
        warnings[16],
        "CASE_DIFFERS: 47 more of these files differ from tracked ones in case only."
    );
}
