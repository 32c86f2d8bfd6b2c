//! The verdicts of intents on `post_status` and `check_status`.

use coord_intents::intent::Intent;
use coord_intents_server::config::IntentConfig;
use coord_intents_server::config::IntentPolicy;
use coord_scopes::Scope;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::api::{Api, repo};
use crate::attacks::counted;

impl Api {
    /// Writes the record and the text of an intent.
    async fn has_intent(&self, id: &str, scope: &str, more: Value) {
        let repo = repo();
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
        let (records, texts) = (
            coord_intents_state::intents::keys::intents(&repo),
            coord_intents_state::intents::keys::intent_texts(&repo),
        );
        self.command(["HSET", &records, id, &record.to_string()]).await;
        self.command(["HSET", &texts, id, &text]).await;
        self.command(["INCR", &coord_intents_state::intents::keys::governed(&repo)])
            .await;
    }

    async fn cites(&self, user: &str, intent: &str, paths: &[&str]) -> Answer {
        self.post_status(user, "WRITING", paths, json!({ "intent_id": intent }))
            .await
    }
}

/// Status, code, action, reason, and what is in `metadata`.
fn in_short(answer: &Answer) -> Value {
    let body = answer.json();
    let command = &body["orchestration"];
    json!([
        answer.status,
        body["error"],
        command["action"],
        command["reason"],
        command["metadata"]
    ])
}

#[tokio::test]
async fn a_refusal_by_intents_has_its_documented_sentence_and_metadata() {
    let api = Api::start().await;
    api.has_intent("REQ-1", "src/*.ts", json!({})).await;
    api.has_intent("REQ-2", "src/**", json!({})).await;
    assert_eq!(
        in_short(&api.cites("ann", "REQ-1", &["src/db.ts", "lib/a.ts", "lib/b.ts"]).await),
        json!([409, "SCOPE_VIOLATION", "STOP",
            "Scope Violation: REQ-1 is not authorized to edit 'lib/a.ts'. Request scope expansion. It is the first of 2 files.",
            { "conflicts": ["lib/a.ts", "lib/b.ts"], "intent_id": "REQ-1" }])
    );
    assert_eq!(
        in_short(&api.cites("ann", "REQ-1", &[".claude/settings.json"]).await)[3],
        "Scope Violation: REQ-1 is not authorized to edit '.claude/settings.json'. Request scope expansion. No intent covers \
         it: it is settings of an agent's hooks."
    );
    let granted = api.cites("ann", "REQ-1", &["src/db.ts"]).await.json();
    assert_eq!(granted["locks"]["src/db.ts"]["intent_id"], "REQ-1");
    let listed = api
        .get(&format!("/api/locks?repo_url={}", crate::api::REPO_URL), &[])
        .await
        .json();
    assert_eq!(listed["locks"][0]["intent_id"], "REQ-1");

    let owned = api.cites("bob", "REQ-2", &["src/db.ts"]).await;
    assert_eq!(
        in_short(&owned),
        json!([409, "FILE_OWNED", "SWITCH_TASK", "Governance Violation: File owned by Intent [REQ-1]: 'src/db.ts'",
            { "conflicts": ["src/db.ts"], "intent_id": "REQ-2", "owner_intent": "REQ-1" }])
    );
    let body = owned.json();
    assert_eq!(
        body["conflicting_locks"]["src/db.ts"]["intent_id"], "REQ-1",
        "the lock is told, too"
    );
    let warnings = body["warnings"].to_string();
    assert!(
        warnings.contains("LOCK_CONFLICT: File 'src/db.ts' is locked by user 'ann'"),
        "{warnings}"
    );
    for (intent, reason) in [
        (
            "none",
            "You must cite a valid active Intent ID. There is no intent none",
        ),
        (
            "REQ-3",
            "You must cite a valid active Intent ID. Intent REQ-3 is COMPLETED: you can still push and release your files",
        ),
        (
            "REQ-4",
            "You must cite a valid active Intent ID. Intent REQ-4 is BLOCKED (ann: “Wait for Ada”): a person has to unblock it",
        ),
    ] {
        api.has_intent("REQ-3", "x", json!({ "status": "COMPLETED" })).await;
        api.has_intent(
            "REQ-4",
            "src/**",
            json!({ "status": "BLOCKED", "reason": "Wait for Ada", "reason_by": "ann" }),
        )
        .await;
        assert_eq!(in_short(&api.cites("bob", intent, &["src/new.ts"]).await)[3], reason);
    }
    let checked = api
        .check("bob", &["src/db.ts"], json!({ "intent_id": "REQ-2" }))
        .await
        .json();
    assert_eq!(
        (&checked["status"], &checked["orchestration"]["action"]),
        (&json!("CONFLICT"), &json!("SWITCH_TASK"))
    );
    assert_eq!(
        checked["orchestration"]["reason"],
        "Governance Violation: File owned by Intent [REQ-1]: 'src/db.ts'"
    );
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
    let refused = api.post_status("ann", "WRITING", &["src/db.ts"], json!({})).await;
    assert_eq!(
        in_short(&refused),
        json!([
            409,
            "INTENT_REQUIRED",
            "STOP",
            "You must cite a valid active Intent ID. State Violation: you are in REQUEST; select an intent with \
             select_active_intent, or send intent_id",
            {}
        ])
    );
    assert_eq!(
        api.check("ann", &["src/db.ts"], json!({})).await.json()["status"],
        "CONFLICT"
    );
    api.claim("ann", "READING", &["src/db.ts"]).await;
    let released = api
        .post_status("ann", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
        .await;
    assert_eq!(released.status, 200);
}

#[tokio::test]
async fn members_of_intents_are_bounded() {
    let api = Api::start().await;
    for (more, field) in [
        (json!({ "intent_id": "a b" }), "intent_id"),
        (json!({ "intent_id": "a".repeat(65) }), "intent_id"),
        (json!({ "intent_id": "x}:{y" }), "intent_id"),
        (json!({ "tool_call": { "name": "", "digest": "1" } }), "tool_call"),
        (
            json!({ "tool_call": { "name": "Edit", "digest": "1".repeat(129) } }),
            "tool_call",
        ),
        (
            json!({ "session": { "session_id": "s".repeat(129), "contributor": "" } }),
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
    for _ in 0..3 {
        assert_eq!(
            api.post_status("ann", "WRITING", &["src/db.ts"], call.clone())
                .await
                .status,
            200
        );
    }
    let other = json!({ "intent_id": "REQ-1", "tool_call": { "name": "Edit", "digest": "2" } });
    let low = api
        .check("ann", &["src/db.ts"], json!({ "intent_id": "REQ-1" }))
        .await
        .json();
    assert!(!low["warnings"].to_string().contains("BUDGET_LOW"), "{low}");
    let tripped = api.post_status("ann", "WRITING", &["src/db.ts"], call).await;
    assert_eq!(
        in_short(&tripped)[3],
        "Edit was called 3 times in a row with the same input, and nothing else between. A person has to unblock the intent"
    );
    api.has_intent("REQ-1", "src/**", json!({ "max_turns": 4 })).await;
    let granted = api
        .post_status("ann", "WRITING", &["src/db.ts"], other.clone())
        .await
        .json();
    let warning = "BUDGET_LOW: Intent REQ-1 has used 4 of 4 turns; finish, or ask a person for more.";
    assert!(
        granted["warnings"].as_array().unwrap().contains(&json!(warning)),
        "{granted}"
    );
    assert_eq!(
        in_short(&api.post_status("ann", "WRITING", &["src/db.ts"], other).await)[3],
        "The budget of intent REQ-1 is spent: 4 of 4 turns. A person has to raise the budget and to unblock the intent"
    );
}

#[tokio::test]
async fn a_claim_for_an_intent_is_one_round_trip_once_its_scope_is_known() {
    let (api, store) = counted().await;
    api.claim("ann", "WRITING", &["src/page.ts"]).await;
    api.has_intent("REQ-1", "src/**", json!({})).await;
    // Lines of the ledger are sealed a moment after an answer.
    let are_sealed = async || {
        loop {
            // time: lines are sealed a moment after a response.
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            if store.take().0 == 0 {
                break;
            }
        }
    };
    are_sealed().await;
    let trips = async |user: &str, path: &str, more: Value| {
        let answer = api.post_status(user, "WRITING", &[path], more).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
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
    api.has_intent("REQ-1", "src/**", json!({ "status": "COMPLETED" }))
        .await;
    are_sealed().await;
    assert_eq!(
        api.post_status("ann", "WRITING", &["src/g.ts"], json!({})).await.status,
        409
    );
    // The refusal is such a line: three requests more.
    let more = store.take().0;
    assert!((1..=4).contains(&more), "{more}");
    are_sealed().await;
    assert_eq!(
        trips("ann", "src/g.ts", json!({})).await,
        1,
        "from now on without an intent"
    );
}
