//! What Redis has to promise, and tells of itself: that it keeps what it has answered, drops nothing for want of memory, and takes
//! writes. Each promise that it does not make is a warning at the start; not every service tells.

use std::collections::HashMap;

use coord::store::{Request, Store, Value};

/// Asks `store`, and warns.
pub async fn check(store: &dyn Store) {
    let questions = vec![
        Request::command(["INFO"]),
        Request::command(["CONFIG", "GET", "save"]),
        Request::command(["CONFIG", "GET", "appendfsync"]),
    ];
    let Ok(replies) = store.run(questions).await else {
        // What keeps it from answering is said where it is needed.
        return;
    };
    let Some(info) = replies.first().and_then(Value::as_str) else {
        return;
    };
    let setting = |index: usize| replies.get(index)?.as_array()?.get(1)?.as_str();
    for broken in broken_promises(info, setting(1), setting(2)) {
        tracing::warn!("Redis {broken}");
    }
}

/// What is wrong, by INFO, and by the settings `save` and `appendfsync` where they are told.
fn broken_promises(info: &str, save: Option<&str>, appendfsync: Option<&str>) -> Vec<String> {
    let facts: HashMap<&str, &str> = info
        .lines()
        .filter_map(|line| line.trim_end().split_once(':'))
        .collect();
    let is = |name: &str, value: &str| facts.get(name) == Some(&value);
    let mut broken = Vec::new();
    if is("role", "slave") {
        broken.push("is a replica, which takes no writes: name its master".to_owned());
    }
    if let Some(policy) = facts.get("maxmemory_policy").filter(|policy| **policy != "noeviction")
        && !is("maxmemory", "0")
    {
        broken.push(format!(
            "drops keys when its memory is full (maxmemory-policy {policy}), and with them locks: set noeviction"
        ));
    }
    if is("aof_enabled", "0") {
        broken.push(match save {
            Some("") => "keeps nothing on the disk: locks are gone when it ends; set appendonly yes".to_owned(),
            _ => "loses the locks since its last snapshot when it is killed: set appendonly yes".to_owned(),
        });
    } else if is("aof_enabled", "1") && appendfsync == Some("no") {
        broken.push("writes to the disk when the system likes (appendfsync no): set everysec, or always".to_owned());
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_that_is_not_made_is_said_and_one_that_is_not_told_is_not() {
        let info = |memory: u64, policy: &str, aof: u8, role: &str| {
            format!(
                "# Memory\r\nmaxmemory:{memory}\r\nmaxmemory_policy:{policy}\r\n# Persistence\r\naof_enabled:{aof}\r\n\
                 # Replication\r\nrole:{role}\r\n"
            )
        };
        let broken = |info: String, save, fsync| broken_promises(&info, save, fsync).join("; ");
        assert_eq!(
            broken(info(0, "noeviction", 1, "master"), Some(""), Some("everysec")),
            ""
        );
        assert_eq!(
            broken(info(0, "allkeys-lru", 1, "master"), None, None),
            "",
            "without a limit nothing is dropped"
        );
        assert_eq!(broken(String::new(), None, None), "");
        for (info, save, fsync, words) in [
            (
                info(1 << 30, "allkeys-lru", 1, "master"),
                None,
                None,
                "maxmemory-policy allkeys-lru",
            ),
            (
                info(0, "noeviction", 0, "master"),
                Some(""),
                None,
                "keeps nothing on the disk",
            ),
            (
                info(0, "noeviction", 0, "master"),
                Some("3600 1"),
                None,
                "since its last snapshot",
            ),
            (info(0, "noeviction", 1, "master"), None, Some("no"), "appendfsync no"),
            (info(0, "noeviction", 1, "slave"), None, None, "is a replica"),
        ] {
            let told = broken(info, save, fsync);
            assert!(told.contains(words), "{told}");
        }
    }
}
