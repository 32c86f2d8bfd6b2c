//! A claim that waits: its place in the queue, `wait_seconds`, files that are free, and force-released locks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use coord_server::app::App;
use coord_settings::{Approvers, Rate, Rates};
use coord_test_support::waiting::until;
use serde_json::{Value, json};

use crate::api::{Answer, Api, LOCKS};

fn metadata(body: &Value) -> &Value {
    &body["orchestration"]["metadata"]
}

/// A claim to write the file that all want.
async fn want(api: &Api, user: &str, more: Value) -> Answer {
    api.post_status(user, "WRITING", &["src/db.ts"], more).await
}

/// The same, which waits for so many seconds.
async fn wait(api: &Api, user: &str, seconds: u64) -> Answer {
    want(api, user, json!({ "wait_seconds": seconds })).await
}

/// A server where ann writes that file.
async fn start_with(change: impl FnOnce(&mut App)) -> Api {
    let api = Api::start_with(change).await;
    api.claim("ann", "WRITING", &["src/db.ts"]).await;
    api
}

async fn start() -> Api {
    start_with(|_| {}).await
}

#[tokio::test]
async fn a_refused_claim_has_its_position_and_the_claims_before_it() {
    let api = start().await;
    let one = json!({ "agent_id": "one" });
    let first = want(&api, "bob", one.clone()).await.json();
    let second = want(&api, "eve", json!({})).await.json();
    assert_eq!(metadata(&first)["position"], 1);
    assert_eq!(metadata(&first).get("before"), None);
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
    let again = api.post_status("bob", "WRITING", &["./src/db.ts"], one).await.json();
    assert_eq!(metadata(&again)["ticket"], metadata(&first)["ticket"]);
    // Once it is free, it is bob's for a while.
    api.abandon("ann", &["src/db.ts"]).await;
    let reserved = want(&api, "eve", json!({})).await;
    let lock = &reserved.expect("409 LOCK_CONFLICT")["conflicting_locks"]["src/db.ts"];
    assert_eq!(lock["lock_type"], "RESERVED");
    let reason = reserved.reason();
    assert!(
        reason.starts_with("File 'src/db.ts' is reserved for 'one' of user 'bob', whose claim came first: "),
        "{reason}"
    );
    let check = api.check("eve", &["src/db.ts"], json!({})).await;
    let body = check.expect("200 CONFLICT SWITCH_TASK");
    assert_eq!(body["locks"]["src/db.ts"]["lock_type"], "RESERVED");
}

// rule: locks#no-rings
#[tokio::test]
async fn two_holders_that_want_each_others_files_are_warned_of_mutual_wait() {
    let api = start().await;
    api.claim("bob", "WRITING", &["README.md"]).await;
    let first = api.post_status("ann", "WRITING", &["README.md"], json!({})).await;
    assert_eq!(first.warnings("MUTUAL_WAIT"), [""; 0]);
    let second = want(&api, "bob", json!({})).await;
    second.expect("409 LOCK_CONFLICT");
    let warnings = second.warnings("MUTUAL_WAIT: You and user 'ann' each wait");
    assert_eq!(warnings.len(), 1, "{}", second.json());
}

#[tokio::test]
async fn a_check_of_a_free_file_with_a_queued_claim_is_proceed_and_shows_waiting() {
    let api = start().await;
    let files = ["README.md", "src/db.ts"];
    api.post_status("bob", "WRITING", &files, json!({ "agent_id": "one" }))
        .await;
    let check = api.check("eve", &files[..1], json!({})).await;
    let waiting = check.expect("200 OK PROCEED")["locks"]["README.md"].take();
    for (field, value) in [
        ("lock_type", "WAITING"),
        ("user", "bob"),
        ("agent_id", "one"),
        ("status", "WRITING"),
    ] {
        assert_eq!(waiting[field], value, "{field}");
    }
    // A lock of the file is shown instead; and the claim is granted.
    let both = api.check("joe", &files, json!({})).await.json();
    let lock = &both["locks"]["src/db.ts"];
    assert_eq!(lock["user"], "ann");
    assert_eq!(waiting["expiry"], lock["expiry"], "bob waits for that lock");
    api.claim("eve", "WRITING", &files[..1]).await;
}

/// `AGENTS` agents want one file, `turns` times each, by claims that wait; each holds it for up to 700 ms. The times from a release to the
/// next grant, sorted.
async fn hand_over(turns: usize) -> Vec<Duration> {
    const AGENTS: usize = 6;
    let api = Api::start().await;
    let released: Mutex<Option<Instant>> = Mutex::default();
    let plays = async |number: usize| {
        let user = format!("agent-{number}");
        let mut waited = Vec::new();
        for turn in 0..turns {
            loop {
                let answer = wait(&api, &user, 20).await;
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
            let answer = api.abandon(&user, &["src/db.ts"]).await;
            *released.lock().unwrap() = Some(Instant::now());
            answer.expect("200");
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
    let api = start().await;
    let release = async {
        api.until_a_request_waits().await;
        // Not about this file.
        api.claim("joe", "WRITING", &["README.md"]).await;
        api.abandon("joe", &["README.md"]).await;
        // time: an event about another file wakes nothing.
        tokio::time::sleep(Duration::from_millis(300)).await;
        api.abandon("ann", &["src/db.ts"]).await;
    };
    let began = Instant::now();
    let (granted, ()) = tokio::join!(wait(&api, "bob", 15), release);
    granted.expect("200");
    let waited = began.elapsed();
    assert!(
        waited > Duration::from_millis(300) && waited < Duration::from_secs(10),
        "{waited:?}"
    );
}

#[tokio::test]
async fn a_claim_that_waits_in_vain_keeps_its_place_and_ends_in_time() {
    let api = start().await;
    let began = Instant::now();
    let vain = wait(&api, "bob", 1).await.expect("409 LOCK_CONFLICT");
    assert!((1..6).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    assert_eq!(metadata(&vain)["position"], 1);
    // Nothing waits that has no need to.
    let began = Instant::now();
    let more = json!({ "wait_seconds": 20 });
    api.granted("bob", "WRITING", &["README.md"], more).await;
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_lock_that_expires_ends_the_wait() {
    let api = start_with(|app| app.locks.ttl_seconds = 2).await;
    wait(&api, "bob", 15).await.expect("200");
}

#[tokio::test]
async fn each_claim_of_a_wait_counts_and_the_limit_ends_it_with_the_refusal() {
    let api = start_with(|app| {
        app.rates = Rates {
            // Three claims, as their burst is longer by half.
            person: Rate {
                interval_ms: 60_000,
                burst: 2,
            },
            ..Rates::NONE
        };
    })
    .await;
    let files = ["README.md", "src/db.ts"];
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
    ended.expect("409 LOCK_CONFLICT");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let next = api.post_status("bob", "WRITING", &files, json!({})).await;
    next.expect("429");
}

#[tokio::test]
async fn commits_pushed_meanwhile_must_be_pulled() {
    let api = start().await;
    let push = async {
        api.until_a_request_waits().await;
        let pushed = api.git.commit(&[("src/db.ts", "// a pool\n")]);
        let more = json!({ "agent_head": pushed, "new_repo_head": pushed });
        api.granted("ann", "OPEN", &["src/db.ts"], more).await;
    };
    let (stale, ()) = tokio::join!(wait(&api, "bob", 15), push);
    stale.expect("409 STALE_HEAD");
}

#[tokio::test]
async fn two_that_wait_are_granted_in_their_order() {
    let api = start().await;
    let are_waiting = async |count: usize| {
        until("claims wait", async || {
            let waiting = api.get_json(LOCKS).await["waiting"].take();
            waiting.as_array().is_some_and(|waiting| waiting.len() == count)
        })
        .await;
    };
    let bob = async {
        wait(&api, "bob", 15).await.expect("200");
        let at = Instant::now();
        // time: bob holds the file while eve waits.
        tokio::time::sleep(Duration::from_millis(300)).await;
        api.abandon("bob", &["src/db.ts"]).await;
        at
    };
    let eve = async {
        are_waiting(1).await;
        wait(&api, "eve", 15).await.expect("200");
        Instant::now()
    };
    let release = async {
        are_waiting(2).await;
        api.abandon("ann", &["src/db.ts"]).await;
    };
    let (bob, eve, ()) = tokio::join!(bob, eve, release);
    assert!(bob < eve);
}

#[tokio::test]
async fn bad_values_of_wait_seconds_and_force_are_named() {
    let api = Api::start().await;
    let for_claims = "wait_seconds: wait_seconds is for claims: send it with status READING or WRITING";
    let for_release = "force: force force-releases others' locks: send it with status OPEN, and name the files";
    for (status, file, more, refusal) in [
        (
            "WRITING",
            "src/db.ts",
            json!({ "wait_seconds": 21 }),
            "wait_seconds: wait_seconds must be 0 to 20",
        ),
        (
            "OPEN",
            "src/db.ts",
            json!({ "wait_seconds": 1, "abandon": true }),
            for_claims,
        ),
        ("WRITING", "src/db.ts", json!({ "force": true }), for_release),
        ("OPEN", "*", json!({ "force": true, "abandon": true }), for_release),
    ] {
        let answer = api.post_status("ann", status, &[file], more).await;
        assert_eq!(answer.refusal(), format!("400 INVALID_FIELD {refusal}"));
    }
    for more in [
        json!({ "wait_seconds": -1 }),
        json!({ "wait_seconds": "1" }),
        json!({ "force": 1 }),
    ] {
        let answer = want(&api, "ann", more.clone()).await;
        assert_eq!(answer.outcome(), "400 MALFORMED_BODY STOP", "{more}");
    }
}

// rule: locks#force
#[tokio::test]
async fn a_person_force_releases_a_lock_and_its_holder_gets_stop() {
    let api = Api::start().await;
    let files = ["src/db.ts", "src/page.ts"];
    let agent = json!({ "agent_id": "one" });
    api.granted("ann", "WRITING", &files, agent.clone()).await;
    let force = async |paths: &[&str], agent: Option<&str>| {
        let more = json!({ "force": true, "message": "The release needs this file today", "agent_id": agent });
        api.post_status("eve", "OPEN", paths, more).await
    };
    // An agent may not.
    force(&files[..1], Some("x")).await.expect("403 PERSON_REQUIRED");
    let forced = force(&files[..1], None).await;
    forced.expect("200");
    assert_eq!(
        forced.reason(),
        "Force-released 'src/db.ts' of user 'ann' (agent 'one'); each holder is notified by its next call"
    );
    let open = json!({ "agent_id": "one", "abandon": true });
    for answer in [
        api.check("ann", &files[..1], agent.clone()).await,
        api.post_status("ann", "WRITING", &files, agent.clone()).await,
        api.post_status("ann", "OPEN", &files[..1], open).await,
    ] {
        answer.expect("409 LOCK_TAKEN STOP");
        assert_eq!(
            answer.reason(),
            "user 'eve' force-released your lock on 'src/db.ts': The release needs this file today; stop working there, and \
             tell your user; confirm with OPEN and \"abandon\": true"
        );
    }
    want(&api, "ann", agent).await;
    let none = force(&["README.md"], None).await;
    assert_eq!(none.reason(), "No other holder has 'README.md' on main");
}

// rule: locks#force
#[tokio::test]
async fn only_approvers_may_force_release_where_the_owner_is_unknown() {
    let api = start_with(|app| app.approvers = Approvers::of(["eve"])).await;
    let force = json!({ "force": true });
    let refused = api.post_status("bob", "OPEN", &["src/db.ts"], force.clone()).await;
    assert_eq!(
        refused.refusal(),
        "403 PERSON_REQUIRED -: only an owner of the repository can force-release a lock: ask your user to send the request \
         without agent_id, with a login that has admin or maintain at GitHub, or is one of eve"
    );
    api.granted("eve", "OPEN", &["src/db.ts"], force).await;
    assert_eq!(api.held().await, 0);
}

// rule: locks#free-files
#[tokio::test]
async fn a_waiting_caller_is_offered_free_files_nearby() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    // page imports auth, which imports db.
    api.claim("ann", "WRITING", &["src/page.ts"]).await;
    let wait = api.post_status("bob", "WRITING", &["src/page.ts"], json!({})).await;
    assert_eq!(metadata(&wait.json())["free"], json!(["src/db.ts"]));
    let switch = async || api.check("bob", &["src/auth.ts"], json!({})).await.json();
    assert_eq!(metadata(&switch().await)["free"], json!(["src/db.ts"]));
    api.claim("eve", "READING", &["src/db.ts"]).await;
    assert_eq!(metadata(&switch().await).get("free"), None);
}

// rule: locks#waiting
#[tokio::test]
async fn the_locks_of_a_repository_list_queued_claims_and_what_blocks_them() {
    let api = start().await;
    let locks = async |query: &str| api.get_json(&format!("{LOCKS}{query}")).await;
    assert_eq!(locks("").await.get("waiting"), None);
    let one = json!({ "agent_id": "one" });
    api.post_status("bob", "WRITING", &["src/db.ts", "README.md"], one)
        .await;
    let waiting = locks("").await["waiting"].take();
    assert_eq!(waiting.as_array().unwrap().len(), 1, "{waiting}");
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
    // The caller itself waits for nothing.
    for query in ["&branch=other", "&holder=me"] {
        assert_eq!(locks(query).await.get("waiting"), None, "{query}");
    }
    // Free again, they are reserved.
    api.abandon("ann", &["src/db.ts"]).await;
    let waiting = locks("").await["waiting"].take();
    assert!(waiting[0]["reserved_until"].is_i64(), "{waiting}");
    assert_eq!(waiting[0].get("waits_for"), None);
}

#[tokio::test]
async fn a_lock_has_the_time_of_its_grant_and_of_its_renewal() {
    let api = start().await;
    // time: times of locks are whole seconds.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let renewed = want(&api, "ann", json!({})).await.json();
    let check = api.check("bob", &["src/db.ts"], json!({})).await.json();
    let held = api.get_json(LOCKS).await;
    for lock in [
        &renewed["locks"]["src/db.ts"],
        &check["locks"]["src/db.ts"],
        &held["locks"][0],
    ] {
        assert!(
            lock["since"].as_i64().unwrap() < lock["timestamp"].as_i64().unwrap(),
            "{lock}"
        );
    }
}
