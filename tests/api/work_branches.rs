//! Work on branches of the agents' own: what OPEN wants, what is told of changes that are not merged, and when that ends.

use serde_json::{Value, json};

use crate::api::{Api, repo};

fn warnings(body: &Value) -> Vec<&str> {
    let warnings = body["warnings"].as_array().unwrap().iter().filter_map(Value::as_str);
    warnings.filter(|warning| !warning.starts_with("GRAPH_STALE")).collect()
}

/// A commit on `work_branch`, which is made from `main`; `main` is checked out again.
fn commits_on(api: &Api, work_branch: &str, files: &[(&str, &str)]) -> String {
    api.git.git(&["checkout", "--quiet", "-B", work_branch, "main"]);
    let commit = api.git.commit(files);
    api.git.git(&["checkout", "--quiet", "main"]);
    commit
}

/// Ann changes src/db.ts on `pool`, and gives it back.
async fn with_pending() -> Api {
    let api = Api::start().await;
    api.build_graph().await;
    let on_pool = json!({ "work_branch": "pool" });
    let claim = api.post_status("ann", "WRITING", &["src/db.ts"], on_pool).await;
    assert_eq!(claim.status, 200, "{}", claim.json());
    let pushed = commits_on(&api, "pool", &[("src/db.ts", "export const pool = 1;\n")]);
    let open = json!({ "work_branch": "pool", "new_repo_head": pushed, "agent_head": pushed });
    let open = api.post_status("ann", "OPEN", &["src/db.ts"], open).await;
    assert_eq!(open.status, 200, "{}", open.json());
    assert_eq!(
        open.json()["orchestration"]["reason"],
        "Released 'src/db.ts'; until they are on main, others see your changes of 'src/db.ts' on pool"
    );
    api
}

async fn pending(api: &Api) -> Value {
    let locks = api.get("/api/locks?repo_url=https://github.com/acme/shop", &[]).await;
    locks.json()["pending"].clone()
}

// rule: locks#pending-full
#[tokio::test]
async fn a_release_beyond_the_bound_of_pending_changes_warns_pending_full() {
    let api = Api::start().await;
    api.build_graph().await;
    let claim = api
        .post_status("ann", "WRITING", &["src/db.ts"], json!({ "work_branch": "pool" }))
        .await;
    assert_eq!(claim.status, 200, "{}", claim.json());
    let key = coord_state::locks::keys::pending(&repo());
    api.command(["HSET", &key, "\nann", "2000", "\n", "2000"]).await;
    let pushed = commits_on(&api, "pool", &[("src/db.ts", "export const pool = 1;\n")]);
    let open = json!({ "work_branch": "pool", "new_repo_head": pushed, "agent_head": pushed });
    let open = api.post_status("ann", "OPEN", &["src/db.ts"], open).await;
    assert_eq!(open.status, 200, "{}", open.json());
    let full = "PENDING_FULL: Others do not see your changes of 'src/db.ts', because too many changes are pending: merge some.";
    assert_eq!(warnings(&open.json()), [full]);
    assert_eq!(api.held().await, 0, "the lock is released all the same");
}

const TOLD: &str =
    "PENDING: 'src/db.ts' has unmerged changes by user 'ann' on 'pool': “Moving sessions from cookies to tokens”";

// rule: locks#pending
#[tokio::test]
async fn changes_on_a_work_branch_warn_pending_until_they_are_merged() {
    let api = with_pending().await;
    let check = api.check("bob", &["src/db.ts"], json!({})).await.json();
    assert_eq!((&check["status"], warnings(&check)), (&json!("OK"), vec![TOLD]));
    assert_eq!(check["locks"], json!({}), "it is not a lock");
    let claim = api
        .post_status("bob", "WRITING", &["src/db.ts"], json!({}))
        .await
        .json();
    assert_eq!((&claim["success"], warnings(&claim)), (&json!(true), vec![TOLD]));
    let own = api
        .check("ann", &["src/db.ts"], json!({ "work_branch": "pool" }))
        .await
        .json();
    assert!(!warnings(&own).contains(&TOLD), "{own}");
    let shown = pending(&api).await;
    assert_eq!(
        (
            &shown[0]["file_path"],
            &shown[0]["user"],
            &shown[0]["work_branch"],
            &shown[0]["branch"]
        ),
        (&json!("src/db.ts"), &json!("ann"), &json!("pool"), &json!("main"))
    );
    let graph = api
        .get("/api/graph?repo_url=https://github.com/acme/shop&branch=main", &[])
        .await
        .json();
    assert_eq!(graph["pending"], shown);
    // The branch moves on without them.
    api.git.commit(&[("README.md", "More")]);
    api.build_graph().await;
    assert_eq!(pending(&api).await, shown);
    // Their content arrives by another commit, as of a squash.
    api.git.commit(&[("src/db.ts", "export const pool = 1;\n")]);
    api.build_graph().await;
    assert_eq!(pending(&api).await, Value::Null);
}

#[tokio::test]
async fn they_end_with_their_commit_on_the_branch_and_with_their_branch() {
    let api = with_pending().await;
    // Merged, and changed once more before anybody looks.
    api.git.git(&["merge", "--quiet", "--no-edit", "--no-ff", "pool"]);
    api.git.commit(&[("src/db.ts", "export const pool = 2;\n")]);
    api.build_graph().await;
    assert_eq!(pending(&api).await, Value::Null);

    let api = with_pending().await;
    api.git.git(&["branch", "-D", "pool"]);
    api.git.commit(&[("README.md", "More")]);
    api.build_graph().await;
    assert_eq!(pending(&api).await, Value::Null);
}

#[tokio::test]
async fn a_removed_file_is_pending_until_it_is_removed() {
    let api = Api::start().await;
    api.build_graph().await;
    api.post_status("ann", "WRITING", &["src/page.ts"], json!({ "work_branch": "less" }))
        .await;
    api.git.git(&["checkout", "--quiet", "-B", "less", "main"]);
    api.git.git(&["rm", "--quiet", "src/page.ts"]);
    let pushed = api.git.commit(&[]);
    api.git.git(&["checkout", "--quiet", "main"]);
    let open = json!({ "work_branch": "less", "new_repo_head": pushed, "agent_head": pushed });
    let open = api.post_status("ann", "OPEN", &["src/page.ts"], open).await;
    assert_eq!(open.status, 200, "{}", open.json());
    assert_eq!(pending(&api).await[0]["file_path"], "src/page.ts");
    api.git.git(&["rm", "--quiet", "src/page.ts"]);
    api.git.commit(&[]);
    api.build_graph().await;
    assert_eq!(pending(&api).await, Value::Null);
}

// rule: locks#work-pushed
#[tokio::test]
async fn open_wants_the_work_on_the_work_branch_or_on_the_branch() {
    let api = Api::start().await;
    api.build_graph().await;
    let claims = async |file: &str| {
        let claim = api
            .post_status("ann", "WRITING", &[file], json!({ "work_branch": "pool" }))
            .await;
        assert_eq!(claim.status, 200, "{}", claim.json());
    };
    claims("src/db.ts").await;
    let pushed = commits_on(&api, "pool", &[("src/db.ts", "1")]);
    let elsewhere = commits_on(&api, "other", &[("src/db.ts", "2")]);
    let open = async |work_branch: Option<&str>, commit: &str| {
        let more = json!({ "work_branch": work_branch, "new_repo_head": commit, "agent_head": commit });
        api.post_status("ann", "OPEN", &["src/db.ts"], more).await
    };
    for (work_branch, commit, whose) in [
        (None, &pushed, "main"),
        (Some("main"), &pushed, "main"),
        (Some("pool"), &elsewhere, "pool or main"),
        (Some("unknown"), &pushed, "unknown or main"),
    ] {
        let refused = open(work_branch, commit).await;
        assert_eq!(refused.status, 409, "{work_branch:?}");
        let body = refused.json();
        assert_eq!(body["orchestration"]["action"], "PUSH");
        let reason = body["orchestration"]["reason"].as_str().unwrap();
        let expected = format!("commit {} is not on {whose}", &commit[..7]);
        assert!(reason.contains(&expected), "{reason}");
    }
    assert_eq!(open(Some("pool"), &pushed).await.status, 200);
    // A change on the branch itself is not pending.
    claims("src/auth.ts").await;
    let pushed = api.git.commit(&[("src/auth.ts", "1")]);
    let more = json!({ "work_branch": "pool", "new_repo_head": pushed, "agent_head": pushed });
    let body = api.post_status("ann", "OPEN", &["src/auth.ts"], more).await.json();
    assert_eq!(body["orchestration"]["reason"], "Released 'src/auth.ts'");
    assert_eq!(pending(&api).await.as_array().unwrap().len(), 1);
}

// rule: locks#pending
// rule: policy#pending
#[tokio::test]
async fn a_policy_refuses_writers_beside_pending_changes() {
    let api = with_pending().await;
    api.publish_policy("pending = \"block\"", None).await;
    let check = api.check("bob", &["src/db.ts"], json!({})).await.json();
    assert_eq!(
        (&check["status"], &check["orchestration"]["action"]),
        (&json!("CONFLICT"), &json!("SWITCH_TASK"))
    );
    let refused = api
        .post_status("bob", "WRITING", &["src/db.ts", "src/new.ts"], json!({}))
        .await;
    let body = refused.json();
    assert_eq!(
        (refused.status, &body["orchestration"]["action"]),
        (409, &json!("SWITCH_TASK"))
    );
    let reason = body["orchestration"]["reason"].as_str().unwrap();
    assert_eq!(format!("PENDING: {reason}"), TOLD);
    assert_eq!(body["orchestration"]["metadata"]["conflicts"], json!(["src/db.ts"]));
    assert_eq!(api.held().await, 0);
    assert_eq!(
        api.post_status("bob", "READING", &["src/db.ts"], json!({}))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn a_work_branch_that_is_none_is_refused() {
    let api = Api::start().await;
    let wrong = json!({ "work_branch": "a..b" });
    for answer in [
        api.check("ann", &["src/db.ts"], wrong.clone()).await,
        api.post_status("ann", "WRITING", &["src/db.ts"], wrong).await,
    ] {
        let refusal = answer.refusal();
        assert!(refusal.starts_with("400 INVALID_FIELD work_branch: "), "{refusal}");
    }
}

// rule: locks#pending-interface
#[tokio::test]
async fn an_editor_of_an_importer_is_warned_of_an_unmerged_interface() {
    const TOLD: &str = "PENDING_INTERFACE: 'src/db.ts', which 'src/auth.ts' imports, has another interface on 'pool' of user 'ann': \
                        `pool` is new; “Moving sessions from cookies to tokens”";
    let api = with_pending().await;
    let check = api.check("bob", &["src/auth.ts"], json!({})).await.json();
    assert_eq!((&check["status"], warnings(&check)), (&json!("OK"), vec![TOLD]));
    assert_eq!(check["locks"], json!({}), "it is not a lock");
    let claim = api
        .post_status("bob", "WRITING", &["src/auth.ts"], json!({}))
        .await
        .json();
    assert_eq!((&claim["success"], warnings(&claim)), (&json!(true), vec![TOLD]));
    let page = api.check("bob", &["src/page.ts"], json!({})).await.json();
    assert_eq!(warnings(&page), [""; 0], "it imports no file that changed");
    // Merged, it is the interface.
    api.git.git(&["merge", "--quiet", "--no-edit", "--no-ff", "pool"]);
    api.build_graph().await;
    let head = api.git.git(&["rev-parse", "HEAD"]);
    let check = api
        .check("bob", &["src/auth.ts"], json!({ "agent_head": head.trim() }))
        .await;
    let check = check.json();
    assert_eq!(warnings(&check), [""; 0]);
}
