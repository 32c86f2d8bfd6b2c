//! Every refusal, in its order.

use coord_domain::LockMode::{Reading, Writing};
use coord_intents::intent::Status;
use coord_state as state;
use coord_state::locks::ClaimOutcome;

use super::{found, intent};
use crate::world::{NEXT, World, granted};

/// Each state of things is reason enough for its own refusal, and for that of none before it.
// rule: locks#gate
async fn the_first_reason_refuses_and_all_others_are_listed(world: World) {
    let ann = world.agent("ann");
    world.begins(intent("other", "owned/**", None)).await;
    world.agent("bob").citing("other").writes(&["owned/a.ts"]).await;
    world.begins(intent("mine", "src/**", Some(1))).await;
    let mine = ann.clone().citing("mine").calling("Edit", "1");
    mine.writes(&["src/a.ts"]).await;

    // The budget is spent: the intent would be blocked, were it not for the reasons before that.
    let cases = [
        (
            &["owned/a.ts", "src/b.ts"][..],
            &[
                "SCOPE_VIOLATION mine owned/a.ts",
                "FILE_OWNED other owned/a.ts",
                "BUDGET_EXHAUSTED ... mine",
            ][..],
        ),
        (
            &["src/b.ts", "lib/c.ts", "lib/d.ts"],
            &["SCOPE_VIOLATION mine lib/c.ts,lib/d.ts", "BUDGET_EXHAUSTED ... mine"],
        ),
        (
            &[".git/config"],
            &["SCOPE_VIOLATION mine .git/config", "BUDGET_EXHAUSTED ... mine"],
        ),
    ];
    for (paths, expected) in cases {
        assert_eq!(mine.is_refused_by_gate(paths).await, expected);
        let checked = mine.checks(Writing, paths).await;
        assert_eq!(found(&checked), expected, "a check says the same");
    }
    world.begins(intent("wide", "[os]*/**", None)).await;
    let wide = ann.clone().citing("wide");
    assert_eq!(
        wide.is_refused_by_gate(&["owned/a.ts", "src/a.ts", "src/b.ts"]).await,
        ["FILE_OWNED other owned/a.ts", "FILE_OWNED mine src/a.ts"]
    );
    let spent = ["BUDGET_EXHAUSTED ... mine"];
    assert_eq!(found(&mine.checks(Writing, &["src/b.ts"]).await), spent);
    assert_eq!(mine.is_refused_by_gate(&["src/b.ts"]).await, spent);
    assert_eq!(
        mine.is_refused_by_gate(&["owned/a.ts"]).await,
        [
            "INTENT_BLOCKED ... mine",
            "SCOPE_VIOLATION mine owned/a.ts",
            "FILE_OWNED other owned/a.ts"
        ]
    );
    world.moves("mine", Status::Abandoned).await;
    assert_eq!(
        mine.is_refused_by_gate(&["owned/a.ts"]).await,
        ["INTENT_NOT_ACTIVE ABANDONED mine", "FILE_OWNED other owned/a.ts"]
    );
    assert_eq!(
        ann.clone().where_required().is_refused_by_gate(&["owned/a.ts"]).await,
        ["INTENT_REQUIRED REASONING", "FILE_OWNED other owned/a.ts"]
    );
}

async fn a_refusal_has_the_locks_and_the_branch_among_its_facts(world: World) {
    world.begins(intent("mine", "src/**", None)).await;
    world.agent("bob").writes(&["lib/a.ts"]).await;
    let ann = world.agent("ann").citing("mine").while_branch_is_at(NEXT);
    let ClaimOutcome::Refused(survey) = ann.claim(Writing, &["lib/a.ts"]).await else {
        panic!("it was granted")
    };
    assert!(survey.is_behind && survey.findings[0].blocks, "{survey:?}");
    assert_eq!(survey.gate.intent.as_deref(), Some("mine"));
    assert_eq!(world.stored("lib/a.ts").await.len(), 1, "nothing is claimed");
    // Where only the source could tell whether it is behind, it is not asked.
    let unknown = world.agent("ann").citing("mine").at(NEXT).with_aged_head();
    world.records_head(crate::world::HEAD, &[]).await;
    assert_eq!(
        unknown.is_refused_by_gate(&["lib/a.ts"]).await,
        ["SCOPE_VIOLATION mine lib/a.ts"]
    );
}

async fn only_an_intent_in_progress_allows_a_claim(world: World) {
    let ann = world.agent("ann").citing("a");
    let expected = async |expected: &str| {
        assert_eq!(ann.is_refused_by_gate(&["a.ts"]).await, [format!("{expected} a")]);
    };
    expected("INTENT_NOT_ACTIVE UNKNOWN").await;
    world.writes_intent(intent("a", "*.ts", None)).await;
    expected("INTENT_NOT_ACTIVE PENDING").await;
    world.agent("boss").selects_in_gate("a").await;
    ann.writes(&["a.ts"]).await;
    world.moves("a", Status::Blocked).await;
    expected("INTENT_BLOCKED Because").await;
    world.moves("a", Status::InProgress).await;
    ann.writes(&["a.ts"]).await;
    world.moves("a", Status::Completed).await;
    expected("INTENT_NOT_ACTIVE COMPLETED").await;
    let other = coord_intents::intent::Intent {
        branch: Some("other".to_owned()),
        ..intent("b", "*.ts", None)
    };
    world.begins(other).await;
    let ann = world.agent("ann").citing("b");
    assert_eq!(ann.is_refused_by_gate(&["b.ts"]).await, ["INTENT_NOT_ACTIVE BRANCH b"]);
    ann.on_branch("other").writes(&["b.ts"]).await;
}

async fn reading_and_releasing_need_no_intent(world: World) {
    world.begins(intent("mine", "src/**", None)).await;
    world.agent("bob").citing("mine").writes(&["src/a.ts"]).await;
    let ann = world.agent("ann").where_required();
    assert_eq!(ann.is_refused_by_gate(&["lib/a.ts"]).await, ["INTENT_REQUIRED REQUEST"]);
    ann.reads(&["lib/a.ts"]).await;
    assert_eq!(found(&ann.checks(Reading, &["src/b.ts"]).await), [""; 0]);
    // It may say what it is for.
    let read = ann.clone().citing("mine").reads(&["src/b.ts"]).await;
    assert_eq!(read.own[0].intent_id.as_deref(), Some("mine"));
    let read = ann.clone().citing("none").reads(&["src/c.ts"]).await;
    assert_eq!(read.own[0].intent_id, None, "that is not an intent");
    world.moves("mine", Status::Completed).await;
    let bob = world.agent("bob").citing("mine").where_required();
    assert_eq!(bob.is_refused_by_gate(&["src/a.ts"]).await.len(), 1, "not even renewed");
    let pushed = coord_sources::Reachable::Yes;
    crate::world::released(bob.release(Some(NEXT), pushed, &["src/a.ts"]).await);
}

// rule: locks#intentignore
async fn ignored_files_take_precedence_over_any_scope(world: World) {
    let graph = state::builds::keys::graph(&world.repo, &world.branch);
    let store = async |text: &str, digest: &str| {
        let words = ["HSET", &*graph, "ignore", text, "ignore_digest", digest];
        world.command(words).await;
    };
    world.begins(intent("a", "src/**", None)).await;
    let ann = world.agent("ann").citing("a");
    ann.writes(&["src/a.lock"]).await;
    // At once.
    store("*.lock\n", "1").await;
    let refused = ann.is_refused_by_gate(&["src/a.lock"]).await;
    assert_eq!(refused, ["SCOPE_VIOLATION a src/a.lock"]);
    store("*.lock\n!a.lock\n", "2").await;
    ann.writes(&["src/a.lock"]).await;
    assert_eq!(*ann.about.questions.lock().unwrap(), 3, "one for each content");
    world.agent("bob").writes(&["src/b.lock"]).await;
}

// rule: locks#gate-ledger
async fn a_refusal_is_one_line_and_one_event_in_a_minute(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    world.forgets_lines().await;
    let ann = world.agent("ann/one").citing("a").calling("Edit", "1");
    for _ in 0..3 {
        ann.is_refused_by_gate(&["größe \"1\".ts", "lib/b.ts"]).await;
    }
    assert_eq!(world.lines_of_gate().await, ["a REQUEST SCOPE_VIOLATION DENIED"]);
    let entry = world.lines().await.remove(0);
    assert_eq!(entry.agent_id, "ann/one");
    assert_eq!(entry.payload.tool_name.as_deref(), Some("Edit"));
    assert_eq!(entry.payload.target_files, ["größe \"1\".ts", "lib/b.ts"]);
    assert_eq!(
        entry.result.error_message.as_deref(),
        Some("Scope Violation: a is not authorized to edit 'größe \"1\".ts'. Request scope expansion.")
    );
    let refused = world.events_of_type("lock_refused").await;
    let [event] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!(event["reason"], "INTENT");
    assert_eq!(event["code"], "SCOPE_VIOLATION");

    world.forgets_lines().await;
    let without_intent = world.agent("bob").where_required();
    without_intent.is_refused_by_gate(&["src/a.ts"]).await;
    world.agent("bob").citing("b").is_refused_by_gate(&["src/a.ts"]).await;
    assert_eq!(
        world.lines_of_gate().await,
        ["- REQUEST TOOL_EXECUTION DENIED", "b REQUEST TOOL_EXECUTION DENIED"]
    );
    world.agent("cem").citing("a").writes(&["src/a.ts"]).await;
    world.forgets_lines().await;
    world.agent("bob").is_refused_by_gate(&["src/a.ts"]).await;
    let sentence = world.lines().await.remove(0).result.error_message;
    assert_eq!(sentence.unwrap(), "Governance Violation: File owned by Intent [a]");
}

async fn locks_and_their_events_have_their_intent(world: World) {
    world.begins(intent("a", "src/**", None)).await;
    let ann = world.agent("ann");
    let before = world.events().await.len();
    let survey = granted(ann.clone().citing("a").claim(Writing, &["src/a.ts"]).await);
    assert_eq!(survey.own[0].intent_id.as_deref(), Some("a"));
    assert_eq!(world.stored("src/a.ts").await[0].intent_id.as_deref(), Some("a"));
    assert_eq!(world.events().await[before].1["intent_id"], "a");
}

on_every_store!(
    the_first_reason_refuses_and_all_others_are_listed,
    a_refusal_has_the_locks_and_the_branch_among_its_facts,
    only_an_intent_in_progress_allows_a_claim,
    reading_and_releasing_need_no_intent,
    ignored_files_take_precedence_over_any_scope,
    a_refusal_is_one_line_and_one_event_in_a_minute,
    locks_and_their_events_have_their_intent,
);
