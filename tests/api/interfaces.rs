//! Interfaces that a writer is to keep, and what is said when it has not.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::api::Api;

fn warnings(body: &Value) -> Vec<&str> {
    let warnings = body["warnings"].as_array().unwrap().iter().filter_map(Value::as_str);
    warnings.filter(|warning| !warning.starts_with("GRAPH_STALE")).collect()
}

const BEFORE: &str =
    "export function query(text: string): Promise<void> { return run(text); }\nexport const limit = 5;\n";

/// `src/db.ts` has an interface.
async fn shop() -> Api {
    let mut api = Api::start().await;
    api.head = api.git.commit(&[("src/db.ts", BEFORE)]);
    api.publish_graph(&api.head).await;
    api
}

/// Bob releases `files` after a push of `pushed`.
async fn opens(api: &Api, pushed: &str, files: &[&str]) -> Answer {
    let heads = json!({"new_repo_head": pushed, "agent_head": pushed});
    api.post_status("bob", "OPEN", files, heads).await
}

// rule: locks#keeps
// rule: locks#blocks-others
#[tokio::test]
async fn a_claim_of_a_file_with_many_importers_warns_blocks_others_beside_locks_of_others() {
    let api = Api::start().await;
    let names: Vec<String> = (0..21).map(|number| format!("src/importer{number}.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "import './db';\n")).collect();
    let head = api.git.commit(&files);
    api.build_graph().await;
    let there = json!({ "agent_head": head });
    let warned = |body: &Value| {
        body["warnings"]
            .to_string()
            .contains("BLOCKS_OTHERS: Until you release 'src/db.ts'")
    };
    let alone = api.post_status("ann", "WRITING", &["src/db.ts"], there.clone()).await;
    assert_eq!(alone.status, 200, "{}", alone.json());
    assert!(!warned(&alone.json()), "{}", alone.json());
    api.post_status("ann", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
        .await;
    let other = api.post_status("eve", "READING", &["README.md"], there.clone()).await;
    assert_eq!(other.status, 200, "{}", other.json());
    let beside = api.post_status("ann", "WRITING", &["src/db.ts"], there).await;
    assert!(warned(&beside.json()), "{}", beside.json());
}

#[tokio::test]
async fn a_claim_beside_a_writer_that_keeps_its_interface_is_granted_with_a_warning() {
    let api = shop().await;
    let keeps = json!({"interface": "keeps"});
    let claim = api.post_status("bob", "WRITING", &["src/db.ts"], keeps.clone()).await;
    assert_eq!(claim.json()["locks"]["src/db.ts"]["interface"], "keeps");
    for (says, status) in [
        (json!({}), "CONFLICT"),
        (json!({"interface": "changes"}), "CONFLICT"),
        (keeps.clone(), "OK"),
    ] {
        let check = api.check("ann", &["src/auth.ts"], says).await.json();
        assert_eq!(
            (&check["status"], &check["locks"]["src/db.ts"]["interface"]),
            (&json!(status), &json!("keeps"))
        );
    }
    let one_of_two = json!({"interface": "keeps", "interface_changes": ["src/auth.ts"]});
    let refused = api
        .post_status("ann", "WRITING", &["src/auth.ts", "README.md"], one_of_two)
        .await;
    assert_eq!(refused.status, 409, "{}", refused.json());
    let beside = api.post_status("ann", "WRITING", &["src/auth.ts"], keeps.clone()).await;
    assert_eq!(beside.status, 200, "{}", beside.json());
    let warning = "NEIGHBOR: File 'src/db.ts', which 'src/auth.ts' imports, is being written by user 'bob', who keeps its interface (NEIGHBOR): ";
    assert!(warnings(&beside.json())[0].starts_with(warning), "{}", beside.json());
    api.post_status("ann", "OPEN", &["src/auth.ts"], json!({"abandon": true}))
        .await;
    let changes = api
        .post_status("bob", "WRITING", &["src/db.ts"], json!({"interface": "changes"}))
        .await;
    assert!(changes.json()["locks"]["src/db.ts"]["interface"].is_null());
    assert_eq!(
        api.post_status("ann", "WRITING", &["src/auth.ts"], keeps).await.status,
        409,
        "who changes it blocks"
    );
}

#[tokio::test]
async fn contradictory_interface_terms_are_refused() {
    let api = shop().await;
    for status in ["READING", "OPEN"] {
        let refused = api
            .post_status("ann", status, &["src/db.ts"], json!({"interface": "keeps"}))
            .await;
        assert_eq!(
            refused.refusal(),
            "400 INVALID_FIELD interface: interface goes with \"status\": \"WRITING\" alone: only who writes a file can keep its interface, or change it"
        );
    }
    for (files, problem) in [
        (json!(["src/auth.ts"]), "names a file that is not in file_paths"),
        (json!(["/etc"]), "is absolute"),
    ] {
        let refused = api
            .post_status("ann", "WRITING", &["src/db.ts"], json!({"interface_changes": files}))
            .await
            .refusal();
        assert!(
            refused.starts_with("400 INVALID_FIELD interface_changes: interface_changes ") && refused.contains(problem),
            "{refused}"
        );
    }
    let unknown = api
        .post_status("ann", "WRITING", &["src/db.ts"], json!({"interface": "Keeps"}))
        .await;
    assert_eq!(unknown.status, 400, "{}", unknown.json());
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn an_interface_that_was_kept_is_no_news() {
    let api = shop().await;
    api.post_status("bob", "WRITING", &["src/db.ts"], json!({"interface": "keeps"}))
        .await;
    let body = BEFORE.replace("return run(text);", "log(text); return run(text); /* faster */");
    let pushed = api.git.commit(&[("src/db.ts", &body)]);
    let open = opens(&api, &pushed, &["src/db.ts"]).await;
    assert_eq!((open.status, warnings(&open.json()).len()), (200, 0), "{}", open.json());
}

// rule: locks#checked-at-release
#[tokio::test]
async fn a_broken_promise_warns_interface_changed_and_notifies_watchers_and_neighbors() {
    let api = shop().await;
    api.post_status("bob", "WRITING", &["src/db.ts"], json!({"interface": "keeps"}))
        .await;
    api.post_status("ann", "WRITING", &["src/auth.ts"], json!({"interface": "keeps"}))
        .await;
    let changed = BEFORE.replace("limit", "most").replace("text: string", "text: Query");
    let pushed = api.git.commit(&[("src/db.ts", &changed)]);
    let open = opens(&api, &pushed, &["src/db.ts"]).await;
    assert_eq!(open.status, 200);
    let warning = "INTERFACE_CHANGED: You promised to keep the interface of 'src/db.ts': `query` changed, `limit` is gone, `most` is new; the holder of a \
                neighbor is notified.";
    assert_eq!(warnings(&open.json()), [warning]);
    let events = api
        .get("/api/activity?repo_url=https://github.com/acme/shop", &[])
        .await
        .json();
    let event = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["type"] == "interface_changed")
        .unwrap();
    assert_eq!(
        (&event["files"], &event["user"], &event["told"]),
        (&json!(["src/db.ts"]), &json!("bob"), &json!(1))
    );
    assert_eq!(event["names"], json!(["query", "limit", "most"]));
    let notice = "INTERFACE_CHANGED: User 'bob' changed the interface of 'src/db.ts', a neighbor of 'src/auth.ts', which was to be kept: \
                query, limit, most.";
    let check = api.check("ann", &["src/auth.ts"], json!({})).await.json();
    assert!(warnings(&check).contains(&notice), "{check}");
    let renewed = api
        .post_status("ann", "WRITING", &["src/auth.ts"], json!({}))
        .await
        .json();
    assert!(warnings(&renewed).contains(&notice), "{renewed}");
    let again = api
        .post_status("ann", "WRITING", &["src/auth.ts"], json!({}))
        .await
        .json();
    assert!(!warnings(&again).contains(&notice), "{again}");
}

// rule: locks#incomparable
#[tokio::test]
async fn an_incomparable_file_counts_as_changed_and_a_deleted_one_lost_its_names() {
    let api = shop().await;
    let keeps = json!({"interface": "keeps"});
    api.post_status(
        "bob",
        "WRITING",
        &["src/db.ts", "README.md", "src/new.ts"],
        keeps.clone(),
    )
    .await;
    let broken = "export function query( {";
    let pushed = api.git.commit(&[
        ("src/db.ts", broken),
        ("README.md", "changed"),
        ("src/new.ts", "export const a = 1;"),
    ]);
    let files = ["src/db.ts", "README.md", "src/new.ts"];
    let open = opens(&api, &pushed, &files).await;
    let warning = "INTERFACE_CHANGED: You promised to keep the interface of 'src/db.ts': it cannot be compared (not_understood), and so counts as \
                changed; no neighbor is locked.";
    assert_eq!(warnings(&open.json()), [warning], "no word about texts and new files");
    api.git.commit(&[("src/db.ts", BEFORE)]);
    let head = api.git.git(&["rev-parse", "HEAD"]);
    let claim = json!({"interface": "keeps", "agent_head": head.trim()});
    assert_eq!(
        api.post_status("bob", "WRITING", &["src/db.ts"], claim).await.status,
        200
    );
    api.git.git(&["rm", "--quiet", "src/db.ts"]);
    let gone = api.git.commit(&[("README.md", "more")]);
    let open = opens(&api, &gone, &["src/db.ts"]).await;
    let body = open.json();
    assert!(
        warnings(&body)[0]
            .contains("You promised to keep the interface of 'src/db.ts': `limit` is gone, `query` is gone; "),
        "{body}"
    );
}

#[tokio::test]
async fn a_name_turns_no_text_around_for_others() {
    let api = shop().await;
    api.post_status("bob", "WRITING", &["src/db.ts"], json!({"interface": "keeps"}))
        .await;
    api.post_status("ann", "WRITING", &["src/auth.ts"], json!({"interface": "keeps"}))
        .await;
    let changed = format!("{BEFORE}export {{ limit as \"a\u{202e}\u{200b}b\" }};\n");
    let pushed = api.git.commit(&[("src/db.ts", &changed)]);
    let open = opens(&api, &pushed, &["src/db.ts"]).await.json();
    assert!(warnings(&open)[0].contains("`ab` is new"), "{open}");
    let check = api.check("ann", &["src/auth.ts"], json!({})).await.json();
    let events = api
        .get("/api/activity?repo_url=https://github.com/acme/shop", &[])
        .await
        .json();
    for text in [open, check, events] {
        let text = text.to_string();
        assert!(
            text.contains("INTERFACE_CHANGED") || text.contains("interface_changed"),
            "{text}"
        );
        assert!(!text.contains(['\u{202e}', '\u{200b}']), "{text}");
    }
}
