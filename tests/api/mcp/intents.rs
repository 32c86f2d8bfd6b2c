//! Tools of intents: what an agent may do with one, and that it may not act as a person.

use serde_json::{Value, json};

use super::{assert_says, call, result};
use crate::api::{Api, REPO_URL};
use crate::teams::{assert_has, texts_of, with};

/// Calls a tool as the agent `lexer` of `ann`.
async fn tool(api: &Api, name: &str, more: Value) -> Value {
    let arguments = with(json!({ "repo_url": REPO_URL, "agent_id": "lexer" }), more);
    call(api, "ann", name, &arguments).await
}

async fn select(api: &Api, more: Value) -> Value {
    tool(api, "select_active_intent", more).await
}

/// Acts on an intent.
async fn update(api: &Api, action: &str, id: &str, more: Value) -> Value {
    let act = with(json!({ "action": action, "intent_id": id }), more);
    tool(api, "update_intent", act).await["structuredContent"].clone()
}

/// Claims a file.
async fn claim(api: &Api, path: &str) -> Value {
    let claim = api.post_body("WRITING", &[path], json!({ "agent_id": "lexer" }));
    call(api, "ann", "post_status", &claim).await["structuredContent"].clone()
}

#[tokio::test]
async fn an_agent_takes_an_intent_from_its_first_word_to_its_end() {
    let api = Api::start().await;
    let empty = select(&api, json!({})).await;
    assert_has!(empty["structuredContent"], { "state": "REQUEST" });

    let new = json!({
        "name": "Connection pooling", "owned_scope": ["src/db.ts"], "acceptance_criteria": ["Tests of the pool pass"],
    });
    let written = update(&api, "NEW", "POOL-1", new).await;
    assert_has!(written, { "success": true, "intent": { "status": "PENDING" } });
    assert_says(&select(&api, json!({})).await, "POOL-1");

    let selected = select(&api, json!({ "intent_id": "POOL-1" })).await;
    assert_has!(selected["structuredContent"], { "state": "ACTION" });
    for part in ["PROCEED: ", "Connection pooling", "src/db.ts", "Tests of the pool pass"] {
        assert_says(&selected, part);
    }

    assert_has!(claim(&api, "src/auth.ts").await, {
        "error": "SCOPE_VIOLATION", "orchestration": { "action": "STOP" },
    });
    assert_has!(claim(&api, "src/db.ts").await, { "success": true });

    let early = update(&api, "COMPLETE", "POOL-1", json!({})).await;
    assert_has!(early, { "error": "CRITERIA_UNMET" });
    let met = json!([{ "criterion": "Tests of the pool pass", "evidence": "cargo test pool: 12 passed" }]);
    let marked = update(&api, "EDIT", "POOL-1", json!({ "met": met })).await;
    assert_eq!(marked["intent"]["criteria"][0]["by"], "ann/lexer", "{marked}");
    let done = update(&api, "COMPLETE", "POOL-1", json!({})).await;
    assert_has!(done, { "intent": { "status": "COMPLETED" }, "state": "REQUEST" });
}

// rule: mcp#tools
#[tokio::test]
async fn no_argument_makes_a_call_the_act_of_a_person() {
    let api = Api::start().await;
    let new = json!({ "name": "A", "owned_scope": ["src/db.ts"] });
    update(&api, "NEW", "A", new).await;
    select(&api, json!({ "intent_id": "A" })).await;
    let block = json!({ "reason": "Waiting for a decision" });
    update(&api, "BLOCK", "A", block).await;
    for action in ["UNBLOCK", "ALLOW", "TAKE_OVER"] {
        let refused = update(&api, action, "A", json!({ "agent_id": null })).await;
        assert_has!(refused, { "error": "MALFORMED_BODY" });
    }
    for action in ["COMPLETE", "ABANDON"] {
        let forced = json!({ "reason": "It is enough", "force": true });
        let refused = update(&api, action, "A", forced).await;
        assert_ne!(refused["success"], true, "{refused}");
    }
    let missing = tool(&api, "update_intent", json!({ "action": "EDIT" })).await;
    assert_has!(missing["structuredContent"], { "error": "INVALID_FIELD", "field": "intent_id" });
}

#[tokio::test]
async fn tool_schemas_omit_the_fields_that_hooks_send() {
    let api = Api::start().await;
    let tools = result(&api, "tools/list", json!({})).await["tools"].clone();
    assert_eq!(
        texts_of(&tools, "name")[..4],
        ["check_status", "post_status", "select_active_intent", "update_intent"]
    );
    for tool in tools.as_array().unwrap() {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        for field in ["tool_call", "session"] {
            assert!(!properties.contains_key(field), "{tool}");
        }
    }
}
