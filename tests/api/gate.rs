//! The verdicts of intents on `post_status` and `check_status`.

use std::time::Duration;

use coord_intents::intent::Intent;
use coord_intents_server::config::{IntentConfig, IntentPolicy};
use coord_intents_state::intents::keys;
use coord_scopes::Scope;
use serde_json::{Value, json};

use crate::api::{Answer, Api, LOCKS};
use crate::attacks::counted;

impl Api {
    /// Writes the record and the text of an intent.
    async fn has_intent(&self, id: &str, scope: &str, more: Value) {
        let repo = self.repo();
        let intent = Intent {
            id: id.to_owned(),
            owned_scope: vec![scope.to_owned()],
            ..Intent::default()
        };
        let digest = Scope::parse(&intent.owned_scope).unwrap().digest();
        let mut record = json!({
            "status": "IN_PROGRESS", "digest": digest, "version": 1, "order": 1, "bytes": 1, "created_ms": 1, "updated_ms": 1,
        });
        record
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let text = serde_json::to_string(&intent).unwrap();
        self.command(["HSET", &keys::intents(&repo), id, &record.to_string()])
            .await;
        self.command(["HSET", &keys::intent_texts(&repo), id, &text]).await;
        self.command(["INCR", &keys::governed(&repo)]).await;
    }

    async fn cites(&self, user: &str, intent: &str, paths: &[&str]) -> Answer {
        self.post_status(user, "WRITING", paths, json!({ "intent_id": intent }))
            .await
    }
}

/// Asserts the outcome, the reason, and `metadata`.
#[track_caller]
fn assert_refused(answer: &Answer, outcome: &str, reason: &str, metadata: &Value) {
    let body = answer.expect(outcome);
    assert_eq!(answer.reason(), reason);
    assert_eq!(body["orchestration"]["metadata"], *metadata);
}

#[tokio::test]
async fn a_refusal_by_intents_has_its_documented_sentence_and_metadata() {
    let api = Api::start().await;
    api.has_intent("REQ-1", "src/*.ts", json!({})).await;
    api.has_intent("REQ-2", "src/**", json!({})).await;
    assert_refused(
        &api.cites("ann", "REQ-1", &["src/db.ts", "lib/a.ts", "lib/b.ts"]).await,
        "409 SCOPE_VIOLATION STOP",
        "Scope Violation: REQ-1 is not authorized to edit 'lib/a.ts'. Request scope expansion. It is the first of 2 files.",
        &json!({ "conflicts": ["lib/a.ts", "lib/b.ts"], "intent_id": "REQ-1" }),
    );
    assert_eq!(
        api.cites("ann", "REQ-1", &[".claude/settings.json"]).await.reason(),
        "Scope Violation: REQ-1 is not authorized to edit '.claude/settings.json'. Request scope expansion. No intent covers \
         it: it is settings of an agent's hooks."
    );
    let granted = api.cites("ann", "REQ-1", &["src/db.ts"]).await.json();
    assert_eq!(granted["locks"]["src/db.ts"]["intent_id"], "REQ-1");
    assert_eq!(api.get_json(LOCKS).await["locks"][0]["intent_id"], "REQ-1");

    let owned = api.cites("bob", "REQ-2", &["src/db.ts"]).await;
    let violation = "Governance Violation: File owned by Intent [REQ-1]: 'src/db.ts'";
    assert_refused(
        &owned,
        "409 FILE_OWNED SWITCH_TASK",
        violation,
        &json!({ "conflicts": ["src/db.ts"], "intent_id": "REQ-2", "owner_intent": "REQ-1" }),
    );
    // The refusal has the lock, too.
    assert_eq!(
        owned.json()["conflicting_locks"]["src/db.ts"]["intent_id"],
        "REQ-1",
        "{}",
        owned.json()
    );
    let conflict = owned.warnings("LOCK_CONFLICT: File 'src/db.ts' is locked by user 'ann'");
    assert_eq!(conflict.len(), 1, "{}", owned.json());

    api.has_intent("REQ-3", "x", json!({ "status": "COMPLETED" })).await;
    let blocked = json!({ "status": "BLOCKED", "reason": "Wait for Ada", "reason_by": "ann" });
    api.has_intent("REQ-4", "src/**", blocked).await;
    for (intent, reason) in [
        ("none", "There is no intent none"),
        (
            "REQ-3",
            "Intent REQ-3 is COMPLETED: you can still push and release your files",
        ),
        (
            "REQ-4",
            "Intent REQ-4 is BLOCKED (ann: “Wait for Ada”): a person has to unblock it",
        ),
    ] {
        let expected = format!("You must cite a valid active Intent ID. {reason}");
        assert_eq!(api.cites("bob", intent, &["src/new.ts"]).await.reason(), expected);
    }
    let cited = json!({ "intent_id": "REQ-2" });
    let checked = api.check("bob", &["src/db.ts"], cited).await;
    assert_eq!(checked.json()["status"], "CONFLICT");
    assert_eq!(checked.json()["orchestration"]["action"], "SWITCH_TASK");
    assert_eq!(checked.reason(), violation);
}

// rule: intents#required
#[tokio::test]
async fn without_an_intent_the_policy_decides() {
    let required = |app: &mut coord_server::app::App| {
        app.extensions = app.extensions.with(coord_intents_server::Intents::new(IntentConfig {
            policy: IntentPolicy::Required,
            ..IntentConfig::default()
        }));
    };
    let api = Api::start_with(required).await;
    assert_refused(
        &api.post_status("ann", "WRITING", &["src/db.ts"], json!({})).await,
        "409 INTENT_REQUIRED STOP",
        "You must cite a valid active Intent ID. State Violation: you are in REQUEST; select an intent with \
         select_active_intent, or send intent_id",
        &json!({}),
    );
    let check = api.check("ann", &["src/db.ts"], json!({})).await;
    assert_eq!(check.json()["status"], "CONFLICT");
    api.claim("ann", "READING", &["src/db.ts"]).await;
    api.abandon("ann", &["src/db.ts"]).await.expect("200");
}

#[tokio::test]
async fn members_of_intents_are_bounded() {
    let api = Api::start().await;
    let long = "1".repeat(129);
    for (more, field) in [
        (json!({ "intent_id": "a b" }), "intent_id"),
        (json!({ "intent_id": "a".repeat(65) }), "intent_id"),
        (json!({ "intent_id": "x}:{y" }), "intent_id"),
        (json!({ "tool_call": { "name": "", "digest": "1" } }), "tool_call"),
        (json!({ "tool_call": { "name": "Edit", "digest": long } }), "tool_call"),
        (
            json!({ "session": { "session_id": long, "contributor": "" } }),
            "session",
        ),
    ] {
        let answer = api.post_status("ann", "WRITING", &["src/db.ts"], more).await;
        assert_eq!((answer.status, answer.json()["field"].as_str()), (400, Some(field)));
    }
}

#[tokio::test]
async fn a_budget_that_runs_low_warns_and_the_breaker_names_the_tool() {
    let api = Api::start().await;
    api.has_intent("REQ-1", "src/**", json!({ "max_turns": 4 })).await;
    let call = json!({ "intent_id": "REQ-1", "tool_call": { "name": "Edit", "digest": "1" },
        "session": { "session_id": "s-7", "contributor": "anthropic/claude" } });
    let claim = async |more: &Value| api.post_status("ann", "WRITING", &["src/db.ts"], more.clone()).await;
    for _ in 0..3 {
        claim(&call).await.expect("200");
    }
    let cited = json!({ "intent_id": "REQ-1" });
    let check = api.check("ann", &["src/db.ts"], cited).await;
    assert_eq!(check.warnings("BUDGET_LOW"), [""; 0]);
    assert_eq!(
        claim(&call).await.reason(),
        "Edit was called 3 times in a row with the same input, and nothing else between. A person has to unblock the intent"
    );
    api.has_intent("REQ-1", "src/**", json!({ "max_turns": 4 })).await;
    let other = json!({ "intent_id": "REQ-1", "tool_call": { "name": "Edit", "digest": "2" } });
    assert_eq!(
        claim(&other).await.warnings("BUDGET_LOW"),
        ["BUDGET_LOW: Intent REQ-1 has used 4 of 4 turns; finish, or ask a person for more."]
    );
    assert_eq!(
        claim(&other).await.reason(),
        "The budget of intent REQ-1 is spent: 4 of 4 turns. A person has to raise the budget and to unblock the intent"
    );
}

#[tokio::test]
async fn a_claim_for_an_intent_is_one_round_trip_once_its_scope_is_known() {
    let (api, store) = counted().await;
    api.claim("ann", "WRITING", &["src/page.ts"]).await;
    api.has_intent("REQ-1", "src/**", json!({})).await;
    let are_sealed = async || {
        loop {
            // time: lines of the ledger are sealed a moment after a response.
            tokio::time::sleep(Duration::from_millis(500)).await;
            if store.take().0 == 0 {
                break;
            }
        }
    };
    are_sealed().await;
    let trips = async |user: &str, path: &str, more: Value| {
        api.granted(user, "WRITING", &[path], more).await;
        store.take().0
    };
    let cited = json!({ "intent_id": "REQ-1" });
    let round_trips = [
        trips("ann", "src/a.ts", cited.clone()).await,
        trips("ann", "src/b.ts", cited.clone()).await,
        trips("ann", "src/c.ts", json!({})).await,
        trips("bob", "src/d.ts", cited).await,
        trips("bob", "src/e.ts", json!({})).await,
    ];
    assert_eq!(round_trips, [2, 1, 1, 1, 1], "the first asks for the scope");
    api.check("ann", &["src/f.ts"], json!({})).await;
    assert_eq!(store.take().0, 1);
    // The same single query finds an intent that has ended meanwhile.
    let completed = json!({ "status": "COMPLETED" });
    api.has_intent("REQ-1", "src/**", completed).await;
    are_sealed().await;
    let refused = api.post_status("ann", "WRITING", &["src/g.ts"], json!({})).await;
    refused.expect("409");
    // The refusal is a line of the ledger: three requests more.
    let more = store.take().0;
    assert!((1..=4).contains(&more), "{more}");
    are_sealed().await;
    let without_intent = trips("ann", "src/g.ts", json!({})).await;
    assert_eq!(without_intent, 1, "from now on");
}
