//! Promises of a remote store, by its own report: it keeps acknowledged writes, evicts nothing when memory is short,
//! and accepts writes. Some services report nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use coord_runtime::mutex::lock;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Request, Value};

/// Whether a store keeps its data, as far as it reports that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promises {
    /// It makes all promises.
    Kept,
    /// It does not make these.
    Broken(BTreeSet<BrokenPromise>),
    /// It does not report, or not enough.
    Unknown,
}

/// A promise that a store does not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BrokenPromise {
    /// It evicts keys, locks included, when its memory is full (`maxmemory-policy` is not `noeviction`).
    Evicts,
    /// Locks are gone when it is killed (`appendonly no`), or may be (`appendfsync no`).
    NotPersistent,
    /// It is a replica, which accepts no writes.
    Replica,
}

/// The commands whose replies [`parse_report`] reads.
pub(super) fn report_commands() -> Vec<Request> {
    vec![
        Request::command(["INFO"]),
        Request::command(["CONFIG", "GET", "save"]),
        Request::command(["CONFIG", "GET", "appendfsync"]),
    ]
}

/// The promises of `store`, by its replies. Logs a warning for each that it does not make, once in a process.
pub(super) fn parse_report(replies: &[Value], store: &str) -> Promises {
    let Some(info) = replies.first().and_then(Value::as_str) else {
        return Promises::Unknown;
    };
    let setting = |index: usize| replies.get(index)?.as_array()?.get(1)?.as_str();
    let report = Report::parse(info, setting(1), setting(2));
    for (_, sentence) in &report.broken {
        if note_warning(store, sentence) {
            tracing::warn!("Redis {sentence}");
        }
    }
    report.promises()
}

/// Notes a warning about `store`. Returns whether it is the first.
fn note_warning(store: &str, sentence: &str) -> bool {
    static LOGGED: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());
    let mut logged = lock(&LOGGED);
    logged.insert((store.to_owned(), sentence.to_owned()))
}

/// A store's report on itself.
struct Report {
    /// Each broken promise, with a sentence for the log.
    broken: Vec<(BrokenPromise, String)>,
    /// Whether the report rules out other broken promises.
    is_complete: bool,
}

impl Report {
    /// Parses INFO, and the settings `save` and `appendfsync` if they are readable.
    fn parse(info: &str, save: Option<&str>, appendfsync: Option<&str>) -> Report {
        let facts: HashMap<&str, &str> = info
            .lines()
            .filter_map(|line| line.trim_end().split_once(':'))
            .collect();
        let is = |name: &str, value: &str| facts.get(name) == Some(&value);
        let mut broken = Vec::new();
        if is("role", "slave") {
            let sentence = "is a replica, which accepts no writes: connect to its master".to_owned();
            broken.push((BrokenPromise::Replica, sentence));
        }
        let policy = facts.get("maxmemory_policy");
        if let Some(policy) = policy.filter(|policy| **policy != "noeviction")
            && !is("maxmemory", "0")
        {
            let sentence = format!(
                "evicts keys, locks included, when its memory is full (maxmemory-policy {policy}): set noeviction"
            );
            broken.push((BrokenPromise::Evicts, sentence));
        }
        let unsafe_disk = if is("aof_enabled", "0") {
            Some(match save {
                Some("") => "does not persist its data, so locks are lost when it stops: set appendonly yes",
                _ => "loses the locks since its last snapshot when it is killed: set appendonly yes",
            })
        } else if is("aof_enabled", "1") && appendfsync == Some("no") {
            Some("leaves writing to the disk to the operating system (appendfsync no): set everysec or always")
        } else {
            None
        };
        broken.extend(unsafe_disk.map(|sentence| (BrokenPromise::NotPersistent, sentence.to_owned())));
        Report {
            broken,
            is_complete: policy.is_some() && is("aof_enabled", "1") && appendfsync.is_some(),
        }
    }

    fn promises(&self) -> Promises {
        let broken: BTreeSet<_> = self.broken.iter().map(|(promise, _)| *promise).collect();
        match (broken.is_empty(), self.is_complete) {
            (false, _) => Promises::Broken(broken),
            (true, true) => Promises::Kept,
            (true, false) => Promises::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_is_named_and_an_unreported_one_is_unknown() {
        let info = |memory: u64, policy: &str, aof: u8, role: &str| {
            format!(
                "# Memory\r\nmaxmemory:{memory}\r\nmaxmemory_policy:{policy}\r\n# Persistence\r\naof_enabled:{aof}\r\n\
                 # Replication\r\nrole:{role}\r\n"
            )
        };
        let promises = |info: &str, save, fsync| Report::parse(info, save, fsync).promises();
        let sound = info(0, "noeviction", 1, "master");
        assert_eq!(promises(&sound, Some(""), Some("everysec")), Promises::Kept);
        let unbounded = info(0, "allkeys-lru", 1, "master");
        assert_eq!(
            promises(&unbounded, None, Some("always")),
            Promises::Kept,
            "without a limit nothing is dropped"
        );
        for untold in ["", "maxmemory_policy:noeviction\r\n", "aof_enabled:1\r\n"] {
            assert_eq!(promises(untold, None, Some("always")), Promises::Unknown, "{untold}");
        }
        assert_eq!(promises(&sound, None, None), Promises::Unknown, "CONFIG is refused");
        for (info, save, fsync, name, words) in [
            (
                info(1 << 30, "allkeys-lru", 1, "master"),
                None,
                None,
                BrokenPromise::Evicts,
                "maxmemory-policy allkeys-lru",
            ),
            (
                info(0, "noeviction", 0, "master"),
                Some(""),
                None,
                BrokenPromise::NotPersistent,
                "does not persist its data",
            ),
            (
                info(0, "noeviction", 0, "master"),
                Some("3600 1"),
                None,
                BrokenPromise::NotPersistent,
                "since its last snapshot",
            ),
            (sound, None, Some("no"), BrokenPromise::NotPersistent, "appendfsync no"),
            (
                info(0, "noeviction", 1, "slave"),
                None,
                None,
                BrokenPromise::Replica,
                "is a replica",
            ),
        ] {
            let report = Report::parse(&info, save, fsync);
            assert_eq!(report.promises(), Promises::Broken(BTreeSet::from([name])));
            assert!(report.broken[0].1.contains(words), "{:?}", report.broken);
        }
    }

    #[test]
    fn a_sentence_is_logged_once_for_each_store() {
        assert!(note_warning("one", "drops keys") && note_warning("one", "keeps nothing"));
        assert!(note_warning("two", "drops keys"));
        assert!(!note_warning("one", "drops keys"));
    }
}
