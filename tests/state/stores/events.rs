//! Every change is one event, in the log and on the channel, with the same content.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use bytes::Bytes;
use coord_domain::LockMode::{Reading, Writing};
use coord_protocol::event::EXAMPLES;
use coord_sources::Reachable;
use coord_state as state;
use coord_state::locks::{BrokenInterfacePromise, announce_interface_changes};
use coord_state::sweep::sweep;
use coord_store::Request;
use coord_teams_state::tasks::{NewTask, TaskReference};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value as Json, json};

use crate::world::team::titled;
use crate::world::{HEAD, NEXT, World, files, pairs, sha};

async fn logged_events_are_published_in_order_with_their_ids(world: World) {
    let mut channel = subscribe(&world).await;
    let (ann, bob) = (world.agent("ann/one"), world.agent("bob"));
    world.records_head(HEAD, &[]).await;
    ann.writes(&["a.ts", "b.ts"]).await;
    ann.writes(&["a.ts"]).await;
    bob.is_refused(Writing, &["b.ts"]).await;
    bob.reads(&["c.ts"]).await;
    ann.release(Some(HEAD), Reachable::Yes, &["a.ts"]).await;
    ann.release(Some(NEXT), Reachable::Yes, &["a.ts"]).await;
    world.expire_locks(&["b.ts"]).await;
    sweep(&*world.store, &world.repo, 10).await.unwrap();

    let log = world.events().await;
    let types: Vec<_> = log.iter().map(|(_, event)| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types.join(" "),
        "head_moved lock_granted lock_renewed lock_refused lock_granted lock_refused lock_released lock_expired"
    );
    let mut ids: Vec<(u64, u64)> = Vec::new();
    for (id, mut event) in log {
        event["id"] = id.as_str().into();
        assert_eq!(next_event(&mut channel, &event).await, event);
        let (time, number) = id.split_once('-').unwrap();
        ids.push((time.parse().unwrap(), number.parse().unwrap()));
    }
    assert!(ids.is_sorted(), "{ids:?}");
}

/// The next event that is published on a channel, where `awaited` must still come.
async fn next_event(channel: &mut BoxStream<'static, Bytes>, awaited: &impl Debug) -> Json {
    let next = tokio::time::timeout(Duration::from_secs(20), channel.next()).await;
    let message = next.unwrap_or_else(|_| panic!("no script publishes {awaited:?}"));
    serde_json::from_slice(&message.unwrap()).unwrap()
}

async fn subscribe(world: &World) -> BoxStream<'static, Bytes> {
    let channel = state::events::keys::events(&world.repo);
    world.store.subscribe(&channel).await.unwrap()
}

async fn every_type_of_event_is_published(world: World) {
    let mut channel = subscribe(&world).await;
    let ann = world.agent("ann");
    world.records_head(HEAD, &[]).await;
    ann.writes(&["a.ts", "b.ts"]).await;
    ann.writes(&["a.ts"]).await;
    world.agent("bob").is_refused(Writing, &["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    world.expire_locks(&["b.ts"]).await;
    sweep(&*world.store, &world.repo, 10).await.unwrap();
    world.lease("one", HEAD).await;
    world.report("one", 4).await;
    world.publish("one", HEAD, 0, 0).await;
    for id in ["one", "two"] {
        ann.writes_intent(id).await;
    }
    ann.selects("one").await;
    ann.allows("one", "two").await;
    ann.takes("one", &["c.ts"]).await;
    let broken = BrokenInterfacePromise {
        path: "c.ts".to_owned(),
        names: Vec::new(),
    };
    announce_interface_changes(&*world.store, &ann.entry(&[sha(HEAD)]), &[broken])
        .await
        .unwrap();
    world.appends(1, 600).await;
    world.seals(256).await;
    a_team_works_to_its_end(&world).await;

    let described: Vec<Json> = serde_json::from_str(EXAMPLES).unwrap();
    let mut missing: BTreeSet<&str> = described.iter().map(|event| event["type"].as_str().unwrap()).collect();
    while !missing.is_empty() {
        let event = next_event(&mut channel, &missing).await;
        missing.remove(event["type"].as_str().unwrap());
    }
}

async fn a_team_works_to_its_end(world: &World) {
    let (lead, [worker]) = world.team_of(["worker"]).await;
    let second = NewTask {
        dependencies: vec![TaskReference::New(0)],
        ..titled("second")
    };
    lead.adds(&[titled("first"), second, titled("third")]).await.unwrap();
    lead.assigns("t3", Some("worker")).await.unwrap();
    worker.claims("t1").await.unwrap();
    worker.completes("t1").await.unwrap();
    worker.claims("t2").await.unwrap();
    worker.expire_claim("t2").await;
    lead.claims("t2").await.unwrap();
    lead.releases("t2", "Another agent may go on").await.unwrap();
    lead.deletes("t3", false).await.unwrap();
    lead.sends_text(&["worker"], "That is all").await.unwrap();
    lead.requests_shutdown(None, 60).await.unwrap();
}

async fn an_event_has_its_holder_files_branch_and_reason(world: World) {
    world
        .agent("ann/one")
        .with_message("Splitting the lexer from the parser")
        .for_seconds(120)
        .writes(&["a.ts", "b.ts"])
        .await;
    let (_, event) = world.events().await.remove(0);
    let (time, time_ms) = (event["time"].as_i64().unwrap(), event["time_ms"].as_i64().unwrap());
    assert_eq!(time, time_ms / 1000);
    let expiry_ms = time_ms + 120_000;
    assert_eq!(event["token"], world.stored("a.ts").await[0].token);
    assert_eq!(
        event,
        json!({
            "type": "lock_granted", "user": "ann", "user_name": "ann's name", "agent_id": "one", "branch": "main",
            "files": ["a.ts", "b.ts"], "file_count": 2, "status": "WRITING", "message": "Splitting the lexer from the parser",
            "token": event["token"], "time": time, "time_ms": time_ms, "expiry": expiry_ms / 1000, "expiry_ms": expiry_ms,
        })
    );
    world.agent("bob").is_refused(Reading, &["b.ts", "c.ts"]).await;
    let event = world.last_event().await;
    assert_eq!(
        event,
        json!({
            "type": "lock_refused", "user": "bob", "user_name": "bob's name", "branch": "main", "files": ["b.ts", "c.ts"],
            "file_count": 2, "status": "READING", "message": "What bob does and why", "reason": "CONFLICT",
            "conflicts": ["b.ts"], "conflict_count": 1, "time": event["time"], "time_ms": event["time_ms"],
        })
    );
}

async fn a_claim_that_grants_and_renews_is_two_events(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    ann.writes(&["a.ts", "c.ts", "b.ts", "d.ts"]).await;
    assert_eq!(
        world.events_since(1).await,
        ["lock_granted ann c.ts d.ts", "lock_renewed ann a.ts b.ts"]
    );
}

async fn the_log_keeps_ten_thousand_events_at_most(world: World) {
    let key = state::events::keys::status_log(&world.repo);
    let add = || Request::command(["XADD", &key, "*", "event", "{\"type\":\"old\"}"]);
    for _ in 0..11 {
        world.store.run((0..1000).map(|_| add()).collect()).await.unwrap();
    }
    world.agent("ann").writes(&["a.ts"]).await;
    let events = world.events().await;
    assert_eq!(events.len(), 8_750, "the oldest eighth made room");
    assert_eq!(events[8_749].1["type"], "lock_granted");
}

/// Of a path that is longer than an event has room for, the count alone tells.
async fn an_event_names_twenty_files_of_one_kib_and_counts_all(world: World) {
    let (many, long) = (files("many", 512), files(&["deep"; 100].join("/"), 3));
    let longest = "long".repeat(1024);
    let ann = world.agent("ann");
    let wordy = world.agent("cid").with_message(&"\u{1f600}".repeat(500));
    let bob = world.agent("bob");
    ann.writes(&many).await;
    bob.is_refused(Writing, &many).await;
    wordy.writes(&long).await;
    wordy.writes(&[&longest]).await;
    ann.abandons(&many).await;

    let events: Vec<Json> = world.events().await.into_iter().map(|(_, event)| event).collect();
    let count = |list: &Json| list.as_array().map_or(0, Vec::len);
    for (event, (named, all)) in events.iter().zip([(20, 512), (20, 512), (2, 3), (0, 1), (20, 512)]) {
        assert_eq!((count(&event["files"]), &event["file_count"]), (named, &json!(all)));
        assert!(event.to_string().len() < 6 * 1024, "{event}");
    }
    assert_eq!(events.len(), 5);
    assert_eq!(events[0]["files"][19], "many/19.ts");
    assert_eq!(count(&events[1]["conflicts"]), 20);
    assert_eq!(events[1]["conflict_count"], 512);
}

async fn a_refusal_that_repeats_is_logged_once_a_minute_with_a_count(world: World) {
    let bob = world.agent("bob");
    world.agent("ann").writes(&["a.ts"]).await;
    for _ in 0..4 {
        bob.is_refused(Writing, &["a.ts"]).await;
    }
    // Another request, or another agent, is another refusal.
    bob.is_refused(Reading, &["a.ts"]).await;
    world.agent("bob/two").is_refused(Writing, &["a.ts"]).await;
    assert_eq!(world.events_since(1).await, vec!["lock_refused bob a.ts"; 3]);

    let refusals = state::events::keys::refusals(&world.repo);
    let noted = world.command(["HGETALL", &refusals]).await;
    let mut noted = pairs(&noted);
    let (field, _) = noted.find(|(_, note)| note.as_str().unwrap().ends_with(" 3")).unwrap();
    world.command(["HSET", &refusals, &field, "1700000000 3"]).await;
    bob.is_refused(Writing, &["a.ts"]).await;
    let events = world.events().await;
    let repeated: Vec<&Json> = events.iter().map(|(_, event)| &event["repeated"]).collect();
    assert_eq!(json!(repeated), json!([null, null, null, null, 3]));
    assert!(world.number(["TTL", &refusals]).await > 0);
}

/// The memory of refusals is reset when it has become large: some are logged once more.
async fn remembered_refusals_are_bounded(world: World) {
    let refusals = state::events::keys::refusals(&world.repo);
    for number in 0..1000 {
        let field = format!("other{number}");
        world.command(["HSET", &refusals, &field, "1700000000 0"]).await;
    }
    world.agent("ann").writes(&["a.ts"]).await;
    world.agent("bob").is_refused(Writing, &["a.ts"]).await;
    assert_eq!(world.number(["HLEN", &refusals]).await, 1);
}

async fn events_of_one_repository_do_not_reach_another(world: World) {
    let other = world.beside();
    other.agent("ann").writes(&["a.ts"]).await;
    assert_eq!(world.events().await, []);
    world.agent("bob").writes(&["a.ts"]).await;
    assert_eq!(world.events().await.len(), 1);
}

on_every_store!(
    logged_events_are_published_in_order_with_their_ids,
    every_type_of_event_is_published,
    an_event_has_its_holder_files_branch_and_reason,
    a_claim_that_grants_and_renews_is_two_events,
    the_log_keeps_ten_thousand_events_at_most,
    an_event_names_twenty_files_of_one_kib_and_counts_all,
    a_refusal_that_repeats_is_logged_once_a_minute_with_a_count,
    remembered_refusals_are_bounded,
    events_of_one_repository_do_not_reach_another,
);
