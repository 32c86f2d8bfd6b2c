//! Files that are claimed and released with a task.

use std::time::{Duration, Instant};

use coord_domain::team::TeamName;
use coord_state::locks;
use coord_store::Value as StoreValue;
use coord_teams_state::tasks;
use serde_json::{Value, json};

use super::{assert_has, with, wrong_field};
use crate::api::{Api, repo};

/// `more` with a working copy at `head` of `main`.
fn at(head: &str, more: Value) -> Value {
    with(json!({ "branch": "main", "agent_head": head }), more)
}

impl Api {
    /// `more` with the working copy, which is up to date.
    fn at_work(&self, more: Value) -> Value {
        at(&self.head, more)
    }

    async fn with_files() -> Api {
        let api = Api::with_team().await;
        api.adds(json!([
            { "title": "Pool", "files": ["src/db.ts"] },
            { "title": "Page", "files": ["./src/page.ts", "src/db.ts"] },
            { "title": "Read me", "files": ["README.md"] },
            { "title": "Think" }
        ]))
        .await;
        api
    }

    /// The same, and `bob/one` has claimed the task `id` with its files.
    async fn with_claimed_files(id: &str) -> Api {
        let api = Self::with_files().await;
        let path = format!("tasks/{id}/claim");
        api.calls("bob/one", &path, api.at_work(json!({}))).await;
        api
    }

    /// A task with the file that `eve/x` has locked.
    async fn with_a_locked_file() -> Api {
        let api = Api::with_team().await;
        api.adds(json!([{ "title": "Pool", "files": ["src/db.ts"] }])).await;
        api.posts_about_db("WRITING", json!({})).await;
        api
    }

    /// `eve/x` claims or releases a file.
    async fn posts_about_db(&self, status: &str, more: Value) {
        let post = json!({ "file_paths": ["src/db.ts"], "status": status, "message": "Try the pool first" });
        self.calls("eve/x", "post_status", with(self.at_work(post), more)).await;
    }

    /// Puts `new` in the place of `old` in all of a hash.
    async fn replace_stored(&self, key: &str, old: &str, new: &str) {
        let Some(StoreValue::Array(stored)) = self.command(["HGETALL", key]).await else {
            panic!("{key} is not a hash")
        };
        for pair in stored.chunks(2) {
            let [field, value] = [0, 1].map(|place| pair[place].as_str().unwrap().to_owned());
            self.command(["HDEL", key, &field]).await;
            self.command(["HSET", key, &field.replace(old, new), &value.replace(old, new)])
                .await;
        }
    }

    async fn holders(&self) -> Value {
        let listed = self.shows("eve", "locks", "").await;
        let locks = listed["locks"].as_array().unwrap().iter();
        let pairs = locks.map(|lock| (lock["file_path"].as_str().unwrap().to_owned(), lock["message"].clone()));
        Value::Object(pairs.collect())
    }
}

// rule: teams#task-files
#[tokio::test]
async fn a_task_brings_its_files() {
    let api = Api::with_files().await;
    let claimed = api.calls("bob/one", "tasks/t1/claim", api.at_work(json!({}))).await;
    assert_has!(claimed, {
        "task": { "filesClaimedOn": "main" }, "locks": { "src/db.ts": { "status": "WRITING" } },
    });
    assert_eq!(api.holders().await, json!({ "src/db.ts": "t1: Pool" }));
    let path = "tasks/t2/claim";
    let refused = api
        .refuses("bob/two", path, api.at_work(json!({})), "409 LOCK_CONFLICT WAIT")
        .await;
    let suggested = json!([
        { "id": "t3", "title": "Read me", "team": "alpha", "created_by": "lead", "login": "ann" },
        { "id": "t4", "title": "Think", "team": "alpha", "created_by": "lead", "login": "ann" }
    ]);
    assert_has!(refused["orchestration"]["metadata"], {
        "lock_owner": "bob", "lock_owner_agent": "one", "conflicts": ["src/db.ts"], "task_id": "t2",
        "suggested_tasks": suggested,
    });
    let retry_after = refused["orchestration"]["metadata"]["retry_after"].as_i64();
    assert!(retry_after.unwrap() > 800, "as long as the claim: {refused}");
    let holders = api.holders().await;
    assert_eq!(holders, json!({ "src/db.ts": "t1: Pool" }), "nothing was claimed");
    // A check and a claim of files suggest the same.
    let work = api.at_work(json!({ "file_paths": ["src/db.ts"] }));
    assert_has!(api.calls("bob/two", "check_status", work.clone()).await["orchestration"], {
        "action": "SWITCH_TASK", "metadata": { "suggested_tasks": suggested },
    });
    let claim = with(work, json!({ "status": "WRITING", "message": "Try what is locked" }));
    let claim = api.sends("bob/two", "post_status", claim).await.json();
    assert_eq!(claim["orchestration"]["metadata"]["suggested_tasks"], suggested);
}

#[tokio::test]
async fn next_takes_a_task_whose_files_are_free_and_names_the_others() {
    let api = Api::with_files().await;
    let work = api.at_work(json!({}));
    api.calls("bob/one", "tasks/next", work.clone()).await;
    let next = api.calls("bob/two", "tasks/next", work).await;
    assert_eq!(next["task"]["id"], "t3");
    let passed = &next["passed_over"][0];
    assert_has!(passed, { "id": "t2", "reason": "LOCKED", "user": "bob", "agent_id": "one", "file": "src/db.ts" });
    assert!(passed["until"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test]
async fn next_waits_for_files_that_others_have() {
    let api = Api::with_a_locked_file().await;
    let now = api.calls("bob/one", "tasks/next", api.at_work(json!({}))).await;
    assert_eq!(now["orchestration"]["action"], "WAIT");
    assert_eq!(now["passed_over"][0]["reason"], "LOCKED");
    let reason = now["orchestration"]["reason"].as_str().unwrap();
    assert!(reason.contains("1 has files that are not free for you"), "{reason}");
    let wait = api.at_work(json!({ "wait": 20 }));
    let release = api.posts_about_db("OPEN", json!({ "abandon": true }));
    let began = Instant::now();
    let next = api.waits_for("bob/one", "tasks/next", wait, release).await;
    assert_eq!(next["task"]["id"], "t1");
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn next_sees_that_the_branch_has_moved_while_it_waited() {
    let api = Api::with_a_locked_file().await;
    let wait = api.sends("bob/one", "tasks/next", api.at_work(json!({ "wait": 20 })));
    let push = async {
        api.until_a_request_waits().await;
        let pushed = api.git.commit(&[("src/db.ts", "export const pool = 1;\n")]);
        let pushed = json!({ "agent_head": pushed, "new_repo_head": pushed });
        api.posts_about_db("OPEN", pushed).await;
    };
    let (answer, ()) = tokio::join!(wait, push);
    answer.expect("409 STALE_HEAD PULL");
    assert_eq!(api.holders().await, json!({}));
}

// rule: teams#complete-files
#[tokio::test]
async fn completing_takes_a_push() {
    let api = Api::with_claimed_files("t1").await;
    let path = "tasks/t1/complete";
    for more in [json!({}), api.at_work(json!({}))] {
        let missing = api.sends("bob/one", path, more).await;
        assert_eq!(wrong_field(&missing), "new_repo_head");
    }
    let unpushed = api.at_work(json!({ "new_repo_head": api.head }));
    let unpushed = api.refuses("bob/one", path, unpushed, "409 NOT_PUSHED PUSH").await;
    assert_has!(unpushed["orchestration"]["metadata"], { "unpushed": ["src/db.ts"] });
    assert_has!(api.task("t1").await, { "status": "in_progress", "owner": "one" });
    let pushed = api.git.commit(&[("src/db.ts", "export const pool = 1;\n")]);
    let done = at(&pushed, json!({ "new_repo_head": pushed }));
    let done = api.calls("bob/one", path, done).await;
    assert_eq!(done["task"]["status"], "completed");
    assert_eq!(api.holders().await, json!({}));
}

/// The source cannot be asked about a file whose stored name is none, of an earlier version for example: it was asked for ever.
#[tokio::test]
async fn a_file_of_a_name_that_is_refused_now_is_not_known_to_be_pushed() {
    let api = Api::with_claimed_files("t1").await;
    let team = TeamName::parse("alpha").unwrap();
    for key in [locks::keys::locks(&repo()), tasks::keys::tasks(&repo(), &team)] {
        api.replace_stored(&key, "db.ts", "../db.ts").await;
    }
    let pushed = api.git.commit(&[("db.ts", "export {};\n")]);
    let work = at(&pushed, json!({ "new_repo_head": pushed }));
    let path = "tasks/t1/complete";
    let refused = api.refuses("bob/one", path, work, "409 NOT_PUSHED").await;
    assert_has!(refused["orchestration"]["metadata"], { "unpushed": ["src/../db.ts"] });
    assert!(refused["message"].to_string().contains("cannot confirm"), "{refused}");
}

// rule: teams#release-files
#[tokio::test]
async fn unpushed_files_stay_locked_when_a_task_is_released() {
    let api = Api::with_claimed_files("t2").await;
    let pushed = api.git.commit(&[("src/page.ts", "import './db';\n")]);
    let work = at(&pushed, json!({ "new_repo_head": pushed }));
    let released = api.calls("bob/one", "tasks/t2/release", work).await;
    // At the pushed commit `src/db.ts` is as it was: nothing of it can be lost.
    assert_eq!(api.holders().await, json!({}));
    assert_eq!(released["kept_files"], Value::Null);
    let (claim, release) = ("tasks/t1/claim", "tasks/t1/release");
    let work = at(&pushed, json!({}));
    api.calls("bob/one", claim, work.clone()).await;
    let released = api.calls("bob/one", release, json!({ "note": "half" })).await;
    assert_eq!(released["kept_files"], json!(["src/db.ts"]));
    let warning = released["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("LOCKS_KEPT: You still hold 'src/db.ts' for writing"),
        "{warning}"
    );
    api.refuses("bob/two", claim, work.clone(), "409 LOCK_CONFLICT").await;
    api.calls("bob/one", claim, work).await;
    let abandon = at(&pushed, json!({ "abandon": true }));
    api.calls("bob/one", release, abandon).await;
    assert_eq!(api.holders().await, json!({}));
}

#[tokio::test]
async fn a_working_copy_that_is_behind_has_to_pull_and_needs_none_for_a_task_without_files() {
    let api = Api::with_files().await;
    let (with_files, without) = ("tasks/t1/claim", "tasks/t4/claim");
    let behind = at(&api.first, json!({}));
    for path in [with_files, "tasks/next"] {
        let refused = api.sends("bob/one", path, behind.clone()).await;
        refused.expect("409 STALE_HEAD PULL");
    }
    api.calls("bob/one", without, behind).await;
    // A branch that the server does not have: only what has files needs it.
    let nowhere = json!({ "branch": "nowhere", "agent_head": api.head });
    api.calls("bob/one", without, nowhere.clone()).await;
    api.refuses("bob/one", with_files, nowhere, "404 UNKNOWN_BRANCH").await;
    let left_alone = json!({ "claim_files": false });
    api.calls("bob/one", with_files, left_alone).await;
    assert_eq!(api.holders().await, json!({}));
}

#[tokio::test]
async fn each_field_of_the_working_copy_is_checked_and_named() {
    let api = Api::with_files().await;
    let (claim, complete, release) = ("tasks/t1/claim", "tasks/t1/complete", "tasks/t1/release");
    let head_alone = json!({ "agent_head": api.head });
    let new_head = json!({ "new_repo_head": "x" });
    for (path, change, message) in [
        (
            claim,
            json!({}),
            "agent_head is required, because task t1 has files: send branch and agent_head (git rev-parse HEAD), or \
             \"claim_files\": false to leave them alone",
        ),
        (claim, head_alone.clone(), "branch is required with agent_head"),
        (claim, api.at_work(json!({ "branch": "a b" })), "branch "),
        (claim, at("x", json!({})), "agent_head "),
        (claim, api.at_work(json!({ "base_head": "x" })), "base_head "),
        (complete, new_head.clone(), "new_repo_head "),
        (release, new_head, "new_repo_head "),
        (
            release,
            json!({ "abandon": true }),
            "agent_head is required with abandon, and so is branch",
        ),
        ("tasks/next", head_alone, "branch is required with agent_head"),
        (claim, json!({ "claim_files": "no" }), ""),
        (release, json!({ "abandon": 1 }), ""),
    ] {
        let answer = api.sends("bob/one", path, change.clone()).await;
        let body = answer.json();
        assert_eq!(answer.status, 400, "{path} {change}: {body}");
        let code = body["error"].as_str().unwrap();
        assert!(
            ["INVALID_FIELD", "MALFORMED_BODY"].contains(&code),
            "{path} {change}: {body}"
        );
        let is_expected = body["message"].as_str().unwrap_or("-").starts_with(message);
        assert!(is_expected, "{path} {change}: {body}");
    }
    let work = api.at_work(json!({}));
    let claimed = api.calls("bob/one", claim, work.clone()).await;
    assert_eq!(claimed["task"]["owner"], "one");
    let files = api.patches("bob/one", "tasks/t1", json!({ "files": ["a.ts"] })).await;
    files.expect("409 FILES_CLAIMED");
    let shared = api.sends("bob/one", "tasks/t2/claim", work.clone()).await;
    shared.expect("409 FILES_CLAIMED SWITCH_TASK");
    api.adds(json!([{ "title": "X", "files": ["x.ts"], "branch": "dev" }]))
        .await;
    api.refuses("bob/one", "tasks/t5/claim", work, "409 OTHER_BRANCH").await;
}

/// The answer was lost: the same request gets the tokens of its locks, the warnings and what was passed over again.
#[tokio::test]
async fn a_repeated_next_gets_the_first_answer_again() {
    let api = Api::with_files().await;
    api.calls("bob/one", "tasks/next", api.at_work(json!({}))).await;
    let files: Vec<String> = (0..90).map(|number| format!("src/part{number}.ts")).collect();
    api.adds(json!([{ "title": "Many files", "files": files }])).await;
    for key in ["small", "none", "large"] {
        let request = api.at_work(json!({ "request_key": key }));
        let first = api.calls("bob/two", "tasks/next", request.clone()).await;
        let again = api.calls("bob/two", "tasks/next", request).await;
        let has_locks = first["locks"].as_object().is_some_and(|locks| !locks.is_empty());
        assert_eq!(has_locks, key != "none", "{first}");
        assert_eq!(first["passed_over"].as_array().map_or(0, Vec::len), 1, "{first}");
        for part in ["task", "locks", "passed_over", "warnings", "orchestration"] {
            assert_eq!(again[part], first[part], "{key}: {part}");
        }
    }
}
