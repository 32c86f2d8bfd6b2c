//! Messages are sent, read by a cursor, and listed.

use coord_store::Value as StoreValue;
use serde_json::{Value, json};

use super::error;
use crate::api::{Api, repo};

fn texts(answer: &Value) -> Vec<&str> {
    let messages = answer["messages"].as_array().unwrap().iter();
    messages.map(|message| message["message"].as_str().unwrap()).collect()
}

// rule: teams#cursor
#[tokio::test]
async fn a_message_comes_again_until_its_cursor_comes_back() {
    let api = Api::with_team().await;
    let sent = json!({ "to": ["ONE"], "message": "Hello\nthere", "summary": "Hello", "task_id": "t1" });
    api.does_in_team("ann/lead", "/api/messages", sent).await;
    let read = async |more: Value| api.does_in_team("bob/one", "/api/messages/read", more).await;
    let first = read(json!({})).await;
    let message = &first["messages"][0];
    assert_eq!(
        (
            &message["from"],
            &message["login"],
            &message["to"],
            &message["type"],
            &message["read"]
        ),
        (
            &json!("lead"),
            &json!("ann"),
            &json!("one"),
            &json!("plain"),
            &json!(false)
        )
    );
    assert_eq!(
        (&message["summary"], &message["task_id"], message.get("reply_to")),
        (&json!("Hello"), &json!("t1"), None)
    );
    let reply = json!({ "to": ["lead"], "message": "Hello to you", "reply_to": message["id"] });
    api.does_in_team("bob/one", "/api/messages", reply).await;
    let replied = api.does_in_team("ann/lead", "/api/messages/read", json!({})).await;
    assert_eq!(replied["messages"][0]["reply_to"], message["id"]);
    assert_eq!(
        (texts(&read(json!({})).await), &first["unread"]),
        (vec!["Hello\nthere"], &json!(1))
    );
    let after = read(json!({ "cursor": first["cursor"] })).await;
    assert_eq!(
        (texts(&after), &after["unread"], &after["timed_out"]),
        (vec![], &json!(0), &json!(false))
    );
    assert_eq!(texts(&read(json!({})).await), [""; 0]);
    let ahead = api
        .sends("bob/one", "/api/messages/read", json!({ "cursor": 99 }))
        .await;
    assert_eq!((error(&ahead).0, error(&ahead).1.as_str()), (409, "CURSOR_AHEAD"));
}

#[tokio::test]
async fn the_history_lists_the_members_that_have_not_read() {
    let api = Api::with_team().await;
    for (to, text) in [("one", "a"), ("broadcast", "b"), ("two", "c")] {
        api.does_in_team("ann/lead", "/api/messages", json!({ "to": [to], "message": text }))
            .await;
    }
    api.does_in_team("bob/one", "/api/messages/read", json!({ "cursor": 2 }))
        .await;
    let history = async |query: &str| api.shows("eve", "/api/messages", &format!("&team=alpha{query}")).await;
    let all = history("").await;
    assert_eq!(texts(&all), ["c", "b", "a"]);
    let unread: Vec<_> = all["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["unread_by"].clone())
        .collect();
    assert_eq!(unread, [json!(["two"]), json!(["two"]), Value::Null]);
    assert_eq!(all["messages"][0]["unread_count"], json!(1));
    assert_eq!(texts(&history("&member=one").await), ["b", "a"]);
    let page = history("&limit=2").await;
    assert_eq!((texts(&page), &page["earlier"]), (vec!["c", "b"], &json!(2)));
    let last = history("&limit=2&before=2").await;
    assert_eq!((texts(&last), &last["earlier"]), (vec!["a"], &Value::Null));
    let reads = api.does_in_team("bob/two", "/api/messages/read", json!({})).await;
    assert_eq!(texts(&reads), ["b", "c"]);
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
        api.does_in_team("ann/lead", "/api/messages", json!({ "to": to, "message": text }))
            .await;
    }
    api.does_in_team("bob/one", "/api/messages/read", json!({ "cursor": 1 }))
        .await;
    api.does_in_team("bob/two", "/api/messages/read", json!({ "cursor": 3 }))
        .await;
    let history = async || {
        let page = api.shows("eve", "/api/messages", "&team=alpha").await;
        let messages = page["messages"].as_array().unwrap().clone();
        let about = |message: &Value| json!([message["message"], message["read"], message["unread_by"]]);
        messages.iter().map(about).collect::<Vec<_>>()
    };
    api.does_in_team("bob/one", "/api/teams/alpha/leave", json!({})).await;
    let unread = json!(["one"]);
    assert_eq!(
        history().await,
        [json!(["c", false, unread]), json!(["b", false, unread])]
    );
    // If a member leaves afterward, nothing is kept twice.
    api.does_in_team("bob/two", "/api/teams/alpha/leave", json!({})).await;
    assert_eq!(history().await.len(), 2);
}

// rule: teams#kinds
#[tokio::test]
async fn idle_goes_to_the_leader_and_is_answered_with_what_is_ready() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let idle = api
        .does_in_team("bob/one", "/api/messages", json!({ "type": "idle", "message": "" }))
        .await;
    assert_eq!(idle["ready"], json!(["t1"]));
    let inbox = api.does_in_team("ann/lead", "/api/messages/read", json!({})).await;
    assert_eq!(
        (&inbox["messages"][0]["type"], &inbox["messages"][0]["from"]),
        (&json!("idle"), &json!("one"))
    );
}

// rule: teams#kinds
#[tokio::test]
async fn an_unsendable_header_is_refused() {
    let api = Api::with_team().await;
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
        (
            json!({ "to": ["one"], "message": "x", "type": "idle" }),
            "to",
            "to must be left out",
        ),
        (
            json!({ "to": ["one"], "message": "x", "type": "nudge" }),
            "type",
            "type is not known: Invalid message type",
        ),
        (
            json!({ "to": ["one"], "message": "x", "type": "task_assignment" }),
            "type",
            "type is that of",
        ),
        (
            json!({ "to": ["one"], "message": "x", "type": "shutdown_request" }),
            "type",
            "type is that of",
        ),
        (
            json!({ "to": ["one"], "message": "x", "type": "shutdown_approved" }),
            "type",
            "type is that of",
        ),
        (
            json!({ "to": ["one"], "message": "x", "type": "shutdown_rejected" }),
            "type",
            "type is that of",
        ),
        (
            json!({ "to": ["one"], "message": "x".repeat(16_385) }),
            "message",
            "message has more than",
        ),
        (
            json!({ "to": ["one"], "message": "a\u{202e}b" }),
            "message",
            "message has invisible",
        ),
        (
            json!({ "to": ["one"], "message": "x", "task_id": "../t1" }),
            "task_id",
            "task_id ",
        ),
    ] {
        let refused = api.sends("ann/lead", "/api/messages", sent).await;
        let (status, _, sentence) = error(&refused);
        assert_eq!((status, &refused.json()["field"]), (400, &json!(field)), "{sentence}");
        assert!(sentence.starts_with(message), "{sentence}");
    }
    let nobody = api
        .sends(
            "ann/lead",
            "/api/messages",
            json!({ "to": ["one", "zoe"], "message": "x" }),
        )
        .await;
    assert_eq!(
        error(&nobody),
        (
            409,
            "UNKNOWN_RECIPIENT".to_owned(),
            "Recipient \"zoe\" is not a member of team \"alpha\"".to_owned()
        )
    );
    assert_eq!(
        texts(&api.does_in_team("bob/one", "/api/messages/read", json!({})).await),
        [""; 0]
    );
}

// rule: teams#inbox
#[tokio::test]
async fn a_message_to_a_full_inbox_is_refused_with_inbox_full_and_wait() {
    let api = Api::with_team().await;
    // As if 1,000 had come that it has not read: see the order of the counts in the scripts.
    let members = coord_teams_state::teams::keys::members(&repo());
    let sent = json!({ "to": ["one"], "message": "x" });
    api.does_in_team("ann/lead", "/api/messages", sent.clone()).await;
    let Some(StoreValue::Bulk(counts)) = api.command(["HGET", &members, "alpha/one"]).await else {
        panic!("no counts of the inbox");
    };
    let counts = String::from_utf8(counts).unwrap();
    assert_eq!(counts.split(' ').filter(|count| *count == "1").count(), 2, "{counts}");
    let full = counts.replacen('1', "1000", 1);
    api.command(["HSET", &members, "alpha/one", &full]).await;
    let refused = api.sends("ann/lead", "/api/messages", sent).await;
    let (status, code, sentence) = error(&refused);
    assert_eq!((status, code.as_str()), (409, "INBOX_FULL"), "{counts} {sentence}");
    assert_eq!(refused.json()["orchestration"]["action"], json!("WAIT"));
    assert!(
        sentence.starts_with("The inbox of \"one\" has 1000 unread messages"),
        "{sentence}"
    );
}

#[tokio::test]
async fn of_many_that_have_not_read_a_message_some_are_named() {
    let api = Api::with_team().await;
    for number in 0..30 {
        api.does_in_team(&format!("zoe/z{number}"), "/api/teams/alpha/join", json!({}))
            .await;
    }
    api.does_in_team(
        "ann/lead",
        "/api/messages",
        json!({ "to": ["broadcast"], "message": "x" }),
    )
    .await;
    let history = api.shows("eve", "/api/messages", "&team=alpha").await;
    let message = &history["messages"][0];
    assert_eq!(
        (message["unread_by"].as_array().unwrap().len(), &message["unread_count"]),
        (20, &json!(32))
    );
}
