//! Tools of intents: what an agent may do with one, and that it may not act as a person.

use serde_json::{Value, json};

use super::{call, result};
use crate::api::{Api, REPO_URL};

fn arguments(more: Value) -> Value {
    let mut arguments = json!({ "repo_url": REPO_URL, "agent_id": "lexer" });
    let fields = more.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(fields);
    arguments
}

async fn update(api: &Api, more: Value) -> Value {
    call(api, "ann", "update_intent", &arguments(more)).await["structuredContent"].clone()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn an_agent_takes_an_intent_from_its_first_word_to_its_end() {
    let api = Api::start().await;
    let empty = call(&api, "ann", "select_active_intent", &arguments(json!({}))).await;
    assert_eq!(empty["structuredContent"]["state"], "REQUEST", "{empty}");

    let written = update(
        &api,
        json!({
            "action": "NEW", "intent_id": "POOL-1", "name": "Connection pooling", "owned_scope": ["src/db.ts"],
            "acceptance_criteria": ["Tests of the pool pass"],
        }),
    )
    .await;
    assert_eq!(
        (&written["success"], &written["intent"]["status"]),
        (&json!(true), &json!("PENDING")),
        "{written}"
    );
    let listed = call(&api, "ann", "select_active_intent", &arguments(json!({}))).await;
    assert!(text(&listed).contains("POOL-1"), "{listed}");

    let selected = call(
        &api,
        "ann",
        "select_active_intent",
        &arguments(json!({ "intent_id": "POOL-1" })),
    )
    .await;
    assert_eq!(selected["structuredContent"]["state"], "ACTION", "{selected}");
    for part in ["PROCEED: ", "Connection pooling", "src/db.ts", "Tests of the pool pass"] {
        assert!(text(&selected).contains(part), "{part}: {selected}");
    }

    let claim = api.post_body("WRITING", &["src/auth.ts"], json!({ "agent_id": "lexer" }));
    let outside = call(&api, "ann", "post_status", &claim).await["structuredContent"].clone();
    assert_eq!(
        (&outside["error"], &outside["orchestration"]["action"]),
        (&json!("SCOPE_VIOLATION"), &json!("STOP")),
        "{outside}"
    );
    let claim = api.post_body("WRITING", &["src/db.ts"], json!({ "agent_id": "lexer" }));
    let inside = call(&api, "ann", "post_status", &claim).await["structuredContent"].clone();
    assert_eq!(inside["success"], true, "{inside}");

    let early = update(&api, json!({ "action": "COMPLETE", "intent_id": "POOL-1" })).await;
    assert_eq!(early["error"], "CRITERIA_UNMET", "{early}");
    let met = json!([{ "criterion": "Tests of the pool pass", "evidence": "cargo test pool: 12 passed" }]);
    let marked = update(&api, json!({ "action": "EDIT", "intent_id": "POOL-1", "met": met })).await;
    assert_eq!(marked["intent"]["criteria"][0]["by"], "ann/lexer", "{marked}");
    let done = update(&api, json!({ "action": "COMPLETE", "intent_id": "POOL-1" })).await;
    assert_eq!(
        (&done["intent"]["status"], &done["state"]),
        (&json!("COMPLETED"), &json!("REQUEST")),
        "{done}"
    );
}

// rule: mcp#tools
#[tokio::test]
async fn no_argument_makes_a_call_the_act_of_a_person() {
    let api = Api::start().await;
    let new = json!({ "action": "NEW", "intent_id": "A", "name": "A", "owned_scope": ["src/db.ts"] });
    update(&api, new).await;
    call(
        &api,
        "ann",
        "select_active_intent",
        &arguments(json!({ "intent_id": "A" })),
    )
    .await;
    update(
        &api,
        json!({ "action": "BLOCK", "intent_id": "A", "reason": "Waiting for a decision" }),
    )
    .await;
    for action in ["UNBLOCK", "ALLOW", "TAKE_OVER"] {
        let refused = update(&api, json!({ "action": action, "intent_id": "A", "agent_id": null })).await;
        assert_eq!(refused["error"], "MALFORMED_BODY", "{refused}");
    }
    for (action, more) in [
        ("COMPLETE", json!({ "force": true })),
        ("ABANDON", json!({ "force": true })),
    ] {
        let mut call = json!({ "action": action, "intent_id": "A", "reason": "It is enough" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = update(&api, call).await;
        assert_ne!(refused["success"], true, "{refused}");
    }
    let missing = update(&api, json!({ "action": "EDIT" })).await;
    assert_eq!(
        (&missing["error"], &missing["field"]),
        (&json!("INVALID_FIELD"), &json!("intent_id")),
        "{missing}"
    );
}

#[tokio::test]
async fn tool_schemas_omit_the_fields_that_hooks_send() {
    let api = Api::start().await;
    let tools = result(&api, "tools/list", json!({})).await["tools"].clone();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(
        names[..4],
        ["check_status", "post_status", "select_active_intent", "update_intent"]
    );
    for tool in tools.as_array().unwrap() {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        assert!(
            !properties.contains_key("tool_call") && !properties.contains_key("session"),
            "{tool}"
        );
    }
}
