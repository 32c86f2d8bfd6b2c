//! Files that are claimed and released with a task.

use std::time::{Duration, Instant};

use coord_domain::team::TeamName;
use coord_state::locks;
use coord_store::Value as StoreValue;
use coord_teams_state::tasks;
use serde_json::{Value, json};

use super::error;
use crate::api::{Api, repo};

impl Api {
    /// `more` with the working copy, which is up to date.
    fn at_work(&self, more: Value) -> Value {
        let mut body = json!({ "branch": "main", "agent_head": self.head });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
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
        let listed = self.shows("eve", "/api/locks", "").await;
        let locks = listed["locks"].as_array().unwrap().iter();
        let pairs = locks.map(|lock| (lock["file_path"].as_str().unwrap().to_owned(), lock["message"].clone()));
        Value::Object(pairs.collect())
    }
}

// rule: teams#task-files
#[tokio::test]
async fn a_task_brings_its_files() {
    let api = Api::with_files().await;
    let claimed = api
        .does_in_team("bob/one", "/api/tasks/t1/claim", api.at_work(json!({})))
        .await;
    assert_eq!(
        (
            &claimed["task"]["filesClaimedOn"],
            &claimed["locks"]["src/db.ts"]["status"]
        ),
        (&json!("main"), &json!("WRITING"))
    );
    assert_eq!(api.holders().await, json!({ "src/db.ts": "t1: Pool" }));
    let refused = api
        .sends("bob/two", "/api/tasks/t2/claim", api.at_work(json!({})))
        .await;
    let body = refused.json();
    let metadata = &body["orchestration"]["metadata"];
    assert_eq!(
        (refused.status, &body["error"], &body["orchestration"]["action"]),
        (409, &json!("LOCK_CONFLICT"), &json!("WAIT"))
    );
    assert_eq!(
        (
            &metadata["lock_owner"],
            &metadata["lock_owner_agent"],
            &metadata["conflicts"],
            &metadata["task_id"]
        ),
        (&json!("bob"), &json!("one"), &json!(["src/db.ts"]), &json!("t2"))
    );
    assert!(
        metadata["retry_after"].as_i64().unwrap() > 800,
        "as long as the claim: {metadata}"
    );
    let suggested = json!([
        { "id": "t3", "title": "Read me", "team": "alpha", "created_by": "lead", "login": "ann" },
        { "id": "t4", "title": "Think", "team": "alpha", "created_by": "lead", "login": "ann" }
    ]);
    assert_eq!(metadata["suggested_tasks"], suggested);
    assert_eq!(
        api.holders().await,
        json!({ "src/db.ts": "t1: Pool" }),
        "nothing was claimed"
    );
    // A check and a claim of files suggest the same.
    let work = json!({ "branch": "main", "file_paths": ["src/db.ts"], "agent_head": api.head });
    let check = api.does_in_team("bob/two", "/api/check_status", work.clone()).await;
    assert_eq!(check["orchestration"]["action"], json!("SWITCH_TASK"));
    assert_eq!(check["orchestration"]["metadata"]["suggested_tasks"], suggested);
    let mut claim = work;
    claim["status"] = json!("WRITING");
    claim["message"] = json!("Try what is locked");
    let claim = api.sends("bob/two", "/api/post_status", claim).await.json();
    assert_eq!(claim["orchestration"]["metadata"]["suggested_tasks"], suggested);
}

#[tokio::test]
async fn next_takes_a_task_whose_files_are_free_and_names_the_others() {
    let api = Api::with_files().await;
    api.does_in_team("bob/one", "/api/tasks/next", api.at_work(json!({})))
        .await;
    let next = api
        .does_in_team("bob/two", "/api/tasks/next", api.at_work(json!({})))
        .await;
    let passed = &next["passed_over"][0];
    assert_eq!(
        (
            &next["task"]["id"],
            &passed["id"],
            &passed["reason"],
            &passed["user"],
            &passed["agent_id"],
            &passed["file"]
        ),
        (
            &json!("t3"),
            &json!("t2"),
            &json!("LOCKED"),
            &json!("bob"),
            &json!("one"),
            &json!("src/db.ts")
        )
    );
    assert!(passed["until"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test]
async fn next_waits_for_files_that_others_have() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "Pool", "files": ["src/db.ts"] }])).await;
    let work = json!({
        "branch": "main", "agent_head": api.head, "file_paths": ["src/db.ts"], "status": "WRITING", "message": "Try the pool first"
    });
    api.does_in_team("eve/x", "/api/post_status", work.clone()).await;
    let now = api
        .does_in_team("bob/one", "/api/tasks/next", api.at_work(json!({})))
        .await;
    assert_eq!(
        (&now["orchestration"]["action"], &now["passed_over"][0]["reason"]),
        (&json!("WAIT"), &json!("LOCKED"))
    );
    let reason = now["orchestration"]["reason"].as_str().unwrap();
    assert!(reason.contains("1 has files that you cannot have now"), "{reason}");
    let wait = api.does_in_team("bob/one", "/api/tasks/next", api.at_work(json!({ "wait": 20 })));
    let release = async {
        api.until_a_request_waits().await;
        let mut open = work;
        open["status"] = json!("OPEN");
        open["abandon"] = json!(true);
        api.does_in_team("eve/x", "/api/post_status", open).await;
    };
    let began = Instant::now();
    let (next, ()) = tokio::join!(wait, release);
    assert_eq!(next["task"]["id"], json!("t1"));
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn next_sees_that_the_branch_has_moved_while_it_waited() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "Pool", "files": ["src/db.ts"] }])).await;
    let claim = json!({
        "branch": "main", "agent_head": api.head, "file_paths": ["src/db.ts"], "status": "WRITING", "message": "Try the pool first"
    });
    api.does_in_team("eve/x", "/api/post_status", claim).await;
    let wait = api.sends("bob/one", "/api/tasks/next", api.at_work(json!({ "wait": 20 })));
    let push = async {
        api.until_a_request_waits().await;
        let pushed = api.git.commit(&[("src/db.ts", "export const pool = 1;\n")]);
        let open = json!({
            "branch": "main", "agent_head": pushed, "new_repo_head": pushed, "file_paths": ["src/db.ts"], "status": "OPEN",
            "message": "The pool is there"
        });
        api.does_in_team("eve/x", "/api/post_status", open).await;
    };
    let (refused, ()) = tokio::join!(wait, push);
    let body = refused.json();
    assert_eq!(
        (refused.status, &body["error"], &body["orchestration"]["action"]),
        (409, &json!("STALE_HEAD"), &json!("PULL")),
        "{body}"
    );
    assert_eq!(api.holders().await, json!({}));
}

// rule: teams#complete-files
#[tokio::test]
async fn completing_takes_a_push() {
    let api = Api::with_files().await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", api.at_work(json!({})))
        .await;
    let path = "/api/tasks/t1/complete";
    let missing = api.sends("bob/one", path, json!({})).await;
    assert_eq!(
        (missing.status, &missing.json()["field"]),
        (400, &json!("new_repo_head")),
        "{}",
        missing.json()
    );
    let missing = api.sends("bob/one", path, api.at_work(json!({}))).await;
    assert_eq!(
        (missing.status, &missing.json()["field"]),
        (400, &json!("new_repo_head"))
    );
    let unpushed = api
        .sends("bob/one", path, api.at_work(json!({ "new_repo_head": api.head })))
        .await;
    let body = unpushed.json();
    assert_eq!(
        (unpushed.status, &body["error"], &body["orchestration"]["action"]),
        (409, &json!("NOT_PUSHED"), &json!("PUSH"))
    );
    assert_eq!(body["orchestration"]["metadata"]["unpushed"], json!(["src/db.ts"]));
    let task = &api.shows("eve", "/api/tasks/t1", "&team=alpha").await["task"];
    assert_eq!(
        (&task["status"], &task["owner"]),
        (&json!("in_progress"), &json!("one"))
    );
    let pushed = api.git.commit(&[("src/db.ts", "export const pool = 1;\n")]);
    let done = json!({ "branch": "main", "agent_head": pushed, "new_repo_head": pushed });
    let done = api.does_in_team("bob/one", path, done).await;
    assert_eq!(done["task"]["status"], json!("completed"));
    assert_eq!(api.holders().await, json!({}));
}

/// The source cannot be asked about a file whose stored name is none, of an earlier version for example: it was asked for ever.
#[tokio::test]
async fn a_file_of_a_name_that_is_refused_now_is_not_known_to_be_pushed() {
    let api = Api::with_files().await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", api.at_work(json!({})))
        .await;
    let team = TeamName::parse("alpha").unwrap();
    for key in [locks::keys::locks(&repo()), tasks::keys::tasks(&repo(), &team)] {
        api.replace_stored(&key, "db.ts", "../db.ts").await;
    }
    let pushed = api.git.commit(&[("db.ts", "export {};\n")]);
    let work = json!({ "branch": "main", "agent_head": pushed, "new_repo_head": pushed });
    let answer = api.sends("bob/one", "/api/tasks/t1/complete", work).await;
    let body = answer.json();
    assert_eq!((answer.status, &body["error"]), (409, &json!("NOT_PUSHED")), "{body}");
    assert_eq!(body["orchestration"]["metadata"]["unpushed"], json!(["src/../db.ts"]));
    assert!(body["message"].to_string().contains("cannot confirm"), "{body}");
}

// rule: teams#release-files
#[tokio::test]
async fn unpushed_files_stay_locked_when_a_task_is_released() {
    let api = Api::with_files().await;
    api.does_in_team("bob/one", "/api/tasks/t2/claim", api.at_work(json!({})))
        .await;
    let pushed = api.git.commit(&[("src/page.ts", "import './db';\n")]);
    let work = json!({ "branch": "main", "agent_head": pushed, "new_repo_head": pushed });
    let released = api.does_in_team("bob/one", "/api/tasks/t2/release", work).await;
    // At the pushed commit `src/db.ts` is as it was: nothing of it can be lost.
    assert_eq!(api.holders().await, json!({}));
    assert_eq!(released["kept_files"], Value::Null);
    api.does_in_team(
        "bob/one",
        "/api/tasks/t1/claim",
        json!({ "branch": "main", "agent_head": pushed }),
    )
    .await;
    let released = api
        .does_in_team("bob/one", "/api/tasks/t1/release", json!({ "note": "half" }))
        .await;
    assert_eq!(released["kept_files"], json!(["src/db.ts"]));
    let warning = released["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("LOCKS_KEPT: You still hold 'src/db.ts' for writing"),
        "{warning}"
    );
    let blocked = api
        .sends(
            "bob/two",
            "/api/tasks/t1/claim",
            json!({ "branch": "main", "agent_head": pushed }),
        )
        .await;
    assert_eq!(error(&blocked).1, "LOCK_CONFLICT");
    let again = json!({ "branch": "main", "agent_head": pushed });
    api.does_in_team("bob/one", "/api/tasks/t1/claim", again).await;
    let abandon = json!({ "branch": "main", "agent_head": pushed, "abandon": true });
    api.does_in_team("bob/one", "/api/tasks/t1/release", abandon).await;
    assert_eq!(api.holders().await, json!({}));
}

#[tokio::test]
async fn a_working_copy_that_is_behind_has_to_pull_and_needs_none_for_a_task_without_files() {
    let api = Api::with_files().await;
    let behind = json!({ "branch": "main", "agent_head": api.first });
    let refused = api.sends("bob/one", "/api/tasks/t1/claim", behind.clone()).await;
    assert_eq!(
        (error(&refused).1.as_str(), &refused.json()["orchestration"]["action"]),
        ("STALE_HEAD", &json!("PULL"))
    );
    let next = api.sends("bob/one", "/api/tasks/next", behind.clone()).await;
    assert_eq!(error(&next).1, "STALE_HEAD");
    api.does_in_team("bob/one", "/api/tasks/t4/claim", behind).await;
    // A branch that the server does not have: only what has files needs it.
    let nowhere = json!({ "branch": "nowhere", "agent_head": api.head });
    api.does_in_team("bob/one", "/api/tasks/t4/claim", nowhere.clone())
        .await;
    let refused = api.sends("bob/one", "/api/tasks/t1/claim", nowhere).await;
    assert_eq!(error(&refused).1, "UNKNOWN_BRANCH");
    let left_alone = json!({ "claim_files": false });
    api.does_in_team("bob/one", "/api/tasks/t1/claim", left_alone).await;
    assert_eq!(api.holders().await, json!({}));
}

#[tokio::test]
async fn each_field_of_the_working_copy_is_checked_and_named() {
    let api = Api::with_files().await;
    for (path, change, status, message) in [
        (
            "t1/claim",
            json!({}),
            400,
            "agent_head is required, because task t1 has files: send branch and agent_head (git rev-parse HEAD), or \
             \"claim_files\": false to leave them alone",
        ),
        (
            "t1/claim",
            json!({ "agent_head": api.head }),
            400,
            "branch is required with agent_head",
        ),
        (
            "t1/claim",
            json!({ "branch": "a b", "agent_head": api.head }),
            400,
            "branch ",
        ),
        (
            "t1/claim",
            json!({ "branch": "main", "agent_head": "x" }),
            400,
            "agent_head ",
        ),
        (
            "t1/claim",
            json!({ "branch": "main", "agent_head": api.head, "base_head": "x" }),
            400,
            "base_head ",
        ),
        ("t1/complete", json!({ "new_repo_head": "x" }), 400, "new_repo_head "),
        ("t1/release", json!({ "new_repo_head": "x" }), 400, "new_repo_head "),
        (
            "t1/release",
            json!({ "abandon": true }),
            400,
            "agent_head is required with abandon, and so is branch",
        ),
        (
            "next",
            json!({ "agent_head": api.head }),
            400,
            "branch is required with agent_head",
        ),
        ("t1/claim", json!({ "claim_files": "no" }), 400, ""),
        ("t1/release", json!({ "abandon": 1 }), 400, ""),
    ] {
        let refused = api
            .sends("bob/one", &format!("/api/tasks/{path}"), change.clone())
            .await;
        let (found, code, text) = error(&refused);
        assert_eq!(found, status, "{path} {change}: {text}");
        assert!(["INVALID_FIELD", "MALFORMED_BODY"].contains(&code.as_str()));
        assert!(text.starts_with(message), "{path} {change}: {text}");
    }
    let claimed = api
        .does_in_team("bob/one", "/api/tasks/t1/claim", api.at_work(json!({})))
        .await;
    assert_eq!(claimed["task"]["owner"], json!("one"));
    let files = api
        .patches("bob/one", "/api/tasks/t1", json!({ "files": ["a.ts"] }))
        .await;
    assert_eq!(error(&files).1, "FILES_CLAIMED");
    let shared = api
        .sends("bob/one", "/api/tasks/t2/claim", api.at_work(json!({})))
        .await;
    assert_eq!(
        (error(&shared).1.as_str(), &shared.json()["orchestration"]["action"]),
        ("FILES_CLAIMED", &json!("SWITCH_TASK"))
    );
    let elsewhere = json!([{ "title": "X", "files": ["x.ts"], "branch": "dev" }]);
    let id = &api.adds(elsewhere).await[0];
    let other = api
        .sends("bob/one", &format!("/api/tasks/{id}/claim"), api.at_work(json!({})))
        .await;
    assert_eq!(error(&other).1, "OTHER_BRANCH");
}

/// The answer was lost: the same request gets the tokens of its locks, the warnings and what was passed over again.
#[tokio::test]
async fn a_repeated_next_gets_the_first_answer_again() {
    let api = Api::with_files().await;
    api.does_in_team("bob/one", "/api/tasks/next", api.at_work(json!({})))
        .await;
    let files: Vec<String> = (0..90).map(|number| format!("src/part{number}.ts")).collect();
    api.adds(json!([{ "title": "Many files", "files": files }])).await;
    for (who, key) in [("bob/two", "small"), ("bob/two", "none"), ("bob/two", "large")] {
        let request = api.at_work(json!({ "request_key": key }));
        let first = api.does_in_team(who, "/api/tasks/next", request.clone()).await;
        let again = api.does_in_team(who, "/api/tasks/next", request).await;
        let is_about_files = key != "none";
        assert_eq!(
            first["locks"].as_object().is_some_and(|locks| !locks.is_empty()),
            is_about_files,
            "{first}"
        );
        assert_eq!(first["passed_over"].as_array().map_or(0, Vec::len), 1, "{first}");
        for part in ["task", "locks", "passed_over", "warnings", "orchestration"] {
            assert_eq!(again[part], first[part], "{key}: {part}");
        }
    }
}
