//! The holder of a file: renewals behind the branch, the end of a lock, and two agents of one person.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::{World, refusal, refused, warnings};

everywhere!(
    a_writer_behind_the_branch_renews_its_file_and_gets_no_other,
    an_agent_ahead_gets_no_missing_commit,
    a_lock_lives_through_the_last_millisecond_of_its_time,
    two_agents_without_agent_id_are_one_holder_and_get_already_held,
    a_writer_takes_over_from_its_lead_and_the_lead_what_is_left,
);

// rule: locks#renewal
async fn a_writer_behind_the_branch_renews_its_file_and_gets_no_other(world: World) {
    let api = &world.api;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let head = world.others_push(&[("other.md", "Somebody else's")]).await;
    let up_to_date = json!({ "agent_head": head });
    let bob = api.post_status("bob", "WRITING", &["README.md"], up_to_date).await;
    assert_eq!(bob.status, 200, "{}", bob.json());
    let renewed = api.post_status("ann", "WRITING", &["src/auth.ts"], json!({})).await;
    assert_eq!(refused(&renewed), refusal(200, "", "PROCEED"), "{}", renewed.json());
    assert!(
        warnings(&renewed, "STALE_BRANCH").contains("PULL"),
        "{}",
        renewed.json()
    );
    let paths = ["src/auth.ts", "new.md", "README.md"];
    let stale = api.post_status("ann", "WRITING", &paths, json!({})).await;
    assert_eq!(refused(&stale), refusal(409, "STALE_HEAD", "PULL"), "{}", stale.json());
    let metadata = &stale.json()["orchestration"]["metadata"];
    assert_eq!(
        metadata["conflicts"],
        json!(["README.md"]),
        "what else stands against it"
    );
    assert_eq!(api.held().await, 2);
}

async fn an_agent_ahead_gets_no_missing_commit(world: World) {
    let api = &world.api;
    let own = api.git.commit(&[("src/auth.ts", "export {};\n")]);
    // A clone has the commit; GitHub does not, and asks for the base.
    let bare = json!({ "agent_head": own });
    let claimed = api.post_status("ann", "WRITING", &["src/auth.ts"], bare).await;
    if world.github().is_none() {
        assert_eq!(claimed.status, 200, "{}", claimed.json());
    } else {
        assert_eq!(
            refused(&claimed),
            refusal(409, "STALE_HEAD", "PULL"),
            "{}",
            claimed.json()
        );
        let reason = claimed.json()["orchestration"]["reason"].to_string();
        assert!(
            reason.contains("it is unknown whether") && reason.contains("base_head") && !reason.contains("lacks"),
            "{reason}"
        );
    }
    let based = json!({ "agent_head": own, "base_head": api.head });
    let claimed = api.post_status("ann", "WRITING", &["src/db.ts"], based).await;
    assert_eq!(claimed.status, 200, "{}", claimed.json());
    assert_eq!(warnings(&claimed, "STALE_BRANCH"), "");
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

// rule: locks#ttl
async fn a_lock_lives_through_the_last_millisecond_of_its_time(world: World) {
    let api = &world.api;
    let before = now_ms();
    let claimed = api.post_status("ann", "WRITING", &["notes.md"], json!({})).await.json();
    let after = now_ms();
    let expiry_ms = api.stored("notes.md").await[0]["expiry_ms"].as_i64().unwrap();
    assert!((before + 300_000..=after + 300_000).contains(&expiry_ms), "{expiry_ms}");
    let shown = claimed["locks"]["notes.md"]["expiry"].as_i64().unwrap();
    assert!((0..1_000).contains(&(expiry_ms - shown * 1_000)), "{shown} {expiry_ms}");

    let end = now_ms() + 150;
    api.ends_at("notes.md", end).await;
    loop {
        let requested_at = now_ms();
        let bob = api.post_status("bob", "WRITING", &["notes.md"], json!({})).await;
        if bob.status == 200 {
            assert!(now_ms() > end, "it was not over");
            break;
        }
        assert_eq!(refused(&bob), refusal(409, "LOCK_CONFLICT", "WAIT"), "{}", bob.json());
        assert!(requested_at <= end, "it was over");
        // time: between two requests around the end of a lock.
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
}

// rule: locks#holder
async fn two_agents_without_agent_id_are_one_holder_and_get_already_held(world: World) {
    let api = &world.api;
    let claim = async |more: serde_json::Value| api.post_status("ann", "WRITING", &["src/auth.ts"], more).await;
    let first = claim(json!({ "message": "Moving sessions to tokens" })).await;
    assert_eq!(warnings(&first, "ALREADY_HELD"), "");
    let second = claim(json!({ "message": "Rewriting the login form from the ground up" })).await;
    assert_eq!(second.status, 200, "{}", second.json());
    let warning = warnings(&second, "ALREADY_HELD");
    assert!(
        warning.contains(" since ") && warning.contains("Moving sessions to tokens") && warning.contains("agent_id"),
        "{warning}"
    );
    // With an id, each agent is a separate holder.
    let other = claim(json!({ "agent_id": "one" })).await;
    assert_eq!(
        refused(&other),
        refusal(409, "LOCK_CONFLICT", "WAIT"),
        "{}",
        other.json()
    );
}

// rule: locks#take-over
async fn a_writer_takes_over_from_its_lead_and_the_lead_what_is_left(world: World) {
    let api = &world.api;
    let claim = async |user: &str, agent: &str, take_over: Option<&str>| {
        let more = json!({ "agent_id": agent, "take_over": take_over });
        api.post_status(user, "WRITING", &["src/auth.ts"], more).await
    };
    let conflict = refusal(409, "LOCK_CONFLICT", "WAIT");
    let first = claim("ann", "one", None).await;
    let token = |answer: &crate::answer::Answer| answer.json()["locks"]["src/auth.ts"]["token"].as_i64().unwrap();
    let first = token(&first);
    assert_eq!(refused(&claim("ann", "one::a", None).await), conflict, "without a word");
    // Another login has no part in it.
    let bob = claim("bob", "one::a", Some("one")).await;
    assert_eq!(refused(&bob), conflict, "{}", bob.json());
    let taken = claim("ann", "one::a", Some("one")).await;
    assert_eq!(taken.status, 200, "{}", taken.json());
    assert!(token(&taken) > first, "{}", taken.json());
    assert_eq!(taken.json()["locks"]["src/auth.ts"]["taken_from"], "one");
    assert!(warnings(&taken, "TAKEN_OVER").contains("'one'"), "{}", taken.json());
    assert_eq!(warnings(&taken, "ALREADY_HELD"), "");
    for (agent, from) in [("one", None), ("one::b", Some("one")), ("one", Some("one::b"))] {
        let refusal = claim("ann", agent, from).await;
        assert_eq!(refused(&refusal), conflict, "{agent} {}", refusal.json());
        assert!(refusal.json().to_string().contains("one::a"), "{}", refusal.json());
    }
    assert_eq!(api.held().await, 1);
    // A renewal says nothing of it, and changes nothing.
    let renewed = claim("ann", "one::a", Some("one")).await;
    assert_eq!((renewed.status, token(&renewed)), (200, token(&taken)));
    assert_eq!(warnings(&renewed, "TAKEN_OVER"), "");
    let back = claim("ann", "one", Some("one::a")).await;
    assert_eq!(back.status, 200, "{}", back.json());
    assert!(token(&back) > token(&taken));
    assert_eq!(api.held().await, 1);

    // A check tells the writer that it can have it, and everybody else that it is locked.
    let check = async |user: &str, agent: &str| {
        let body = api.check_body(&["src/auth.ts"], json!({ "agent_id": agent }));
        api.post(user, "/api/check_status", &body).await
    };
    let free = check("ann", "one::a").await;
    assert_eq!(free.json()["orchestration"]["action"], "PROCEED", "{}", free.json());
    let warning = warnings(&free, "ALREADY_HELD");
    assert!(warning.contains("Your lead 'one' holds 'src/auth.ts'"), "{warning}");
    for (user, agent) in [("ann", "two::a"), ("ann", "two"), ("bob", "one::a")] {
        let refused = check(user, agent).await;
        assert_eq!(
            refused.json()["orchestration"]["action"],
            "SWITCH_TASK",
            "{user} {agent}"
        );
        assert_eq!(warnings(&refused, "ALREADY_HELD"), "");
    }

    // The writer may write a file that the lead reads; a file being written stays so.
    api.post_status("ann", "READING", &["README.md"], json!({ "agent_id": "one" }))
        .await;
    let more = json!({ "agent_id": "one::a", "take_over": "one" });
    let written = api.post_status("ann", "WRITING", &["README.md"], more.clone()).await;
    assert_eq!(
        written.json()["locks"]["README.md"]["status"],
        "WRITING",
        "{}",
        written.json()
    );
    let read = api.post_status("ann", "READING", &["src/auth.ts"], more).await;
    assert_eq!(
        read.json()["locks"]["src/auth.ts"]["status"],
        "WRITING",
        "{}",
        read.json()
    );
    assert_eq!(api.held().await, 2);

    for (agent, from) in [
        ("one", "two"),
        ("one::a", "one::b"),
        ("one", "on"),
        ("one", "one"),
        ("one::a", ""),
    ] {
        let answer = claim("ann", agent, Some(from)).await;
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (400, &json!("take_over")),
            "{agent} {from}: {}",
            answer.json()
        );
    }
    let open = json!({ "agent_id": "one", "take_over": "one::a", "abandon": true });
    let answer = api.post_status("ann", "OPEN", &["src/auth.ts"], open).await;
    assert_eq!((answer.status, &answer.json()["field"]), (400, &json!("take_over")));
}
