//! Example requests and responses. A test sends these requests to a server and compares the responses. They continue
//! those of [`coord_http::openapi::examples`].

use coord_http::openapi::examples::{REPO_URL, command};
use coord_intents::ledger::{Point, seal};
use serde_json::{Value, json};

/// Ada writes an intent.
pub fn new_intent_request() -> Value {
    json!({
        "repo_url": REPO_URL,
        "id": "REQ-POOL-1",
        "name": "Connection pooling",
        "description": "Queries share a pool; query() becomes async.",
        "constraints": ["No new dependency"],
        "owned_scope": ["src/db.ts", "src/db/**"],
        "acceptance_criteria": ["Tests in tests/db pass"],
        "budget": { "max_turns": 50, "max_tokens": 400_000 },
    })
}

pub fn intent_written() -> Value {
    json!({
        "success": true,
        "intent": intent(),
        "state": "REQUEST",
        "warnings": [],
        "orchestration": command("PROCEED", None, "Intent REQ-POOL-1 is written"),
    })
}

pub fn intents() -> Value {
    json!({ "intents": [intent()], "state": "REQUEST" })
}

fn intent() -> Value {
    json!({
        "id": "REQ-POOL-1",
        "name": "Connection pooling",
        "description": "Queries share a pool; query() becomes async.",
        "status": "PENDING",
        "constraints": ["No new dependency"],
        "owned_scope": ["src/db.ts", "src/db/**"],
        "acceptance_criteria": ["Tests in tests/db pass"],
        "budget": { "max_turns": 50, "max_tokens": 400_000, "consumed_turns": 0, "consumed_tokens": 0 },
        "created_at": WRITTEN_AT,
        "updated_at": WRITTEN_AT,
        "owned_files": 0,
    })
}

/// The content of `src/db.ts` after Ada's change.
const CONTENT: &str = "sha256:5ca890bf2046006ced7f9a4f4e9449d7beb77fc868bba102d34c34fa715078e7";

/// Ada records a change.
pub fn record_request() -> Value {
    json!({
        "repo_url": REPO_URL,
        "branch": "main",
        "session": { "session_id": "s-7", "contributor": "anthropic/claude-opus-4-5" },
        "entries": [{
            "trace_id": "018f6a1d-0000-7000-8000-000000000002",
            "kind": "mutation",
            "tool_name": "Write",
            "file_path": "src/db.ts",
            "hash": CONTENT,
            "output_summary": "Wrote src/db.ts",
        }],
    })
}

/// She holds the file.
pub fn recorded() -> Value {
    json!({
        "recorded": ["SUCCESS"],
        "warnings": [],
        "orchestration": command("PROCEED", None, "The event is in the ledger"),
    })
}

pub fn ledger_page() -> Value {
    let start = Point::start("github.com/acme/shop");
    let line = r#"{"timestamp":"2026-11-22T09:01:12.345Z","agent_id":"ada","intent_id":null,"state":"REQUEST","action_type":"TOOL_EXECUTION","payload":{"tool_name":"Write","target_files":["src/db.ts"],"hash":"HASH"},"result":{"status":"SUCCESS","output_summary":"Wrote src/db.ts"},"metadata":{"session_id":"s-7","contributor":"anthropic/claude-opus-4-5"},"trace_id":"018f6a1d-0000-7000-8000-000000000002"}"#;
    let sealed =
        seal(&start.hash, 1, &line.replace("HASH", CONTENT)).map(|(line, hash)| (line, Point { seq: 1, hash }));
    let (line, point) = sealed.unwrap_or_else(|_| (String::new(), start));
    json!({ "lines": [line], "sealed": point.to_string(), "base": start.to_string() })
}

pub fn checkpoint() -> Value {
    json!(
        "coord-ledger-v1/github.com/acme/shop\n3\nQ3aKxggeE9pM8x3DtlDVN3rI6F4ykpmxMaAMHXVyDkU=\n2026-11-22T09:02:00.001Z\n"
    )
}

/// Bob compares the file with Ada's record.
pub fn verify_request() -> Value {
    json!({ "repo_url": REPO_URL, "branch": "main", "files": [{ "file_path": "src/db.ts", "hash": CONTENT }] })
}

/// The file has not changed since.
pub fn verified() -> Value {
    json!({ "files": [{ "file_path": "src/db.ts", "verdict": "INTACT", "recorded": CONTENT }] })
}

/// An intent owns the file.
pub fn intent_map() -> Value {
    json!({
        "files": [{ "file_path": "src/db.ts", "intent_id": "REQ-POOL-1", "hash": CONTENT, "is_locked": true }],
    })
}

/// When the intent was written.
pub const WRITTEN_AT: &str = "2026-11-22T09:30:24Z";
