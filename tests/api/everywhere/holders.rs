//! The holder of a file: renewals behind the branch, and a writer and its lead.

use serde_json::json;

use super::{World, warnings};
use crate::answer::Answer;

everywhere!(
    a_writer_behind_the_branch_renews_its_file_and_gets_no_other,
    an_agent_ahead_gets_no_missing_commit,
    a_writer_takes_over_from_its_lead_and_the_lead_what_is_left,
);

// rule: locks#renewal
async fn a_writer_behind_the_branch_renews_its_file_and_gets_no_other(world: World) {
    let api = &world.api;
    api.claim("ann", "WRITING", &["src/auth.ts"]).await;
    let head = world.others_push(&[("other.md", "Somebody else's")]).await;
    let up_to_date = json!({ "agent_head": head });
    api.granted("bob", "WRITING", &["README.md"], up_to_date).await;
    let renewed = api.post_status("ann", "WRITING", &["src/auth.ts"], json!({})).await;
    renewed.expect("200 PROCEED");
    let warning = warnings(&renewed, "STALE_BRANCH");
    assert!(warning.contains("PULL"), "{}", renewed.json());
    let paths = ["src/auth.ts", "new.md", "README.md"];
    let stale = api.post_status("ann", "WRITING", &paths, json!({})).await;
    let metadata = &stale.expect("409 STALE_HEAD PULL")["orchestration"]["metadata"];
    assert_eq!(metadata["conflicts"], json!(["README.md"]), "it is locked, too");
    assert_eq!(api.held().await, 2);
}

async fn an_agent_ahead_gets_no_missing_commit(world: World) {
    let api = &world.api;
    let own = api.git.commit(&[("src/auth.ts", "export {};\n")]);
    // A clone has the commit; GitHub does not, and asks for the base.
    let bare = json!({ "agent_head": own });
    let claimed = api.post_status("ann", "WRITING", &["src/auth.ts"], bare).await;
    if world.is_clone() {
        claimed.expect("200");
    } else {
        claimed.expect("409 STALE_HEAD PULL");
        let reason = claimed.reason();
        assert!(
            reason.contains("it is unknown whether") && reason.contains("base_head") && !reason.contains("lacks"),
            "{reason}"
        );
    }
    let based = json!({ "agent_head": own, "base_head": api.head });
    let claimed = api.post_status("ann", "WRITING", &["src/db.ts"], based).await;
    claimed.expect("200");
    assert_eq!(warnings(&claimed, "STALE_BRANCH"), "");
}

// rule: locks#take-over
async fn a_writer_takes_over_from_its_lead_and_the_lead_what_is_left(world: World) {
    let api = &world.api;
    let claim = async |user: &str, agent: &str, take_over: Option<&str>| {
        let more = json!({ "agent_id": agent, "take_over": take_over });
        api.post_status(user, "WRITING", &["src/auth.ts"], more).await
    };
    let conflict = "409 LOCK_CONFLICT WAIT";
    let token = |answer: &Answer| answer.expect("200")["locks"]["src/auth.ts"]["token"].as_i64().unwrap();
    let first = token(&claim("ann", "one", None).await);
    // Without a word about it, and by another login, no lock is taken over.
    claim("ann", "one::a", None).await.expect(conflict);
    claim("bob", "one::a", Some("one")).await.expect(conflict);
    let taken = claim("ann", "one::a", Some("one")).await;
    assert!(token(&taken) > first, "{}", taken.json());
    assert_eq!(taken.json()["locks"]["src/auth.ts"]["taken_from"], "one");
    assert!(warnings(&taken, "TAKEN_OVER").contains("'one'"), "{}", taken.json());
    assert_eq!(warnings(&taken, "ALREADY_HELD"), "");
    for (agent, from) in [("one", None), ("one::b", Some("one")), ("one", Some("one::b"))] {
        let refusal = claim("ann", agent, from).await;
        assert_eq!(refusal.outcome(), conflict, "{agent} {}", refusal.json());
        assert!(refusal.text().contains("one::a"), "{}", refusal.json());
    }
    assert_eq!(api.held().await, 1);
    // A renewal says nothing of it, and changes nothing.
    let renewed = claim("ann", "one::a", Some("one")).await;
    assert_eq!(token(&renewed), token(&taken));
    assert_eq!(warnings(&renewed, "TAKEN_OVER"), "");
    let back = claim("ann", "one", Some("one::a")).await;
    assert!(token(&back) > token(&taken));
    assert_eq!(api.held().await, 1);

    // A check tells the writer that it can have it, and everybody else that it is locked.
    let check = async |user: &str, agent: &str| {
        let by = json!({ "agent_id": agent });
        api.check(user, &["src/auth.ts"], by).await
    };
    let free = check("ann", "one::a").await;
    assert_eq!(free.json()["orchestration"]["action"], "PROCEED", "{}", free.json());
    let warning = warnings(&free, "ALREADY_HELD");
    assert!(warning.contains("Your lead 'one' holds 'src/auth.ts'"), "{warning}");
    for (user, agent) in [("ann", "two::a"), ("ann", "two"), ("bob", "one::a")] {
        let locked = check(user, agent).await;
        let action = &locked.json()["orchestration"]["action"];
        assert_eq!(*action, "SWITCH_TASK", "{user} {agent}");
        assert_eq!(warnings(&locked, "ALREADY_HELD"), "");
    }

    // The writer may write a file that the lead reads; a file being written stays so.
    let lead = json!({ "agent_id": "one" });
    api.granted("ann", "READING", &["README.md"], lead).await;
    let writer = json!({ "agent_id": "one::a", "take_over": "one" });
    for (status, file) in [("WRITING", "README.md"), ("READING", "src/auth.ts")] {
        let granted = api.granted("ann", status, &[file], writer.clone()).await;
        assert_eq!(granted["locks"][file]["status"], "WRITING", "{granted}");
    }
    assert_eq!(api.held().await, 2);

    for (agent, from) in [
        ("one", "two"),
        ("one::a", "one::b"),
        ("one", "on"),
        ("one", "one"),
        ("one::a", ""),
    ] {
        let refused = claim("ann", agent, Some(from)).await.expect("400");
        assert_eq!(refused["field"], "take_over", "{agent} {from}: {refused}");
    }
    let open = json!({ "agent_id": "one", "take_over": "one::a", "abandon": true });
    let refused = api.post_status("ann", "OPEN", &["src/auth.ts"], open).await;
    assert_eq!(refused.expect("400")["field"], "take_over");
}
