//! Work on branches of the agents' own: what OPEN wants, the warnings of changes that are not merged, and their end.

use serde_json::{Value, json};

use crate::api::{Answer, Api, GRAPH, LOCKS};
use crate::interfaces::warnings;

/// A server that has built its graph.
async fn start() -> Api {
    let api = Api::start().await;
    api.build_graph().await;
    api
}

/// Ann claims `file` for work on `pool`.
async fn claims(api: &Api, file: &str) {
    let on_pool = json!({ "work_branch": "pool" });
    api.granted("ann", "WRITING", &[file], on_pool).await;
}

/// Ann releases `file` after a push of `commit` to `work_branch`.
async fn opens(api: &Api, file: &str, work_branch: Option<&str>, commit: &str) -> Answer {
    let more = json!({ "work_branch": work_branch, "new_repo_head": commit, "agent_head": commit });
    api.post_status("ann", "OPEN", &[file], more).await
}

/// A commit on `work_branch`, which is made from `main`; `main` is checked out again.
fn commits_on(api: &Api, work_branch: &str, files: &[(&str, &str)]) -> String {
    api.git.git(&["checkout", "--quiet", "-B", work_branch, "main"]);
    let commit = api.git.commit(files);
    api.git.git(&["checkout", "--quiet", "main"]);
    commit
}

/// Ann claims src/db.ts, changes it on `pool`, and releases it.
async fn release_on_pool(api: &Api) -> Answer {
    claims(api, "src/db.ts").await;
    let pushed = commits_on(api, "pool", &[("src/db.ts", "export const pool = 1;\n")]);
    let open = opens(api, "src/db.ts", Some("pool"), &pushed).await;
    open.expect("200");
    open
}

async fn with_pending() -> Api {
    let api = start().await;
    assert_eq!(
        release_on_pool(&api).await.reason(),
        "Released 'src/db.ts'; until they are on main, others see your changes of 'src/db.ts' on pool"
    );
    api
}

async fn pending(api: &Api) -> Value {
    api.get_json(LOCKS).await["pending"].take()
}

// rule: locks#pending-full
#[tokio::test]
async fn a_release_beyond_the_bound_of_pending_changes_warns_pending_full() {
    let api = start().await;
    let key = coord_state::locks::keys::pending(&api.repo());
    api.command(["HSET", &key, "\nann", "2000", "\n", "2000"]).await;
    let full = "PENDING_FULL: Others do not see your changes of 'src/db.ts', because too many changes are pending: merge some.";
    assert_eq!(warnings(&release_on_pool(&api).await), [full]);
    assert_eq!(api.held().await, 0, "the lock is released all the same");
}

const WARNING: &str =
    "PENDING: 'src/db.ts' has unmerged changes by user 'ann' on 'pool': “Moving sessions from cookies to tokens”";

/// Asserts that bob gets this warning of `file` alone, and can claim it.
async fn assert_only_warned(api: &Api, file: &str, warning: &str) {
    let check = api.check("bob", &[file], json!({})).await;
    assert_eq!(check.expect("200 OK")["locks"], json!({}), "it is not a lock");
    let claim = api.post_status("bob", "WRITING", &[file], json!({})).await;
    claim.expect("200");
    for answer in [check, claim] {
        assert_eq!(warnings(&answer), [warning]);
    }
}

// rule: locks#pending
#[tokio::test]
async fn changes_on_a_work_branch_warn_pending_until_they_are_merged() {
    let api = with_pending().await;
    assert_only_warned(&api, "src/db.ts", WARNING).await;
    let on_pool = json!({ "work_branch": "pool" });
    let own = api.check("ann", &["src/db.ts"], on_pool).await;
    assert_eq!(own.warnings(WARNING), [""; 0]);
    let shown = pending(&api).await;
    for (field, value) in [
        ("file_path", "src/db.ts"),
        ("user", "ann"),
        ("work_branch", "pool"),
        ("branch", "main"),
    ] {
        assert_eq!(shown[0][field], value, "{field}");
    }
    assert_eq!(api.get_json(GRAPH).await["pending"], shown);
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
    let api = start().await;
    claims(&api, "src/page.ts").await;
    api.git.git(&["checkout", "--quiet", "-B", "pool", "main"]);
    api.git.git(&["rm", "--quiet", "src/page.ts"]);
    let pushed = api.git.commit(&[]);
    api.git.git(&["checkout", "--quiet", "main"]);
    let open = opens(&api, "src/page.ts", Some("pool"), &pushed).await;
    open.expect("200");
    assert_eq!(pending(&api).await[0]["file_path"], "src/page.ts");
    api.git.git(&["rm", "--quiet", "src/page.ts"]);
    api.git.commit(&[]);
    api.build_graph().await;
    assert_eq!(pending(&api).await, Value::Null);
}

// rule: locks#work-pushed
#[tokio::test]
async fn open_wants_the_work_on_the_work_branch_or_on_the_branch() {
    let api = start().await;
    claims(&api, "src/db.ts").await;
    let pushed = commits_on(&api, "pool", &[("src/db.ts", "1")]);
    let elsewhere = commits_on(&api, "other", &[("src/db.ts", "2")]);
    for (work_branch, commit, whose) in [
        (None, &pushed, "main"),
        (Some("main"), &pushed, "main"),
        (Some("pool"), &elsewhere, "pool or main"),
        (Some("unknown"), &pushed, "unknown or main"),
    ] {
        let refused = opens(&api, "src/db.ts", work_branch, commit).await;
        assert_eq!(refused.outcome(), "409 NOT_PUSHED PUSH", "{work_branch:?}");
        let expected = format!("commit {} is not on {whose}", &commit[..7]);
        assert!(refused.reason().contains(&expected), "{}", refused.reason());
    }
    opens(&api, "src/db.ts", Some("pool"), &pushed).await.expect("200");
    // A change on the branch itself is not pending.
    claims(&api, "src/auth.ts").await;
    let pushed = api.git.commit(&[("src/auth.ts", "1")]);
    let open = opens(&api, "src/auth.ts", Some("pool"), &pushed).await;
    assert_eq!(open.reason(), "Released 'src/auth.ts'");
    assert_eq!(pending(&api).await.as_array().unwrap().len(), 1);
}

// rule: locks#pending
// rule: policy#pending
#[tokio::test]
async fn a_policy_refuses_writers_beside_pending_changes() {
    let api = with_pending().await;
    api.publish_policy("pending = \"block\"", None).await;
    let check = api.check("bob", &["src/db.ts"], json!({})).await;
    check.expect("200 CONFLICT SWITCH_TASK");
    let files = ["src/db.ts", "src/new.ts"];
    let refused = api.post_status("bob", "WRITING", &files, json!({})).await;
    let body = refused.expect("409");
    assert_eq!(body["orchestration"]["action"], "SWITCH_TASK");
    assert_eq!(format!("PENDING: {}", refused.reason()), WARNING);
    assert_eq!(body["orchestration"]["metadata"]["conflicts"], json!(["src/db.ts"]));
    assert_eq!(api.held().await, 0);
    api.claim("bob", "READING", &["src/db.ts"]).await;
}

// rule: locks#pending-interface
#[tokio::test]
async fn an_editor_of_an_importer_is_warned_of_an_unmerged_interface() {
    let warning = "PENDING_INTERFACE: 'src/db.ts', which 'src/auth.ts' imports, has another interface on 'pool' of user 'ann': \
                        `pool` is new; “Moving sessions from cookies to tokens”";
    let api = with_pending().await;
    assert_only_warned(&api, "src/auth.ts", warning).await;
    let page = api.check("bob", &["src/page.ts"], json!({})).await;
    assert_eq!(warnings(&page), [""; 0], "it imports no file that changed");
    // Merged, it is the interface.
    api.git.git(&["merge", "--quiet", "--no-edit", "--no-ff", "pool"]);
    api.build_graph().await;
    let head = api.git.git(&["rev-parse", "HEAD"]);
    let merged = json!({ "agent_head": head.trim() });
    let check = api.check("bob", &["src/auth.ts"], merged).await;
    assert_eq!(warnings(&check), [""; 0]);
}
