//! A claim that waits: its place in the queue, `wait_seconds`, files that are free, and force-released locks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use coord_server::app::App;
use coord_settings::Approvers;
use coord_settings::{Rate, Rates};
use coord_test_support::waiting::until;
use serde_json::{Value, json};

use crate::api::Api;

fn metadata(body: &Value) -> &Value {
    &body["orchestration"]["metadata"]
}

#[tokio::test]
async fn a_refused_claim_has_its_position_and_the_claims_before_it() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let first = api
        .post_status("bob", "WRITING", &["src/db.ts"], json!({ "agent_id": "one" }))
        .await
        .json();
    let second = api
        .post_status("eve", "WRITING", &["src/db.ts"], json!({}))
        .await
        .json();
    assert_eq!(
        (&metadata(&first)["position"], metadata(&first).get("before")),
        (&json!(1), None)
    );
    assert_eq!(metadata(&second)["position"], 2);
    let before = &metadata(&second)["before"];
    assert_eq!(
        (&before[0]["user"], &before[0]["agent_id"], &before[1]),
        (&json!("bob"), &json!("one"), &Value::Null)
    );
    let expected_by = metadata(&second)["expected_by"].as_i64().unwrap();
    let expiry = second["conflicting_locks"]["src/db.ts"]["expiry"].as_i64().unwrap();
    // Rounded up, and the end of the lock rounded down.
    assert!((0..=1).contains(&(expected_by - expiry)), "{expected_by} {expiry}");
    let again = api
        .post_status("bob", "WRITING", &["./src/db.ts"], json!({ "agent_id": "one" }))
        .await
        .json();
    assert_eq!(metadata(&again)["ticket"], metadata(&first)["ticket"]);
    // Once it is free, it is bob's for a while.
    api.post_status("ann", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
        .await;
    let reserved = api
        .post_status("eve", "WRITING", &["src/db.ts"], json!({}))
        .await
        .json();
    assert_eq!(reserved["error"], "LOCK_CONFLICT");
    assert_eq!(reserved["conflicting_locks"]["src/db.ts"]["lock_type"], "RESERVED");
    let reason = reserved["orchestration"]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("File 'src/db.ts' is reserved for 'one' of user 'bob', whose claim came first: "),
        "{reason}"
    );
    let check = api.check("eve", &["src/db.ts"], json!({})).await.json();
    assert_eq!(
        (&check["status"], &check["orchestration"]["action"]),
        (&json!("CONFLICT"), &json!("SWITCH_TASK"))
    );
    assert_eq!(check["locks"]["src/db.ts"]["lock_type"], "RESERVED");
}

// rule: locks#no-rings
#[tokio::test]
async fn two_holders_that_want_each_others_files_are_warned_of_mutual_wait() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    api.claim("bob", "WRITING", &["README.md"]).await;
    let first = api
        .post_status("ann", "WRITING", &["README.md"], json!({}))
        .await
        .json();
    assert!(!first["warnings"].to_string().contains("MUTUAL_WAIT"), "{first}");
    let second = api
        .post_status("bob", "WRITING", &["src/db.ts"], json!({}))
        .await
        .json();
    assert_eq!(second["error"], "LOCK_CONFLICT");
    let warnings = second["warnings"].as_array().unwrap();
    let is_warning = |warning: &Value| {
        warning
            .as_str()
            .unwrap()
            .starts_with("MUTUAL_WAIT: You and user 'ann' each wait")
    };
    assert!(warnings.iter().any(is_warning), "{second}");
}

#[tokio::test]
async fn a_check_of_a_free_file_with_a_queued_claim_is_proceed_and_shows_waiting() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let files = ["README.md", "src/db.ts"];
    api.post_status("bob", "WRITING", &files, json!({ "agent_id": "one" }))
        .await;
    let check = api.check("eve", &files[..1], json!({})).await.json();
    assert_eq!(
        (&check["status"], &check["orchestration"]["action"]),
        (&json!("OK"), &json!("PROCEED")),
        "{check}"
    );
    let waiting = &check["locks"]["README.md"];
    assert_eq!(
        (
            &waiting["lock_type"],
            &waiting["user"],
            &waiting["agent_id"],
            &waiting["status"]
        ),
        (&json!("WAITING"), &json!("bob"), &json!("one"), &json!("WRITING"))
    );
    // A lock of the file is shown instead; and the claim is granted.
    let both = api.check("joe", &files, json!({})).await.json();
    let lock = &both["locks"]["src/db.ts"];
    assert_eq!(lock["user"], "ann");
    assert_eq!(waiting["expiry"], lock["expiry"], "bob waits for that lock");
    assert_eq!(
        api.post_status("eve", "WRITING", &files[..1], json!({})).await.status,
        200
    );
}

/// `AGENTS` agents want one file, `turns` times each, by claims that wait; each holds it for up to 700 ms. The times from a release to the
/// next grant, sorted.
async fn hand_over(turns: usize) -> Vec<Duration> {
    const AGENTS: usize = 6;
    let api = Api::start().await;
    let released: Mutex<Option<Instant>> = Mutex::default();
    let plays = async |number: usize| {
        let (user, file) = (format!("agent-{number}"), &["src/db.ts"]);
        let mut waited = Vec::new();
        for turn in 0..turns {
            loop {
                let answer = api
                    .post_status(&user, "WRITING", file, json!({ "wait_seconds": 20 }))
                    .await;
                if answer.status == 200 {
                    break;
                }
                assert_eq!(answer.json()["error"], "LOCK_CONFLICT");
            }
            let now = Instant::now();
            waited.extend(released.lock().unwrap().take().map(|released| now - released));
            let held = 100 + 97 * ((number * 5 + turn * 3) % 7);
            // time: how long each holds the file.
            tokio::time::sleep(Duration::from_millis(held as u64)).await;
            let answer = api.post_status(&user, "OPEN", file, json!({ "abandon": true })).await;
            *released.lock().unwrap() = Some(Instant::now());
            assert_eq!(answer.status, 200, "{}", answer.json());
        }
        waited
    };
    let waited = futures::future::join_all((0..AGENTS).map(plays)).await;
    let mut waited: Vec<Duration> = waited.into_iter().flatten().collect();
    waited.sort();
    waited
}

#[tokio::test]
async fn claims_that_wait_have_their_files_soon_after_the_release() {
    let waited = hand_over(3).await;
    assert!(waited.len() > 10, "{waited:?}");
    assert!(waited[waited.len() / 2] < Duration::from_millis(200), "{waited:?}");
}

/// The figures of `docs/internals/benchmarks.md`.
#[tokio::test]
#[ignore = "it takes minutes"]
async fn claims_that_wait_have_their_files_within_100_ms_of_the_release_at_the_median_and_300_at_p99() {
    let waited = hand_over(60).await;
    let [median, p99] = [waited.len() / 2, waited.len() * 99 / 100].map(|place| waited[place]);
    println!(
        "{} grants, median {median:?}, p99 {p99:?}, longest {:?}",
        waited.len(),
        waited[waited.len() - 1]
    );
    assert!(
        median < Duration::from_millis(100) && p99 < Duration::from_millis(300),
        "{median:?} {p99:?}"
    );
}

// rule: locks#wait-seconds
#[tokio::test]
async fn a_claim_that_waits_is_granted_when_it_is_its_turn() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let wait = |user: &'static str| api.post_status(user, "WRITING", &["src/db.ts"], json!({ "wait_seconds": 15 }));
    let release = async {
        api.until_a_request_waits().await;
        // Not about this file.
        api.claim("joe", "WRITING", &["README.md"]).await;
        api.post_status("joe", "OPEN", &["README.md"], json!({ "abandon": true }))
            .await;
        // time: an event about another file wakes nothing.
        tokio::time::sleep(Duration::from_millis(300)).await;
        api.post_status("ann", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
            .await;
    };
    let began = Instant::now();
    let (granted, ()) = tokio::join!(wait("bob"), release);
    assert_eq!(granted.status, 200, "{}", granted.json());
    let waited = began.elapsed();
    assert!(
        waited > Duration::from_millis(300) && waited < Duration::from_secs(10),
        "{waited:?}"
    );
}

#[tokio::test]
async fn a_claim_that_waits_in_vain_keeps_its_place_and_ends_in_time() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let began = Instant::now();
    let vain = api
        .post_status("bob", "WRITING", &["src/db.ts"], json!({ "wait_seconds": 1 }))
        .await;
    assert_eq!((vain.status, &vain.json()["error"]), (409, &json!("LOCK_CONFLICT")));
    assert!((1..6).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    assert_eq!(metadata(&vain.json())["position"], 1);
    // Nothing waits that has no need to.
    let began = Instant::now();
    let free = api
        .post_status("bob", "WRITING", &["README.md"], json!({ "wait_seconds": 20 }))
        .await;
    assert_eq!(free.status, 200);
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_lock_that_expires_ends_the_wait() {
    let api = Api::start_with(|app| app.locks.ttl_seconds = 2).await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let granted = api
        .post_status("bob", "WRITING", &["src/db.ts"], json!({ "wait_seconds": 15 }))
        .await;
    assert_eq!(granted.status, 200, "{}", granted.json());
}

#[tokio::test]
async fn each_claim_of_a_wait_counts_and_the_limit_ends_it_with_the_refusal() {
    let limited = |app: &mut App| {
        app.rates = Rates {
            // Three claims, as their burst is longer by half.
            person: Rate {
                interval_ms: 60_000,
                burst: 2,
            },
            ..Rates::NONE
        };
    };
    let api = Api::start_with(limited).await;
    let files = ["README.md", "src/db.ts"];
    api.claim("ann", "WRITING", &files[1..]).await;
    let readers = ["joe", "kim", "lea", "max"];
    for reader in readers {
        api.claim(reader, "READING", &files[..1]).await;
    }
    let release = async {
        // Each is about a file that the wait is for.
        for reader in readers {
            // time: each release wakes the claim once more.
            tokio::time::sleep(Duration::from_millis(300)).await;
            api.post_status(reader, "OPEN", &files[..1], json!({})).await;
        }
    };
    let began = Instant::now();
    let wait = api.post_status("bob", "WRITING", &files, json!({ "wait_seconds": 20 }));
    let (ended, ()) = tokio::join!(wait, release);
    assert_eq!((ended.status, &ended.json()["error"]), (409, &json!("LOCK_CONFLICT")));
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let next = api.post_status("bob", "WRITING", &files, json!({})).await;
    assert_eq!(next.status, 429, "{}", next.json());
}

#[tokio::test]
async fn commits_pushed_meanwhile_must_be_pulled() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let wait = api.post_status("bob", "WRITING", &["src/db.ts"], json!({ "wait_seconds": 15 }));
    let push = async {
        api.until_a_request_waits().await;
        let pushed = api.git.commit(&[("src/db.ts", "// a pool\n")]);
        let more = json!({ "agent_head": pushed, "new_repo_head": pushed });
        let released = api.post_status("ann", "OPEN", &["src/db.ts"], more).await;
        assert_eq!(released.status, 200, "{}", released.json());
    };
    let (stale, ()) = tokio::join!(wait, push);
    assert_eq!((stale.status, &stale.json()["error"]), (409, &json!("STALE_HEAD")));
}

#[tokio::test]
async fn two_that_wait_are_granted_in_their_order() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let are_waiting = async |count: usize| {
        until("claims wait", async || {
            let locks = api.get("/api/locks?repo_url=https://github.com/acme/shop", &[]).await;
            locks.json()["waiting"]
                .as_array()
                .is_some_and(|waiting| waiting.len() == count)
        })
        .await;
    };
    let bob = async {
        let granted = api
            .post_status("bob", "WRITING", &["src/db.ts"], json!({ "wait_seconds": 15 }))
            .await;
        assert_eq!(granted.status, 200, "{}", granted.json());
        let at = Instant::now();
        // time: bob holds the file while eve waits.
        tokio::time::sleep(Duration::from_millis(300)).await;
        api.post_status("bob", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
            .await;
        at
    };
    let eve = async {
        are_waiting(1).await;
        let granted = api
            .post_status("eve", "WRITING", &["src/db.ts"], json!({ "wait_seconds": 15 }))
            .await;
        assert_eq!(granted.status, 200, "{}", granted.json());
        Instant::now()
    };
    let release = async {
        are_waiting(2).await;
        api.post_status("ann", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
            .await;
    };
    let (bob, eve, ()) = tokio::join!(bob, eve, release);
    assert!(bob < eve);
}

#[tokio::test]
async fn bad_values_of_wait_seconds_and_force_are_named() {
    let api = Api::start().await;
    for (status, files, more, expected) in [
        (
            "WRITING",
            "src/db.ts",
            json!({ "wait_seconds": 21 }),
            "400 INVALID_FIELD wait_seconds: wait_seconds must be 0 to 20",
        ),
        (
            "OPEN",
            "src/db.ts",
            json!({ "wait_seconds": 1, "abandon": true }),
            "400 INVALID_FIELD wait_seconds: wait_seconds is for claims: send it with status READING or WRITING",
        ),
        (
            "WRITING",
            "src/db.ts",
            json!({ "force": true }),
            "400 INVALID_FIELD force: force takes others' locks away: send it with status OPEN, and name the files",
        ),
        (
            "OPEN",
            "*",
            json!({ "force": true, "abandon": true }),
            "400 INVALID_FIELD force: force takes others' locks away: send it with status OPEN, and name the files",
        ),
    ] {
        let answer = api.post_status("ann", status, &[files], more).await;
        assert_eq!(answer.refusal(), expected);
    }
    for more in [
        json!({ "wait_seconds": -1 }),
        json!({ "wait_seconds": "1" }),
        json!({ "force": 1 }),
    ] {
        let answer = api.post_status("ann", "WRITING", &["src/db.ts"], more.clone()).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]),
            (400, &json!("MALFORMED_BODY")),
            "{more}"
        );
    }
}

// rule: locks#force
#[tokio::test]
async fn a_person_force_releases_a_lock_and_its_holder_gets_stop() {
    let api = Api::start().await;
    let agent = json!({ "agent_id": "one" });
    api.post_status("ann", "WRITING", &["src/db.ts", "src/page.ts"], agent.clone())
        .await;
    let force = |more: Value| {
        let mut body = api.post_body("OPEN", &["src/db.ts"], json!({ "force": true }));
        body["message"] = json!("The release needs this file today");
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    // An agent may not.
    let refused = api
        .post("eve", "/api/post_status", &force(json!({ "agent_id": "x" })))
        .await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (403, &json!("PERSON_REQUIRED"))
    );
    let forced = api.post("eve", "/api/post_status", &force(json!({}))).await;
    assert_eq!(forced.status, 200, "{}", forced.json());
    assert_eq!(
        forced.json()["orchestration"]["reason"],
        "Force-released 'src/db.ts' of user 'ann' (agent 'one'); each holder is notified by its next call"
    );
    for answer in [
        api.check("ann", &["src/db.ts"], agent.clone()).await,
        api.post_status("ann", "WRITING", &["src/db.ts", "src/page.ts"], agent.clone())
            .await,
        api.post_status(
            "ann",
            "OPEN",
            &["src/db.ts"],
            json!({ "agent_id": "one", "abandon": true }),
        )
        .await,
    ] {
        let body = answer.json();
        assert_eq!((answer.status, &body["error"]), (409, &json!("LOCK_TAKEN")), "{body}");
        assert_eq!(body["orchestration"]["action"], "STOP");
        assert_eq!(
            body["orchestration"]["reason"],
            "user 'eve' force-released your lock on 'src/db.ts': The release needs this file today; stop working there, and \
             tell your user; confirm with OPEN and \"abandon\": true"
        );
    }
    api.post_status("ann", "WRITING", &["src/db.ts"], agent).await;
    let none = api
        .post(
            "eve",
            "/api/post_status",
            &force(json!({ "file_paths": ["README.md"] })),
        )
        .await;
    assert_eq!(
        none.json()["orchestration"]["reason"],
        "No other holder has 'README.md' on main"
    );
}

// rule: locks#force
#[tokio::test]
async fn only_approvers_may_force_release_where_the_owner_is_unknown() {
    let api = Api::start_with(|app| {
        app.approvers = Approvers::of(["eve"]);
    })
    .await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    let force = json!({ "force": true });
    let refused = api.post_status("bob", "OPEN", &["src/db.ts"], force.clone()).await;
    assert_eq!(
        refused.refusal(),
        "403 PERSON_REQUIRED -: only an owner of the repository can force-release a lock: ask your user to send the request \
         without agent_id, with a login that has admin or maintain at GitHub, or is one of eve"
    );
    let forced = api.post_status("eve", "OPEN", &["src/db.ts"], force).await;
    assert_eq!(forced.status, 200, "{}", forced.json());
    assert_eq!(api.held().await, 0);
}

// rule: locks#free-files
#[tokio::test]
async fn a_waiting_caller_is_offered_free_files_nearby() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    // page imports auth, which imports db.
    api.claim("ann", "WRITING", &["src/page.ts"]).await;
    let wait = api
        .post_status("bob", "WRITING", &["src/page.ts"], json!({}))
        .await
        .json();
    assert_eq!(metadata(&wait)["free"], json!(["src/db.ts"]), "{wait}");
    let switch = api.check("bob", &["src/auth.ts"], json!({})).await.json();
    assert_eq!(metadata(&switch)["free"], json!(["src/db.ts"]), "{switch}");
    api.claim("eve", "READING", &["src/db.ts"]).await;
    let switch = api.check("bob", &["src/auth.ts"], json!({})).await.json();
    assert_eq!(metadata(&switch).get("free"), None, "{switch}");
}

// rule: locks#waiting
#[tokio::test]
async fn the_locks_of_a_repository_list_queued_claims_and_what_blocks_them() {
    let api = Api::start().await;
    let locks = async |query: &str| {
        let path = format!("/api/locks?repo_url=https://github.com/acme/shop{query}");
        api.get(&path, &[]).await.json()
    };
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    assert_eq!(locks("").await.get("waiting"), None);
    let claim = json!({ "agent_id": "one" });
    api.post_status("bob", "WRITING", &["src/db.ts", "README.md"], claim)
        .await;
    let body = locks("").await;
    let waiting = &body["waiting"];
    assert_eq!(waiting.as_array().unwrap().len(), 1, "{body}");
    for (field, value) in [
        ("user", json!("bob")),
        ("agent_id", json!("one")),
        ("branch", json!("main")),
        ("status", json!("WRITING")),
        ("file_paths", json!(["src/db.ts", "README.md"])),
        ("waits_for", json!([{ "file_path": "src/db.ts", "user": "ann" }])),
        ("reserved_until", Value::Null),
    ] {
        assert_eq!(waiting[0][field], value, "{field}");
    }
    assert_eq!(locks("&branch=other").await.get("waiting"), None);
    assert_eq!(
        locks("&holder=me").await.get("waiting"),
        None,
        "the caller waits for nothing"
    );
    // Free again, they are reserved.
    api.post_status("ann", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
        .await;
    let body = locks("").await;
    assert!(body["waiting"][0]["reserved_until"].is_i64(), "{body}");
    assert_eq!(body["waiting"][0].get("waits_for"), None);
}

#[tokio::test]
async fn a_lock_has_the_time_of_its_grant_and_of_its_renewal() {
    let api = Api::start().await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    // time: times of locks are whole seconds.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let renewed = api.post_status("ann", "WRITING", &["src/db.ts"], json!({})).await;
    let check = api.check("bob", &["src/db.ts"], json!({})).await.json();
    let path = "/api/locks?repo_url=https://github.com/acme/shop";
    let held = api.get(path, &[]).await.json();
    for lock in [
        &renewed.json()["locks"]["src/db.ts"],
        &check["locks"]["src/db.ts"],
        &held["locks"][0],
    ] {
        assert!(
            lock["since"].as_i64().unwrap() < lock["timestamp"].as_i64().unwrap(),
            "{lock}"
        );
    }
}
