//! Interfaces that a writer is to keep, and what is said when it has not.

use serde_json::{Value, json};

use crate::api::{ACTIVITY, Answer, Api};

/// The warnings, except those about the age of the graph.
pub fn warnings(answer: &Answer) -> Vec<String> {
    let mut all = answer.warnings("");
    all.retain(|warning| !warning.starts_with("GRAPH_STALE"));
    all
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

fn keeps() -> Value {
    json!({ "interface": "keeps" })
}

/// The shop, where bob writes `src/db.ts` and ann its neighbor, and both keep the interfaces.
async fn shop_with_writers() -> Api {
    let api = shop().await;
    api.granted("bob", "WRITING", &["src/db.ts"], keeps()).await;
    api.granted("ann", "WRITING", &["src/auth.ts"], keeps()).await;
    api
}

/// Bob releases `files` after a push of `pushed`.
async fn opens(api: &Api, pushed: &str, files: &[&str]) -> Answer {
    let heads = json!({"new_repo_head": pushed, "agent_head": pushed});
    let opened = api.post_status("bob", "OPEN", files, heads).await;
    opened.expect("200");
    opened
}

// rule: locks#keeps
// rule: locks#blocks-others
#[tokio::test]
async fn a_claim_of_a_file_with_many_importers_warns_blocks_others_beside_locks_of_others() {
    let api = Api::start().await;
    let names: Vec<String> = (0..21).map(|number| format!("src/importer{number}.ts")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "import './db';\n")).collect();
    let there = json!({ "agent_head": api.git.commit(&files) });
    api.build_graph().await;
    let blocks_others = async || {
        let claim = api.post_status("ann", "WRITING", &["src/db.ts"], there.clone()).await;
        claim.expect("200");
        claim.warnings("BLOCKS_OTHERS: Until you release 'src/db.ts'").len()
    };
    assert_eq!(blocks_others().await, 0);
    api.abandon("ann", &["src/db.ts"]).await;
    api.granted("eve", "READING", &["README.md"], there.clone()).await;
    assert_eq!(blocks_others().await, 1);
}

#[tokio::test]
async fn a_claim_beside_a_writer_that_keeps_its_interface_is_granted_with_a_warning() {
    let api = shop().await;
    let claim = api.granted("bob", "WRITING", &["src/db.ts"], keeps()).await;
    assert_eq!(claim["locks"]["src/db.ts"]["interface"], "keeps");
    for (says, outcome) in [
        (json!({}), "200 CONFLICT"),
        (json!({"interface": "changes"}), "200 CONFLICT"),
        (keeps(), "200 OK"),
    ] {
        let check = api.check("ann", &["src/auth.ts"], says).await.expect(outcome);
        assert_eq!(check["locks"]["src/db.ts"]["interface"], "keeps");
    }
    let claim = async |files: &[&str], more: Value| api.post_status("ann", "WRITING", files, more).await;
    let one_of_two = json!({"interface": "keeps", "interface_changes": ["src/auth.ts"]});
    let refused = claim(&["src/auth.ts", "README.md"], one_of_two).await;
    refused.expect("409");
    let beside = claim(&["src/auth.ts"], keeps()).await;
    beside.expect("200");
    let warning = "NEIGHBOR: File 'src/db.ts', which 'src/auth.ts' imports, is being written by user 'bob', who keeps its interface (NEIGHBOR): ";
    assert!(warnings(&beside)[0].starts_with(warning), "{}", beside.json());
    api.abandon("ann", &["src/auth.ts"]).await;
    let changes = json!({"interface": "changes"});
    let changes = api.granted("bob", "WRITING", &["src/db.ts"], changes).await;
    assert!(changes["locks"]["src/db.ts"]["interface"].is_null());
    // A writer that changes it blocks.
    claim(&["src/auth.ts"], keeps()).await.expect("409");
}

#[tokio::test]
async fn contradictory_interface_terms_are_refused() {
    let api = shop().await;
    for status in ["READING", "OPEN"] {
        let refused = api.post_status("ann", status, &["src/db.ts"], keeps()).await;
        assert_eq!(
            refused.refusal(),
            "400 INVALID_FIELD interface: interface goes only with \"status\": \"WRITING\": only the writer of a file can keep or change its interface"
        );
    }
    for (files, problem) in [
        (json!(["src/auth.ts"]), "names a file that is not in file_paths"),
        (json!(["/etc"]), "is absolute"),
    ] {
        let changes = json!({"interface_changes": files});
        let refused = api
            .post_status("ann", "WRITING", &["src/db.ts"], changes)
            .await
            .refusal();
        assert!(
            refused.starts_with("400 INVALID_FIELD interface_changes: interface_changes ") && refused.contains(problem),
            "{refused}"
        );
    }
    let unknown = json!({"interface": "Keeps"});
    let refused = api.post_status("ann", "WRITING", &["src/db.ts"], unknown).await;
    refused.expect("400");
    assert_eq!(api.held().await, 0);
}

#[tokio::test]
async fn an_interface_that_was_kept_is_no_news() {
    let api = shop().await;
    api.granted("bob", "WRITING", &["src/db.ts"], keeps()).await;
    let body = BEFORE.replace("return run(text);", "log(text); return run(text); /* faster */");
    let pushed = api.git.commit(&[("src/db.ts", &body)]);
    let open = opens(&api, &pushed, &["src/db.ts"]).await;
    assert_eq!(warnings(&open), [""; 0]);
}

// rule: locks#checked-at-release
#[tokio::test]
async fn a_broken_promise_warns_interface_changed_and_notifies_watchers_and_neighbors() {
    let api = shop_with_writers().await;
    let changed = BEFORE.replace("limit", "most").replace("text: string", "text: Query");
    let pushed = api.git.commit(&[("src/db.ts", &changed)]);
    let open = opens(&api, &pushed, &["src/db.ts"]).await;
    let warning = "INTERFACE_CHANGED: You promised to keep the interface of 'src/db.ts': `query` changed, `limit` is gone, `most` is new; the holder of a \
                neighbor is notified.";
    assert_eq!(warnings(&open), [warning]);
    let activity = api.get_json(ACTIVITY).await;
    let mut events = activity["events"].as_array().unwrap().iter();
    let event = events.find(|event| event["type"] == "interface_changed").unwrap();
    assert_eq!(
        (&event["files"], &event["user"], &event["told"]),
        (&json!(["src/db.ts"]), &json!("bob"), &json!(1))
    );
    assert_eq!(event["names"], json!(["query", "limit", "most"]));
    let notice = "INTERFACE_CHANGED: User 'bob' changed the interface of 'src/db.ts', a neighbor of 'src/auth.ts', which was to be kept: \
                query, limit, most.";
    let claim = async || api.post_status("ann", "WRITING", &["src/auth.ts"], json!({})).await;
    let check = api.check("ann", &["src/auth.ts"], json!({})).await;
    for (answer, times) in [(check, 1), (claim().await, 1), (claim().await, 0)] {
        assert_eq!(answer.warnings(notice).len(), times, "{}", answer.json());
    }
}

// rule: locks#incomparable
#[tokio::test]
async fn an_incomparable_file_counts_as_changed_and_a_deleted_one_lost_its_names() {
    let api = shop().await;
    let files = ["src/db.ts", "README.md", "src/new.ts"];
    api.granted("bob", "WRITING", &files, keeps()).await;
    let pushed = api.git.commit(&[
        ("src/db.ts", "export function query( {"),
        ("README.md", "changed"),
        ("src/new.ts", "export const a = 1;"),
    ]);
    let open = opens(&api, &pushed, &files).await;
    let warning = "INTERFACE_CHANGED: You promised to keep the interface of 'src/db.ts': it cannot be compared (not_understood), and so counts as \
                changed; no neighbor is locked.";
    assert_eq!(warnings(&open), [warning], "no word about texts and new files");
    let head = api.git.commit(&[("src/db.ts", BEFORE)]);
    let claim = json!({"interface": "keeps", "agent_head": head});
    api.granted("bob", "WRITING", &["src/db.ts"], claim).await;
    api.git.git(&["rm", "--quiet", "src/db.ts"]);
    let gone = api.git.commit(&[("README.md", "more")]);
    let open = opens(&api, &gone, &["src/db.ts"]).await;
    assert!(
        warnings(&open)[0]
            .contains("You promised to keep the interface of 'src/db.ts': `limit` is gone, `query` is gone; "),
        "{}",
        open.json()
    );
}

#[tokio::test]
async fn a_name_turns_no_text_around_for_others() {
    let api = shop_with_writers().await;
    let changed = format!("{BEFORE}export {{ limit as \"a\u{202e}\u{200b}b\" }};\n");
    let pushed = api.git.commit(&[("src/db.ts", &changed)]);
    let open = opens(&api, &pushed, &["src/db.ts"]).await;
    assert!(warnings(&open)[0].contains("`ab` is new"), "{}", open.json());
    let check = api.check("ann", &["src/auth.ts"], json!({})).await;
    for text in [open.json(), check.json(), api.get_json(ACTIVITY).await] {
        let text = text.to_string();
        assert!(
            text.contains("INTERFACE_CHANGED") || text.contains("interface_changed"),
            "{text}"
        );
        assert!(!text.contains(['\u{202e}', '\u{200b}']), "{text}");
    }
}
