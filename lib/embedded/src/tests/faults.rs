//! Failures of the disk: it cannot be written, or read, for a while.

use super::{EmbeddedStore, ask, say, words};
use crate::OpenError;
use crate::disk::Disk;
use coord_domain::{Branch, CommitSha, FilePath, Holder, LockMode, NeighborPolicy, RepoId, UserId};
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, HeadTerms};
use coord_state::locks::{GateTerms, PolicyTerms, check_status};
use coord_store::{Store, StoreError, Value};
use parking_lot::Mutex;
use redb::StorageBackend;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Nothing can be written.
    Full,
    /// The file cannot grow.
    NoRoom,
    /// Writes since the last sync never reach the medium. The system reports that once.
    LostWrites,
    /// Nothing can be read or written.
    Dead,
    Panic,
}

/// A disk with a cache above its medium, which fails on request.
#[derive(Clone, Debug)]
struct Failing(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    fault: Mutex<Fault>,
    medium: Mutex<Vec<u8>>,
    cache: Mutex<Vec<u8>>,
    /// Number of calls.
    uses: AtomicUsize,
}

impl Failing {
    fn new() -> Self {
        Failing(Arc::new(Inner {
            fault: Mutex::new(Fault::None),
            medium: Mutex::default(),
            cache: Mutex::default(),
            uses: AtomicUsize::new(0),
        }))
    }

    fn open(&self) -> EmbeddedStore {
        let disk = Disk::with_backend(self.clone()).unwrap();
        EmbeddedStore::start(disk, None, Arc::new(SystemTime::now)).unwrap()
    }

    fn becomes(&self, fault: Fault) {
        *self.0.fault.lock() = fault;
    }

    fn uses(&self) -> usize {
        self.0.uses.load(Ordering::Relaxed)
    }

    fn is_used(&self, fails: fn(Fault) -> bool) -> io::Result<()> {
        self.0.uses.fetch_add(1, Ordering::Relaxed);
        let fault = *self.0.fault.lock();
        if !fails(fault) {
            return Ok(());
        }
        assert_ne!(fault, Fault::Panic, "as it was told to");
        Err(match fault {
            // ENOSPC
            Fault::Full | Fault::NoRoom => io::Error::from_raw_os_error(28),
            _ => io::Error::other("input or output error"),
        })
    }
}

impl StorageBackend for Failing {
    fn len(&self) -> io::Result<u64> {
        self.is_used(|fault| fault == Fault::Dead)?;
        Ok(self.0.cache.lock().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.is_used(|fault| fault == Fault::Dead)?;
        let offset = usize::try_from(offset).unwrap();
        let cache = self.0.cache.lock();
        let bytes = cache.get(offset..offset + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.is_used(|fault| matches!(fault, Fault::Dead | Fault::Full | Fault::NoRoom))?;
        self.0.cache.lock().resize(usize::try_from(len).unwrap(), 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.is_used(|fault| matches!(fault, Fault::Dead | Fault::Full))?;
        let mut fault = self.0.fault.lock();
        if *fault == Fault::LostWrites {
            *fault = Fault::None;
            *self.0.cache.lock() = self.0.medium.lock().clone();
            return Err(io::Error::other("input or output error"));
        }
        *self.0.medium.lock() = self.0.cache.lock().clone();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.is_used(|fault| matches!(fault, Fault::Dead | Fault::Full | Fault::Panic))?;
        let offset = usize::try_from(offset).unwrap();
        self.0.cache.lock()[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }
}

async fn try_set(store: &EmbeddedStore, name: &str, value: &str) -> Result<(), String> {
    match store.run(vec![words(&["SET", name, value])]).await {
        Ok(values) => {
            assert_eq!(values, [Value::Status("OK".to_owned())]);
            Ok(())
        }
        Err(StoreError::Failed(reason) | StoreError::Unreachable(reason)) => Err(reason),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_full_disk_allows_reads_and_the_next_change_is_tried_again() {
    let disk = Failing::new();
    let store = disk.open();
    say(&store, "SET a 1").await;
    disk.becomes(Fault::Full);
    for _ in 0..3 {
        let reason = try_set(&store, "a", "2").await.unwrap_err();
        assert!(reason.contains("No space left"), "{reason}");
        assert_eq!(ask(&store, &["GET", "a"]).await, Value::bulk("1"));
    }
    disk.becomes(Fault::None);
    assert_eq!(try_set(&store, "a", "3").await, Ok(()));
    assert_eq!(ask(&store, &["GET", "a"]).await, Value::bulk("3"));
    store.close();
    assert_eq!(ask(&disk.open(), &["GET", "a"]).await, Value::bulk("3"));
}

#[tokio::test]
async fn a_disk_with_little_room_is_reported_as_full() {
    let disk = Failing::new();
    let store = disk.open();
    say(&store, "SET a 1").await;
    disk.becomes(Fault::NoRoom);
    let claim = "x".repeat(4_000);
    // A failed change gives pages free for the next one.
    let mut failures = 0;
    for number in 0..10_000 {
        match try_set(&store, &number.to_string(), &claim).await {
            Err(reason) => {
                assert!(reason.contains("No space left"), "{reason}");
                failures += 1;
            }
            Ok(()) => failures = 0,
        }
        if failures == 20 {
            break;
        }
    }
    assert_eq!(failures, 20);
    assert_eq!(try_set(&store, "a", "2").await, Ok(()), "free pages are left");
    for _ in 0..3 {
        let health = state::health::probe(&store).await;
        assert!(
            matches!(&health, Err(StoreError::Failed(reason)) if reason.contains("the disk failed")),
            "{health:?}"
        );
    }
    disk.becomes(Fault::None);
    assert!(state::health::probe(&store).await.is_ok());
}

#[test]
fn a_new_file_for_which_there_is_no_room_is_not_called_damaged() {
    let disk = Failing::new();
    disk.becomes(Fault::Full);
    let refused = Disk::with_backend(disk).err().expect("it cannot be written");
    assert!(matches!(refused, OpenError::Io { .. }), "{refused}");
}

#[tokio::test]
async fn data_lost_by_a_failed_sync_is_never_trusted() {
    let disk = Failing::new();
    let store = disk.open();
    say(&store, "SET a 1").await;
    disk.becomes(Fault::LostWrites);
    assert!(try_set(&store, "a", "2").await.is_err());
    assert_eq!(ask(&store, &["GET", "a"]).await, Value::bulk("1"));
    assert_eq!(try_set(&store, "b", "3").await, Ok(()));
    store.close();
    let store = disk.open();
    assert_eq!(
        ask(&store, &["MGET", "a", "b"]).await,
        Value::Array(vec![Value::bulk("1"), Value::bulk("3")])
    );
}

#[tokio::test]
async fn a_panic_of_the_committer_is_an_error_at_once_and_not_its_end() {
    let disk = Failing::new();
    let store = disk.open();
    say(&store, "SET a 1").await;
    disk.becomes(Fault::Panic);
    let outcome = tokio::time::timeout(Duration::from_secs(5), try_set(&store, "a", "2")).await;
    assert!(outcome.expect("nobody waits for a thread that is gone").is_err());
    disk.becomes(Fault::None);
    assert_eq!(try_set(&store, "b", "2").await, Ok(()));
    assert_eq!(ask(&store, &["GET", "a"]).await, Value::bulk("1"));
}

#[tokio::test]
async fn a_disk_that_is_gone_for_a_while_costs_nothing_and_comes_back() {
    let disk = Failing::new();
    let store = disk.open();
    say(&store, "SET a 1").await;
    disk.becomes(Fault::Dead);
    assert!(try_set(&store, "a", "2").await.is_err());
    assert!(store.run(vec![words(&["GET", "a"])]).await.is_err());
    assert!(store.responds().await.is_err(), "health says that it is down");
    let before = disk.uses();
    // time: how often a dead disk is tried.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(disk.uses() - before < 50, "{} uses", disk.uses() - before);
    disk.becomes(Fault::None);
    let back = async {
        while try_set(&store, "b", "3").await.is_err() {
            // time: between two attempts.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), back)
        .await
        .expect("it comes back by itself");
    assert_eq!(ask(&store, &["GET", "a"]).await, Value::bulk("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_whose_disk_fails_can_be_closed() {
    for fault in [Fault::Full, Fault::Dead, Fault::Panic] {
        let disk = Failing::new();
        let store = disk.open();
        say(&store, "SET a 1").await;
        disk.becomes(fault);
        let waiting = tokio::spawn({
            let store = store.clone();
            async move { try_set(&store, "a", "2").await }
        });
        let _ = try_set(&store, "b", "2").await;
        let closing = tokio::task::spawn_blocking(move || store.close());
        let closed = tokio::time::timeout(Duration::from_secs(5), closing).await;
        closed
            .unwrap_or_else(|_| panic!("{fault:?}: it cannot be closed"))
            .unwrap();
        assert!(waiting.await.unwrap().is_err(), "{fault:?}");
        disk.becomes(Fault::None);
        assert_eq!(ask(&disk.open(), &["GET", "a"]).await, Value::bulk("1"), "{fault:?}");
    }
}

#[tokio::test]
async fn a_check_is_answered_while_nothing_can_be_cleared_away() {
    let disk = Failing::new();
    let store = disk.open();
    let repo = RepoId::parse("https://example.com/a/b").unwrap();
    let branch = Branch::parse("main").unwrap();
    let head = CommitSha::parse(&"a".repeat(40)).unwrap();
    let holder = Holder {
        user_id: UserId::parse("ann").unwrap(),
        user_name: "Ann".to_owned(),
        agent_id: None,
    };
    // A lock that expired long ago, which a check would announce with an event.
    let entry = format!(
        r#"[{{"key":"k","file_path":"a.ts","user_id":"bob","user_name":"Bob","status":"WRITING","agent_head":"{head}",
            "message":"m","timestamp":1,"expiry":2,"branch":"main","token":1}}]"#
    );
    ask(&store, &["HSET", &state::locks::keys::locks(&repo), "a.ts", &entry]).await;
    ask(&store, &["ZADD", &state::locks::keys::expiries(&repo), "2", "a.ts"]).await;
    // A head that is due to be fetched again.
    let head_key = state::heads::keys::head(&repo, &branch);
    ask(&store, &["HSET", &head_key, "commit", head.as_str(), "checked_at", "1"]).await;
    disk.becomes(Fault::Full);
    assert!(try_set(&store, "a", "1").await.is_err());
    let known = [head.clone()];
    let entry = AdmissionTerms::of(&repo, &branch, &holder, Some(&head), &known);
    let paths = [FilePath::parse("a.ts").unwrap()];
    let checked = check_status(
        &store,
        &entry,
        &paths,
        LockMode::Writing,
        &PolicyTerms::of(NeighborPolicy::Block),
        &GateTerms::NONE,
    )
    .await;
    assert!(matches!(checked, Ok(Admitted::Outcome(survey)) if survey.findings.is_empty()));
    let entry = AdmissionTerms {
        head: HeadTerms::Aged {
            refresh_after: 10,
            at_most: None,
            is_asked: false,
        },
        ..entry
    };
    let checked = check_status(
        &store,
        &entry,
        &paths,
        LockMode::Writing,
        &PolicyTerms::of(NeighborPolicy::Block),
        &GateTerms::NONE,
    )
    .await;
    assert!(
        matches!(&checked, Ok(Admitted::Outcome(survey)) if survey.head.is_unconfirmed && survey.head.commit == head),
        "{checked:?}"
    );
}

/// Answered changes survive failures in any order, and no other value appears.
#[tokio::test]
async fn faults_in_any_order_lose_nothing_that_was_answered() {
    for seed in 0..4 {
        let mut random = fastrand::Rng::with_seed(seed);
        let disk = Failing::new();
        let mut store = disk.open();
        // The possible content of each name: one value, or several where a change may or may not have been made.
        let mut possible: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for step in 0..100 {
            let faults = [
                Fault::None,
                Fault::None,
                Fault::Full,
                Fault::LostWrites,
                Fault::Dead,
                Fault::Panic,
            ];
            if random.u8(..4) == 0 {
                disk.becomes(faults[random.usize(..faults.len())]);
            }
            let name = format!("n{}", random.u8(..8));
            let values = possible.entry(name.clone()).or_insert_with(|| vec![Value::Nil]);
            if random.bool() {
                let written = Value::bulk(step.to_string());
                match try_set(&store, &name, &step.to_string()).await {
                    Ok(()) => *values = vec![written],
                    Err(_) => values.push(written),
                }
            } else if let Ok(read) = store.run(vec![words(&["GET", &name])]).await {
                assert!(
                    values.contains(&read[0]),
                    "seed {seed}, step {step}: {read:?} of {values:?}"
                );
                values.retain(|value| *value == read[0]);
            }
            if random.u8(..30) == 0 {
                store.close();
                disk.becomes(Fault::None);
                store = disk.open();
            }
        }
        store.close();
        disk.becomes(Fault::None);
        let store = disk.open();
        for (name, values) in possible {
            let found = ask(&store, &["GET", &name]).await;
            assert!(
                values.contains(&found),
                "seed {seed}: {name} is {found:?} of {values:?}"
            );
        }
    }
}
