//! Inboxes that have more than the store, or less, or more than a reader takes.

use coord_teams::bounds::{INBOX_BYTES, TEXT_BYTES};
use coord_teams::compare::{Change, FindingKind};
use serde_json::{Value, json};

use super::sync::{Both, LEAD, W1, append, handle, kinds, send};

fn texts(both: &Both, inbox: &str) -> Vec<String> {
    let inbox = both.file(inbox);
    let texts = inbox.as_array().expect("messages").iter();
    texts
        .map(|message| message["message"].as_str().expect("text").to_owned())
        .collect()
}

fn sent(changes: &[Change]) -> Vec<&str> {
    let texts = changes.iter().filter_map(|change| match change {
        Change::Send { message, .. } => Some(message.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn without_memory_what_the_store_keeps_no_longer_is_not_sent_again() {
    let mut both = Both::alike();
    let member = both.store.members["w1"].clone();
    both.store.members.insert(handle("w2"), member);
    for text in ["one", "two"] {
        append(&mut both, LEAD, "w1", "lead", text);
    }
    send(&mut both.store, "lead", None, "to all");
    both.sync();
    append(&mut both, LEAD, "w1", "lead", "three");
    send(&mut both.store, "lead", Some("w1"), "to one");
    both.sync();
    both.assert_quiet();
    // The store keeps the newest ones only, and w2 has none of those.
    both.store
        .messages
        .retain(|_, message| ["three", "to one"].contains(&&*message.message));
    both.seen = None;
    append(&mut both, LEAD, "w1", "lead", "four");
    let done = both.sync();
    assert_eq!(sent(&done.taken.changes), ["four"]);
    // Two of the lead's inbox, and a broadcast in two inboxes.
    assert_eq!(done.taken.old.len(), 4, "{:?}", done.taken.old);
    assert_eq!(texts(&both, LEAD), ["one", "two", "three", "four"]);
    both.assert_quiet();
    // A team that has none of them gets all.
    both.seen = None;
    both.store.messages.clear();
    let done = both.sync();
    assert_eq!(
        sent(&done.taken.changes),
        ["to all", "to one", "one", "two", "three", "four"]
    );
}

#[test]
fn a_message_that_was_taken_out_of_a_file_does_not_come_back() {
    let mut both = Both::alike();
    for text in ["one", "two", "three"] {
        send(&mut both.store, "lead", Some("w1"), text);
    }
    both.sync();
    let mut left: Vec<Value> = serde_json::from_str(&both.files[W1]).expect("messages");
    left.remove(1);
    both.files.insert(W1.to_owned(), json!(left).to_string());
    both.sync();
    both.assert_quiet();
    send(&mut both.store, "lead", Some("w1"), "four");
    both.sync();
    assert_eq!(texts(&both, W1), ["one", "three", "four"]);
    both.assert_quiet();
    // A file that is gone is no choice of messages.
    both.files.remove(W1);
    both.sync();
    assert_eq!(texts(&both, W1), ["one", "two", "three", "four"]);
    both.assert_quiet();
}

#[test]
fn no_inbox_is_written_that_would_be_refused_from_then_on() {
    let message = |text: String| json!({ "from": "lead", "to": "w1", "message": text, "timestamp": "2026-12-01T01:02:03.004Z", "read": true });
    let full = json!(vec![message("x".repeat(1 << 20)); 31]).to_string();
    let mut both = Both::alike();
    both.files.insert(W1.to_owned(), full.clone());
    both.sync();
    let seen = both.seen.clone().expect("it was synced").inboxes["w1"].clone();
    for _ in 0..=(INBOX_BYTES / 32 / TEXT_BYTES) {
        send(&mut both.store, "lead", Some("w1"), &"y".repeat(TEXT_BYTES));
    }
    let done = both.sync();
    assert_eq!(kinds(&done.given.findings), [(FindingKind::Bounds, W1.to_owned())]);
    assert!(both.files[W1] == full, "it is not written");
    assert_eq!(done.given.seen.inboxes["w1"], seen);
    // Once there is room, missing messages come.
    both.files
        .insert(W1.to_owned(), json!([message("x".repeat(1 << 20))]).to_string());
    let done = both.sync();
    assert_eq!(done.given.findings, []);
    assert_eq!(texts(&both, W1).len(), 1 + both.store.messages.len());
    both.assert_quiet();
}
