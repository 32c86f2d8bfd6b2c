//! Real requests and responses: a test sends the requests to a server and compares the responses.
//!
//! `src/auth.ts` imports `src/db.ts`, which Ada has claimed.

use serde_json::{Value, json};

/// The repository of the examples.
pub const REPO_URL: &str = "https://github.com/acme/shop.git";

/// The head of the branch `main`.
pub const HEAD: &str = "99cc7da9399f806a758cf80dab931201cf07c67e";

/// When Ada's lock was granted, in Unix seconds.
pub const GRANTED_AT: i64 = 1_795_306_224;

/// When Ada's lock expires, in Unix seconds.
pub const EXPIRY: i64 = GRANTED_AT + 300;

/// The fencing token of Ada's lock: the time, in tenths of a millisecond.
pub const TOKEN: i64 = GRANTED_AT * 10_000;

const MESSAGE: &str = "Adding connection pooling, query() becomes async";

/// Ada claims a file.
pub fn post_request() -> Value {
    json!({
        "repo_url": REPO_URL,
        "branch": "main",
        "file_paths": ["src/db.ts"],
        "status": "WRITING",
        "message": MESSAGE,
        "agent_head": HEAD,
    })
}

/// The response: Ada has the lock.
pub fn post_granted() -> Value {
    json!({
        "success": true,
        "orphaned_dependencies": [],
        "orchestration": command("PROCEED", None, "You may write 'src/db.ts'"),
        "repo_head": HEAD,
        "repo_head_ref": "refs/heads/main",
        "locks": {
            "src/db.ts": {
                "status": "WRITING",
                "message": MESSAGE,
                "since": GRANTED_AT,
                "timestamp": GRANTED_AT,
                "expiry": EXPIRY,
                "token": TOKEN,
            },
        },
        "warnings": [],
    })
}

/// The response to Bob, who then claims the same file.
pub fn post_refused() -> Value {
    let reason = format!(
        "File 'src/db.ts' is locked by user 'ada' (DIRECT): \u{201c}{MESSAGE}\u{201d}; its lock expires in 300 s"
    );
    let mut orchestration = command("WAIT", Some("sleep 5"), &reason);
    orchestration["metadata"] = json!({
        "lock_owner": "ada",
        "conflicts": ["src/db.ts"],
        "free": ["src/page.ts"],
        "ticket": "43f052472c2f",
        "position": 1,
        "expected_by": EXPIRY,
        "retry_after": 300,
    });
    json!({
        "success": false,
        "error": "LOCK_CONFLICT",
        "orphaned_dependencies": [],
        "orchestration": orchestration,
        "repo_head": HEAD,
        "repo_head_ref": "refs/heads/main",
        "conflicting_locks": { "src/db.ts": lock_of_ada(Some("DIRECT")) },
        "warnings": [],
    })
}

/// Bob plans to work on the file that imports Ada's.
pub fn check_request() -> Value {
    json!({
        "repo_url": "git@github.com:acme/shop.git",
        "branch": "main",
        "file_paths": ["src/auth.ts"],
        "agent_head": HEAD,
    })
}

/// The response: Ada's lock conflicts with Bob's plan.
pub fn check_conflict() -> Value {
    let reason = format!(
        "File 'src/db.ts', which 'src/auth.ts' imports, is being written by user 'ada' (NEIGHBOR): \
         \u{201c}{MESSAGE}\u{201d}"
    );
    let mut orchestration = command("SWITCH_TASK", None, &reason);
    orchestration["metadata"] = json!({ "lock_owner": "ada", "conflicts": ["src/db.ts"], "free": ["src/page.ts"] });
    json!({
        "status": "CONFLICT",
        "repo_head": HEAD,
        "repo_head_ref": "refs/heads/main",
        "locks": { "src/db.ts": lock_of_ada(Some("NEIGHBOR")) },
        "held": {},
        "warnings": [],
        "orchestration": orchestration,
    })
}

pub fn graph() -> Value {
    let file = |id: &str| json!({ "id": id, "language": "typescript", "size": 15, "type": "file" });
    json!({
        "nodes": [file("src/auth.ts"), file("src/db.ts"), file("src/page.ts")],
        "edges": [
            { "source": "src/auth.ts", "target": "src/db.ts", "type": "import" },
            { "source": "src/page.ts", "target": "src/auth.ts", "type": "import" },
        ],
        "locks": { "src/db.ts": lock_of_ada(None) },
        "version": HEAD,
        "state": "ready",
        "policy": { "ttl_seconds": 300, "neighbors": "interface" },
        "generated_at": GRANTED_AT,
    })
}

/// Ada's lock as the only one.
pub fn locks() -> Value {
    let mut lock = lock_of_ada(None);
    lock["file_path"] = "src/db.ts".into();
    lock["branch"] = "main".into();
    lock["agent_head"] = HEAD.into();
    json!({ "locks": [lock] })
}

/// The start of a stream of events.
pub fn event_stream() -> String {
    format!(
        "id: {OLDEST}\nevent: stream_opened\ndata: {{\"type\":\"stream_opened\",\"cursor\":\"{OLDEST}\",\
         \"heartbeat_seconds\":15,\"is_live\":true,\"time_ms\":{}}}\n\n",
        GRANTED_AT * 1000
    )
}

/// The grant of Ada's lock, and Bob's refusal.
pub fn activity() -> Value {
    let event = |kind: &str, user: &str, id: &str| {
        json!({
            "id": id,
            "type": kind,
            "user": user,
            "user_name": user,
            "branch": "main",
            "status": "WRITING",
            "message": MESSAGE,
            "files": ["src/db.ts"],
            "file_count": 1,
            "time": GRANTED_AT,
            "time_ms": GRANTED_AT * 1000,
        })
    };
    let mut refused = event("lock_refused", "bob", NEWEST);
    refused["action"] = "WAIT".into();
    refused["reason"] = "CONFLICT".into();
    refused["conflicts"] = json!(["src/db.ts"]);
    refused["conflict_count"] = 1.into();
    let mut granted = event("lock_granted", "ada", OLDEST);
    granted["action"] = "PROCEED".into();
    granted["token"] = TOKEN.into();
    granted["expiry"] = EXPIRY.into();
    granted["expiry_ms"] = (EXPIRY * 1000).into();
    json!({ "events": [refused, granted], "cursor": NEWEST })
}

// The ids of the events.
const OLDEST: &str = "1795306224000-0";
const NEWEST: &str = "1795306224000-1";

/// The response while the graph is being built.
pub fn building_graph() -> Value {
    json!({
        "nodes": [], "edges": [], "locks": {}, "version": null, "state": "building",
        "policy": { "ttl_seconds": 300, "neighbors": "interface" }, "generated_at": null,
    })
}

/// The response of `check_status` while the store is unreachable, without the error's own fields.
pub fn offline_check(message: &str) -> Value {
    json!({
        "status": "OFFLINE",
        "repo_head": null,
        "repo_head_ref": null,
        "locks": {},
        "held": {},
        "warnings": [OFFLINE],
        "orchestration": command("STOP", None, &format!("Coord cannot determine the locks: {message}")),
    })
}

/// The response of `post_status` while the store is unreachable, without the error's own fields.
pub fn offline_post(message: &str) -> Value {
    json!({
        "success": false,
        "orphaned_dependencies": [],
        "orchestration": command("STOP", None, &format!("Writing is not safe without locks: {message}")),
        "repo_head": null,
        "repo_head_ref": null,
        "warnings": [OFFLINE],
    })
}

const OFFLINE: &str = "OFFLINE_MODE: The store is unreachable. Reading allowed, Writing disabled.";

pub fn command(action: &str, command: Option<&str>, reason: &str) -> Value {
    json!({ "type": "orchestration_command", "action": action, "command": command, "reason": reason })
}

fn lock_of_ada(lock_type: Option<&str>) -> Value {
    let mut lock = json!({
        "user": "ada",
        "user_name": "ada",
        "status": "WRITING",
        "message": MESSAGE,
        "since": GRANTED_AT,
        "timestamp": GRANTED_AT,
        "expiry": EXPIRY,
    });
    if let Some(lock_type) = lock_type {
        lock["lock_type"] = lock_type.into();
        if lock_type == "NEIGHBOR" {
            lock["neighbor_of"] = "src/auth.ts".into();
        }
    }
    lock
}

pub fn health() -> Value {
    json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "store": { "status": "ok", "latency_ms": 1.4, "promises": "kept" },
        "source": { "status": "ok" }
    })
}
