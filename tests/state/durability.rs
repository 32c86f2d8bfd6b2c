//! Acknowledged changes survive a kill of the process, and no script is half done.

use coord_embedded::EmbeddedStore;
use coord_store::{Request, Store, Value};
use coord_test_support::embedded;
use coord_test_support::script;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Names the file for the process that is to be killed.
const FILE: &str = "COORD_DURABILITY_FILE";

/// Three keys by one script.
const SOURCE: &str = "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
    redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
    return redis.call('INCR', KEYS[3])";

async fn ask<const N: usize>(store: &EmbeddedStore, words: [&str; N]) -> Value {
    let replies = store.run(vec![Request::command(words)]).await;
    replies.expect("the store answers").remove(0)
}

/// Not a separate test: the process that [`answered_changes_survive_a_kill`] starts and kills.
#[test]
fn the_process_that_is_killed() {
    let Ok(file) = std::env::var(FILE) else { return };
    let round = std::process::id();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = embedded::open(&PathBuf::from(file));
        let writers = (0..8).map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for turn in 0.. {
                    let field = format!("{round}-{writer}-{turn}");
                    let value = "x".repeat(turn % 3000);
                    let keys = ["first", "second", "total"];
                    let call = script::call(SOURCE, &keys, &[field.as_bytes(), value.as_bytes()]);
                    let answer = store.run(vec![call]).await.expect("the store answers").remove(0);
                    assert!(matches!(answer, Value::Int(_)), "{answer:?}");
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "answered {field}")
                        .and_then(|()| out.flush())
                        .expect("the parent listens");
                }
            })
        });
        futures::future::join_all(writers).await;
    });
}

async fn fields(store: &EmbeddedStore, key: &str) -> BTreeSet<String> {
    let keys = ask(store, ["HKEYS", key]).await;
    keys.as_array()
        .expect("fields")
        .iter()
        .filter_map(|field| Some(field.as_str()?.to_owned()))
        .collect()
}

#[tokio::test]
async fn answered_changes_survive_a_kill() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("store.redb");
    let mut answered = BTreeSet::new();
    for answers_before_the_kill in [1, 40, 97, 250, 400] {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["durability::the_process_that_is_killed", "--exact", "--nocapture"])
            .env(FILE, &file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the process starts");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let mut count = 0;
        // Past the given number it is killed, and what it had said by then counts too.
        while let Some(Ok(line)) = lines.next() {
            if let Some((_, field)) = line.split_once("answered ") {
                answered.insert(field.to_owned());
                count += 1;
            }
            if count == answers_before_the_kill {
                process.kill().expect("the process is killed");
            }
        }
        process.wait().expect("the process is gone");
        assert!(count >= answers_before_the_kill, "the process ended by itself");

        let store = embedded::open(&file);
        let (first, second) = (fields(&store, "first").await, fields(&store, "second").await);
        let lost: Vec<&String> = answered.difference(&first).collect();
        assert!(lost.is_empty(), "answered and lost: {lost:?}");
        assert_eq!(first, second, "a script is there by half");
        let count = first.len() as i64;
        assert_eq!(ask(&store, ["GET", "total"]).await.as_int(), Some(count));
        assert_eq!(ask(&store, ["HLEN", "first"]).await, Value::Int(count));
    }
}
