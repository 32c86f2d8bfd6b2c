//! Synchronizations beside a process that writes as the plugin does: under both locks, to a hidden file that is renamed.

use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FlockOperation, fcntl_lock};
use serde_json::{Value, json};

use super::{Place, message};

const ROUNDS: usize = 60;

/// Reads, changes and writes a file as the plugin does.
fn change(place: &Place, lock: &str, file: &str, change: impl FnOnce(&mut Value)) {
    let lock = File::options().write(true).open(place.path(lock)).unwrap();
    fcntl_lock(&lock, FlockOperation::LockExclusive).unwrap();
    let path = place.path(file);
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).expect("a whole file");
    change(&mut value);
    let temporary = path.with_file_name(format!(".{}.1.1.tmp", path.file_name().unwrap().display()));
    fs::write(&temporary, serde_json::to_string_pretty(&value).unwrap()).unwrap();
    fs::rename(&temporary, &path).unwrap();
}

#[test]
fn nothing_is_lost_beside_a_process_that_writes() {
    let place = Place::alike();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The files' side: a description that counts, and messages.
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                change(&place, "tasks/alpha/.lock", "tasks/alpha/a.json", |task| {
                    task["description"] = format!("file {round}").into();
                });
                change(&place, "teams/alpha/.lock", "teams/alpha/inboxes/lead.json", |inbox| {
                    inbox
                        .as_array_mut()
                        .unwrap()
                        .push(message("w1", "lead", &format!("file {round}")));
                });
                std::thread::sleep(std::time::Duration::from_millis(15));
            }
            is_done.store(true, Ordering::Release);
        });
        // The server's side: a title that counts, and messages.
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                place.retitles("a", &format!("server {round}"));
                let text =
                    json!({ "team": "alpha", "agent_id": "w1", "to": ["lead"], "message": format!("server {round}") });
                place.server(None, "POST", "messages", &text);
            }
        });
        while !is_done.load(Ordering::Acquire) {
            let ended = place.command().args(["team", "sync", "--json"]).output().unwrap();
            let report: Value = serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
            assert_eq!(report["refused"], json!([]), "{report}");
        }
    });
    place.sync(0);
    place.assert_quiet();
    let (file, stored) = (place.json("tasks/alpha/a.json"), place.stored("a"));
    for task in [&file, &stored] {
        assert_eq!(task["title"], format!("server {ROUNDS}"));
        assert_eq!(task["description"], format!("file {ROUNDS}"));
    }
    let history = place.server(None, "GET", "messages", &json!({ "team": "alpha", "limit": "500" }));
    let history = place_texts(&history["messages"]);
    let inbox = place_texts(&place.json("teams/alpha/inboxes/lead.json"));
    for texts in [history, inbox] {
        assert_eq!(texts.len(), 2 * ROUNDS, "each message once: {texts:?}");
    }
}

/// The texts of messages, each once.
fn place_texts(messages: &Value) -> std::collections::BTreeSet<String> {
    let messages = messages.as_array().unwrap();
    let texts: std::collections::BTreeSet<_> = messages
        .iter()
        .map(|message| message["message"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(texts.len(), messages.len(), "a message is there twice");
    texts
}
