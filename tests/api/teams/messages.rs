//! Messages are sent, read by a cursor, and listed.

use coord_store::Value as StoreValue;
use serde_json::{Value, json};

use super::{assert_has, texts_of, wrong_field};
use crate::api::{Api, repo};

fn texts(answer: &Value) -> Vec<&str> {
    texts_of(&answer["messages"], "message")
}

// rule: teams#cursor
#[tokio::test]
async fn a_message_comes_again_until_its_cursor_comes_back() {
    let api = Api::with_team().await;
    let sent = json!({ "to": ["ONE"], "message": "Hello\nthere", "summary": "Hello", "task_id": "t1" });
    api.calls("ann/lead", "messages", sent).await;
    let read = async |more: Value| api.calls("bob/one", "messages/read", more).await;
    let first = read(json!({})).await;
    let message = &first["messages"][0];
    assert_has!(message, {
        "from": "lead", "login": "ann", "to": "one", "type": "plain", "read": false, "summary": "Hello", "task_id": "t1",
    });
    assert_eq!(message.get("reply_to"), None);
    let reply = json!({ "to": ["lead"], "message": "Hello to you", "reply_to": message["id"] });
    api.calls("bob/one", "messages", reply).await;
    let replied = api.inbox("ann/lead").await;
    assert_eq!(replied["messages"][0]["reply_to"], message["id"]);
    assert_eq!(first["unread"], 1);
    assert_eq!(texts(&read(json!({})).await), ["Hello\nthere"]);
    let after = read(json!({ "cursor": first["cursor"] })).await;
    assert_has!(after, { "messages": [], "unread": 0, "timed_out": false });
    assert_eq!(read(json!({})).await["messages"], json!([]));
    let ahead = json!({ "cursor": 99 });
    api.refuses("bob/one", "messages/read", ahead, "409 CURSOR_AHEAD").await;
}

#[tokio::test]
async fn the_history_lists_the_members_that_have_not_read() {
    let api = Api::with_team().await;
    for (to, text) in [("one", "a"), ("broadcast", "b"), ("two", "c")] {
        api.writes_to(to, text).await;
    }
    api.calls("bob/one", "messages/read", json!({ "cursor": 2 })).await;
    let history = async |query: &str| api.shows("eve", "messages", &format!("&team=alpha{query}")).await;
    let all = history("").await;
    let messages = all["messages"].as_array().unwrap().iter();
    let unread: Vec<_> = messages
        .map(|message| json!([message["message"], message["unread_by"]]))
        .collect();
    assert_eq!(
        unread,
        [json!(["c", ["two"]]), json!(["b", ["two"]]), json!(["a", null])]
    );
    assert_eq!(all["messages"][0]["unread_count"], 1);
    assert_eq!(texts(&history("&member=one").await), ["b", "a"]);
    let page = history("&limit=2").await;
    assert_eq!((texts(&page), &page["earlier"]), (vec!["c", "b"], &json!(2)));
    let last = history("&limit=2&before=2").await;
    assert_eq!((texts(&last), &last["earlier"]), (vec!["a"], &Value::Null));
    assert_eq!(texts(&api.inbox("bob/two").await), ["b", "c"]);
}

/// A message whose reader had left counted as read, or was gone.
#[tokio::test]
async fn unread_messages_of_a_former_member_stay_unread_in_the_history() {
    let api = Api::with_team().await;
    for (to, text) in [
        (json!(["one"]), "a"),
        (json!(["one"]), "b"),
        (json!(["one", "two"]), "c"),
    ] {
        let sent = json!({ "to": to, "message": text });
        api.calls("ann/lead", "messages", sent).await;
    }
    for (who, cursor) in [("bob/one", 1), ("bob/two", 3)] {
        api.calls(who, "messages/read", json!({ "cursor": cursor })).await;
    }
    let history = async || {
        let page = api.shows("eve", "messages", "&team=alpha").await;
        let messages = page["messages"].as_array().unwrap().iter();
        let about = |message: &Value| json!([message["message"], message["read"], message["unread_by"]]);
        messages.map(about).collect::<Vec<_>>()
    };
    api.calls("bob/one", "teams/alpha/leave", json!({})).await;
    assert_eq!(
        history().await,
        [json!(["c", false, ["one"]]), json!(["b", false, ["one"]])]
    );
    // If a member leaves afterward, nothing is kept twice.
    api.calls("bob/two", "teams/alpha/leave", json!({})).await;
    assert_eq!(history().await.len(), 2);
}

// rule: teams#kinds
#[tokio::test]
async fn idle_goes_to_the_leader_and_is_answered_with_what_is_ready() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let idle = json!({ "type": "idle", "message": "" });
    let idle = api.calls("bob/one", "messages", idle).await;
    assert_eq!(idle["ready"], json!(["t1"]));
    let inbox = api.inbox("ann/lead").await;
    assert_has!(inbox["messages"][0], { "type": "idle", "from": "one" });
}

// rule: teams#kinds
#[tokio::test]
async fn an_unsendable_header_is_refused() {
    let api = Api::with_team().await;
    let to_one = |message: &str| json!({ "to": ["one"], "message": message });
    let of_type = |kind: &str| json!({ "to": ["one"], "message": "x", "type": kind });
    for (sent, field, message) in [
        (json!({ "to": ["one"] }), "message", "message is required"),
        (json!({ "message": "x" }), "to", "to is required"),
        (json!({ "to": [], "message": "x" }), "to", "to is required"),
        (json!({ "to": ["broadcast", "one"], "message": "x" }), "to", "to "),
        (json!({ "to": ["a/b"], "message": "x" }), "to", "to "),
        (
            json!({ "to": vec!["one"; 101], "message": "x" }),
            "to",
            "to has 101 recipients",
        ),
        (of_type("idle"), "to", "to must be left out"),
        (of_type("nudge"), "type", "type is not known: Invalid message type"),
        (of_type("task_assignment"), "type", "type is that of"),
        (of_type("shutdown_request"), "type", "type is that of"),
        (of_type("shutdown_approved"), "type", "type is that of"),
        (of_type("shutdown_rejected"), "type", "type is that of"),
        (to_one(&"x".repeat(16_385)), "message", "message has more than"),
        (to_one("a\u{202e}b"), "message", "message has invisible"),
        (
            json!({ "to": ["one"], "message": "x", "task_id": "../t1" }),
            "task_id",
            "task_id ",
        ),
    ] {
        let answer = api.sends("ann/lead", "messages", sent).await;
        assert_eq!(wrong_field(&answer), field, "{message}");
        let body = answer.json();
        assert!(body["message"].as_str().unwrap().starts_with(message), "{body}");
    }
    let nobody = json!({ "to": ["one", "zoe"], "message": "x" });
    let refused = api
        .refuses("ann/lead", "messages", nobody, "409 UNKNOWN_RECIPIENT")
        .await;
    assert_eq!(
        refused["message"],
        "Recipient \"zoe\" is not a member of team \"alpha\""
    );
    assert_eq!(api.inbox("bob/one").await["messages"], json!([]));
}

// rule: teams#inbox
#[tokio::test]
async fn a_message_to_a_full_inbox_is_refused_with_inbox_full_and_wait() {
    let api = Api::with_team().await;
    // As if 1,000 had come that it has not read: see the order of the counts in the scripts.
    let members = coord_teams_state::teams::keys::members(&repo());
    api.writes_to("one", "x").await;
    let Some(StoreValue::Bulk(counts)) = api.command(["HGET", &members, "alpha/one"]).await else {
        panic!("no counts of the inbox");
    };
    let counts = String::from_utf8(counts).unwrap();
    assert_eq!(counts.split(' ').filter(|count| *count == "1").count(), 2, "{counts}");
    let full = counts.replacen('1', "1000", 1);
    api.command(["HSET", &members, "alpha/one", &full]).await;
    let sent = json!({ "to": ["one"], "message": "x" });
    let refused = api.refuses("ann/lead", "messages", sent, "409 INBOX_FULL WAIT").await;
    let sentence = refused["message"].as_str().unwrap();
    assert!(
        sentence.starts_with("The inbox of \"one\" has 1000 unread messages"),
        "{sentence}"
    );
}

#[tokio::test]
async fn of_many_that_have_not_read_a_message_some_are_named() {
    let api = Api::with_team().await;
    for number in 0..30 {
        api.calls(&format!("zoe/z{number}"), "teams/alpha/join", json!({}))
            .await;
    }
    api.writes_to("broadcast", "x").await;
    let history = api.shows("eve", "messages", "&team=alpha").await;
    let message = &history["messages"][0];
    assert_eq!(message["unread_by"].as_array().unwrap().len(), 20);
    assert_eq!(message["unread_count"], 32);
}
