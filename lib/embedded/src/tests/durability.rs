//! When responses are sent, and the content of the file.

use super::{EmbeddedStore, ask, eval, say, shown, words};
use crate::OpenError;
use crate::disk::Disk;
use crate::engine::Engine;
use crate::keyspace::Keyspace;
use crate::layers::Layers;
use crate::lua::Interpreter;
use coord_store::{BrokenPromise, Promises, Store, StoreError, Value};
use parking_lot::Mutex;
use redb::backends::InMemoryBackend;
use std::sync::Arc;
use std::time::SystemTime;

/// An engine whose changes are not written to the disk.
fn engine() -> (Engine, Arc<Mutex<Keyspace>>, Disk) {
    let disk = Disk::with_backend(InMemoryBackend::new()).unwrap();
    let keyspace = Arc::new(Mutex::new(Keyspace::new(
        Layers::new(disk.snapshot().unwrap()),
        Arc::default(),
        Arc::new(SystemTime::now),
    )));
    let interpreter = Interpreter::new(keyspace.clone(), None).unwrap();
    (Engine::new(interpreter, keyspace.clone()), keyspace, disk)
}

#[test]
fn an_answer_depends_on_what_it_changed_or_saw_and_on_nothing_else() {
    let (mut engine, keyspace, disk) = engine();
    let mut depends_on = |line: &str| {
        engine
            .run(&words(&line.split(' ').collect::<Vec<_>>()))
            .unwrap()
            .depends_on
    };
    assert_eq!(depends_on("HSET h f 1 g 1"), 1);
    assert_eq!(depends_on("HGET h f"), 1);
    assert_eq!(depends_on("GET other"), 0);

    let commit = |keyspace: &Mutex<Keyspace>| {
        let batch = keyspace.lock().layers.start_commit();
        let snapshot = disk.commit(&batch.changes).unwrap();
        keyspace.lock().layers.finish_commit(Some(snapshot));
    };
    commit(&keyspace);
    assert_eq!(depends_on("HGET h f"), 0, "what is on the disk needs no waiting");
    assert_eq!(depends_on("HSET h new 1"), 2);
    assert_eq!(
        depends_on("HMGET h f g none"),
        0,
        "other fields of the same hash need no waiting"
    );
    assert_eq!(depends_on("HGET h new"), 2);
    assert_eq!(depends_on("HLEN h"), 2);
    assert_eq!(depends_on("HGETALL h"), 2);
    assert_eq!(depends_on("HGET h new x"), 0, "an error that saw nothing");
    assert_eq!(depends_on("DEL h"), 2);
    assert_eq!(depends_on("EXISTS h"), 2, "an absence that is not on the disk yet");

    // While one batch is being written, the next gathers.
    let batch = keyspace.lock().layers.start_commit();
    assert_eq!(depends_on("EXISTS h"), 2);
    assert_eq!(depends_on("SET a 1"), 3);
    let snapshot = disk.commit(&batch.changes).unwrap();
    keyspace.lock().layers.finish_commit(Some(snapshot));
    assert_eq!(depends_on("EXISTS h"), 0);
    assert_eq!(depends_on("GET a"), 3);
}

#[tokio::test]
async fn a_store_is_there_when_it_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    say(&store, "HSET h f 1 g 2").await;
    say(&store, "XADD s 5-5 f v").await;
    say(&store, "ZADD z 1.5 m").await;
    say(&store, "SET a b EX 1000").await;
    assert!(matches!(EmbeddedStore::open(&path).err(), Some(OpenError::InUse(_))));
    store.close();
    assert!(matches!(
        store.run(vec![words(&["PING"])]).await,
        Err(StoreError::Unreachable(_))
    ));

    let store = EmbeddedStore::open(&path).unwrap();
    assert_eq!(shown(&say(&store, "HGETALL h").await), "[\"f\" \"1\" \"g\" \"2\"]");
    assert_eq!(
        shown(&say(&store, "XADD s * f v").await).len(),
        "\"1700000000000-0\"".len()
    );
    assert_eq!(shown(&say(&store, "ZRANGE z 0 -1 WITHSCORES").await), "[\"m\" \"1.5\"]");
    assert_eq!(store.describe(), format!("embedded store at {}", path.display()));
    assert_eq!(store.promises().await, Promises::Kept);
    let in_memory = EmbeddedStore::in_memory().promises().await;
    assert_eq!(in_memory, Promises::Broken([BrokenPromise::NotPersistent].into()));
    drop(store);
    EmbeddedStore::open(&path).unwrap();
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, "something else ".repeat(1000)).unwrap();
    let refused = EmbeddedStore::open(&path).err().unwrap();
    assert!(matches!(refused, OpenError::NotAStore { .. }), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), "something else ".repeat(1000).as_bytes());

    let foreign = directory.path().join("foreign.redb");
    let database = redb::Database::create(&foreign).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(redb::TableDefinition::<u64, u64>::new("theirs"))
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let refused = EmbeddedStore::open(&foreign).err().unwrap();
    assert!(
        refused
            .to_string()
            .contains("redb file of another program (tables theirs)"),
        "{refused}"
    );

    let missing = EmbeddedStore::open(&directory.path().join("no/such/folder"))
        .err()
        .unwrap();
    assert!(matches!(missing, OpenError::Io { .. }), "{missing}");
}

#[tokio::test]
async fn a_damaged_file_is_an_error_or_opens_and_never_a_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    for number in 0..200 {
        say(&store, &format!("HSET h field{number} {}", "v".repeat(100))).await;
    }
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    for length in [1, 100, 4096, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let _ = EmbeddedStore::open(&path).map(drop);
    }
    for at in (0..4096).step_by(37) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        std::fs::write(&path, &damaged).unwrap();
        let _ = EmbeddedStore::open(&path).map(drop);
    }
}

#[tokio::test]
async fn damage_of_a_closed_file_is_found_or_harmless() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.redb");
    let store = EmbeddedStore::open(&path).unwrap();
    for number in 0..200 {
        say(&store, &format!("HSET h field{number} {}", "v".repeat(100))).await;
    }
    let before = shown(&say(&store, "HGETALL h").await);
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    let text = |at: &usize| whole[*at..].starts_with(b"vvvv");
    // Damage in values, which only a checksum can detect, and everywhere else.
    let in_values = (0..whole.len() - 4).filter(text).step_by(1500);
    let anywhere = (0..whole.len()).step_by(whole.len() / 40);
    let mut found = 0;
    for at in in_values.chain(anywhere) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x01;
        std::fs::write(&path, &damaged).unwrap();
        match EmbeddedStore::open(&path) {
            Ok(store) => assert_eq!(shown(&say(&store, "HGETALL h").await), before, "byte {at}"),
            Err(OpenError::Damaged { .. } | OpenError::NotAStore { .. }) => found += 1,
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
    assert!(found >= 10, "{found} were found");
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_that_run_at_once_share_commits_and_lose_no_update() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(&directory.path().join("store.redb")).unwrap();
    let source = "local n = tonumber(redis.call('GET', 'n') or '0') redis.call('SET', 'n', n + 1) return n + 1";
    let tasks = (0..64).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut seen = Vec::new();
            for _ in 0..25 {
                seen.push(eval(&store, source).await.as_int().unwrap());
            }
            seen
        })
    });
    let mut all: Vec<i64> = futures::future::join_all(tasks)
        .await
        .into_iter()
        .flat_map(Result::unwrap)
        .collect();
    all.sort_unstable();
    assert_eq!(
        all,
        (1..=64 * 25).collect::<Vec<i64>>(),
        "every script saw a number of its own"
    );
    let stats = store.stats();
    assert_eq!(stats.scripts, 64 * 25);
    assert!(stats.commits * 2 < stats.scripts, "{stats:?}");
}

#[tokio::test]
async fn a_batch_has_one_answer_for_each_request_and_an_error_stays_in_its_place() {
    let store = EmbeddedStore::in_memory();
    let answers = store
        .run(vec![
            words(&["SET", "a", "1"]),
            words(&["HGET", "a", "f"]),
            words(&["GET", "a"]),
        ])
        .await
        .unwrap();
    assert_eq!(answers.len(), 3);
    assert!(matches!(&answers[1], Value::Error(text) if text.starts_with("WRONGTYPE")));
    assert_eq!(answers[2], Value::bulk("1"));
    assert_eq!(shown(&ask(&store, &[]).await), "!ERR empty command");
}
