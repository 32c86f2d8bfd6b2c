//! `coord store`: the state as lines, and its end.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use coord_store::redis::RedisStore;
use coord_store::{Request, Store, Value};
use coord_test_support::embedded;
use coord_test_support::real_redis::RealRedis;
use serde_json::{Value as Json, json};

/// Runs `coord store` in `folder`, with `variables` alone.
fn coord_store(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let path = std::env::var_os("PATH").expect("a path");
    let mut command = Command::new(crate::COORD);
    command.arg("store").args(arguments).current_dir(folder).env_clear();
    command
        .env("PATH", path)
        .env("HOME", folder)
        .envs(variables.iter().copied());
    command.output().expect("coord runs")
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(output: &[u8]) -> Vec<Json> {
    let text = std::str::from_utf8(output).expect("text");
    let mut lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    lines.sort_by_key(|line| line["key"].to_string());
    lines
}

/// Keys of each type, with and without an expiry, of Coord and not.
async fn fill(store: &dyn Store) {
    let binary = [&b"SET"[..], b"coord:graph:{r}:main:json", b"\xff\x00"].map(<[u8]>::to_vec);
    let batch = vec![
        Request::Command(binary.to_vec()),
        Request::command(["SET", "coord:queue:{r}", "tickets", "EX", "1000"]),
        Request::command(["HSET", "coord:locks:{r}", "a.ts", "[1]"]),
        Request::command(["ZADD", "coord:expiries:{r}:locks", "17", "a.ts"]),
        Request::command(["XADD", "coord:status_log:{r}", "1-1", "event", "{}"]),
        Request::command(["SET", "coord:identity:{r}:0123", "who"]),
        Request::command(["SET", "of another program", "x"]),
    ];
    for reply in store.run(batch).await.expect("the store answers") {
        assert!(!matches!(reply, Value::Error(_)), "{reply:?}");
    }
}

fn are_exported(mut lines: Vec<Json>) {
    let left = lines[3]["expires_in_ms"].take();
    assert!(left.as_i64().is_some_and(|left| left > 900_000), "{left}");
    let line =
        |key: &str, kind: &str, value: Json| json!({"key": key, "type": kind, "expires_in_ms": null, "value": value});
    let expected = [
        line("coord:expiries:{r}:locks", "zset", json!([["a.ts", "17"]])),
        line("coord:graph:{r}:main:json", "string", json!({"base64": "/wA="})),
        line("coord:locks:{r}", "hash", json!([["a.ts", "[1]"]])),
        line("coord:queue:{r}", "string", json!("tickets")),
        line("coord:status_log:{r}", "stream", json!([["1-1", ["event", "{}"]]])),
    ];
    assert_eq!(lines, expected);
}

// rule: commands#store-export
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_of_a_stopped_server_is_exported_and_wiped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("store.redb");
    let arguments = |act| [act, "--data-dir", "."];
    let missing = error(&coord_store(folder.path(), &arguments("export"), &[]));
    assert!(missing.contains("there is no store at ./store.redb"), "{missing}");
    let store = embedded::open(&file);
    fill(&store).await;
    let used = error(&coord_store(folder.path(), &arguments("wipe"), &[]));
    assert!(used.contains("a server uses ./store.redb: stop it first"), "{used}");
    store.close();
    drop(store);

    let exported = coord_store(folder.path(), &arguments("export"), &[]);
    assert!(exported.status.success(), "{exported:?}");
    are_exported(lines(&exported.stdout));
    let to_file = [&arguments("export")[..], &["out"]].concat();
    assert!(coord_store(folder.path(), &to_file, &[]).status.success());
    let out = folder.path().join("out");
    are_exported(lines(&std::fs::read(&out).expect("a file")));
    assert_eq!(out.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    assert!(error(&coord_store(folder.path(), &to_file, &[])).contains("cannot create out"));

    let refused = error(&coord_store(folder.path(), &arguments("wipe"), &[]));
    assert!(refused.contains("nothing was deleted"), "{refused}");
    are_exported(lines(&coord_store(folder.path(), &arguments("export"), &[]).stdout));
    let wiped = coord_store(folder.path(), &[&arguments("wipe")[..], &["--yes"]].concat(), &[]);
    assert_eq!(String::from_utf8_lossy(&wiped.stderr), "Deleted 6 keys.\n");
    let after = coord_store(folder.path(), &arguments("export"), &[]);
    assert!(after.status.success() && after.stdout.is_empty(), "{after:?}");
}

// rule: commands#store-wipe
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_redis_that_others_use_only_keys_of_coord_are_exported_and_wiped() {
    let Some(server) = RealRedis::start(&[]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let url = server.url();
    let variables = [("REDIS_URL", url.as_str())];
    let store = RedisStore::connect(&url).expect("a URL");
    fill(&store).await;
    // Several pages of each.
    for number in 0..1200 {
        let number = number.to_string();
        let batch = vec![
            Request::command(["HSET", "coord:tasks:{r}:t", &number, "x"]),
            Request::command(["ZADD", "coord:due", &number, &number]),
            Request::command(["XADD", "coord:ledger:{r}", "*", "line", &number]),
            Request::command(["SET", &format!("coord:answers:{{r}}:{number}"), "x"]),
        ];
        store.run(batch).await.expect("the store answers");
    }
    let exported = lines(&coord_store(folder.path(), &["export"], &variables).stdout);
    for key in ["coord:tasks:{r}:t", "coord:due", "coord:ledger:{r}"] {
        let pages = exported.iter().filter(|line| line["key"] == key);
        let counts: Vec<usize> = pages
            .map(|line| line["value"].as_array().expect("a list").len())
            .collect();
        assert_eq!(counts, [500, 500, 200], "{key}");
    }
    let wiped = coord_store(folder.path(), &["wipe", "--yes"], &variables);
    assert_eq!(String::from_utf8_lossy(&wiped.stderr), "Deleted 1209 keys.\n");
    let left = store
        .run(vec![Request::command(["KEYS", "*"])])
        .await
        .expect("the store answers");
    assert_eq!(left, [Value::Array(vec![Value::bulk("of another program")])]);
}

// rule: commands#store
#[test]
fn store_export_and_wipe_without_a_store_name_the_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["export"][..], &["wipe", "--yes"]] {
        let sentence = error(&coord_store(folder.path(), arguments, &[]));
        assert!(
            sentence.contains("--data-dir") && sentence.contains("REDIS_URL"),
            "{sentence}"
        );
    }
}

#[test]
fn half_a_pair_of_variables_is_an_error_and_wipes_no_other_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let half = [("UPSTASH_REDIS_REST_URL", "https://one.upstash.io")];
    for arguments in [&["export"][..], &["wipe", "--yes"]] {
        let sentence = error(&coord_store(folder.path(), arguments, &half));
        assert!(sentence.contains("UPSTASH_REDIS_REST_TOKEN is missing"), "{sentence}");
    }
}
