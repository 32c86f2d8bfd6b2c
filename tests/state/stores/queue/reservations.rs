//! Free files are granted, whoever waits for them; a release that frees all files of a ticket reserves them.

use coord_domain::LockMode::{Reading, Writing};
use coord_state::locks::{Finding, Relation};
use serde_json::json;

use super::{pass, place, queued, row, tickets, waits};
use crate::world::{Agent, World, in_short};

// rule: locks#free-files-stay-free
async fn a_claim_of_free_files_is_granted_despite_a_queued_claim(world: World) {
    let [ann, bob, eve, joe] = ["ann", "bob", "eve", "joe"].map(|name| world.agent(name));
    ann.writes(&["a.ts"]).await;
    assert_eq!(queued(&bob, Writing, &["a.ts", "b.ts"]).await, "1: DIRECT! a.ts ann");
    // Whether to read or to write; and however often ann renews, and bob asks.
    for _ in 0..3 {
        eve.writes(&["b.ts"]).await;
        ann.writes(&["a.ts"]).await;
        waits(&bob, Writing, &["a.ts", "b.ts"]).await;
        eve.abandons(&["b.ts"]).await;
        assert_eq!(row(&world).await, ["bob"], "b.ts alone is not reserved");
        joe.reads(&["b.ts"]).await;
        joe.abandons(&["b.ts"]).await;
    }
    // A claim of locked and free files names the locked ones alone.
    assert_eq!(queued(&eve, Writing, &["a.ts", "b.ts"]).await, "2: DIRECT! a.ts ann");
}

// rule: locks#reservation
async fn a_release_reserves_the_files_for_the_oldest_ticket_that_has_all(world: World) {
    let [ann, bob, eve, joe] = ["ann", "bob", "eve", "joe"].map(|name| world.agent(name));
    ann.writes(&["a.ts"]).await;
    joe.writes(&["b.ts"]).await;
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    waits(&eve, Writing, &["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "eve!"], "bob would have one of two");
    let of_bob = queued(&bob, Writing, &["a.ts", "b.ts"]).await;
    assert_eq!(of_bob, "2: DIRECT! b.ts joe, RESERVED! a.ts eve");
    eve.writes(&["a.ts"]).await;
    joe.abandons(&["b.ts"]).await;
    assert_eq!(row(&world).await, ["bob"]);
    waits(&joe, Writing, &["a.ts"]).await;
    eve.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!", "joe"]);
    // Of a reservation all files are kept.
    assert_eq!(queued(&eve, Writing, &["b.ts"]).await, "2: RESERVED! b.ts bob");
    bob.writes(&["a.ts", "b.ts"]).await;
    bob.abandons(&["a.ts", "b.ts"]).await;
    assert_eq!(row(&world).await, ["joe!", "eve!"]);
}

async fn a_reservation_is_an_event(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob/one"));
    ann.writes(&["a.ts", "b.ts"]).await;
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    let ticket = tickets(&world).await[0]["id"].clone();
    ann.abandons(&["a.ts"]).await;
    ann.abandons(&["b.ts"]).await;
    let reserved = world.events_of_type("lock_reserved").await;
    let [event] = &reserved[..] else { panic!("{reserved:?}") };
    assert_eq!(
        (&event["user"], &event["agent_id"], &event["ticket"], &event["files"]),
        (&json!("bob"), &json!("one"), &ticket, &json!(["a.ts", "b.ts"]))
    );
    let until = event["expiry_ms"].as_i64().unwrap() - event["time_ms"].as_i64().unwrap();
    assert_eq!(until, 20_000);
    assert_eq!(world.events().await.last().unwrap().1, *event, "it follows the release");
}

// rule: locks#reservation
async fn a_reservation_ends_after_20_seconds_and_the_next_one_is_first(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    waits(&eve, Writing, &["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    pass(&world, 19).await;
    let survey = eve.is_refused(Writing, &["a.ts"]).await;
    let (finding, now) = (&survey.findings[0], survey.now);
    assert!((now..=now + 2).contains(&finding.entry.expiry), "{finding:?} at {now}");
    pass(&world, 2).await;
    // Nobody else has looked: the next claim of the file finds that it is eve's turn.
    assert_eq!(queued(&bob, Writing, &["a.ts"]).await, "2: RESERVED! a.ts eve");
    assert_eq!(row(&world).await, ["eve!", "bob"]);
    eve.writes(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob"], "who came too late is at the end");
}

async fn an_expiry_reserves_as_a_release_does(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts", "c.ts"]).await;
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    world.expire_locks(&["a.ts", "c.ts"]).await;
    eve.writes(&["c.ts"]).await;
    // Bob's turn came with the end of the lock.
    assert_eq!(waits(&eve, Writing, &["a.ts"]).await.1, ["RESERVED! a.ts bob"]);
    bob.writes(&["a.ts", "b.ts"]).await;
}

async fn readers_overtake_a_waiting_writer_and_a_reservation_stops_them(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.reads(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    eve.reads(&["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob"]);
    eve.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    assert_eq!(queued(&eve, Reading, &["a.ts"]).await, "2: RESERVED! a.ts bob");
    bob.writes(&["a.ts"]).await;
    bob.abandons(&["a.ts"]).await;
    // Readers do not wait for readers.
    assert_eq!(row(&world).await, ["eve!"]);
    ann.reads(&["a.ts"]).await;
    eve.reads(&["a.ts"]).await;
}

async fn a_renewal_is_granted_beside_a_reservation(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.reads(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    ann.reads(&["a.ts"]).await;
    ann.writes(&["a.ts"]).await;
    ann.writes(&["a.ts"]).await;
    ann.reads(&["a.ts"]).await;
    assert_eq!(in_short(&ann.checks(Writing, &["a.ts"]).await.findings), [""; 0]);
    // A claim with another file renews what is held, and waits for the rest alone.
    eve.writes(&["e.ts"]).await;
    waits(&bob, Writing, &["e.ts", "f.ts"]).await;
    eve.writes(&["e.ts", "f.ts"]).await;
}

// rule: locks#waiting
async fn a_check_shows_waiting_and_reserved_and_when_the_lock_behind_it_ends(world: World) {
    let (ann, bob, eve) = (
        world.agent("ann").for_seconds(120),
        world.agent("bob"),
        world.agent("eve"),
    );
    let lock = ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    let found = eve.checks(Writing, &["a.ts", "b.ts"]).await;
    assert_eq!(in_short(&found.findings), ["DIRECT! a.ts ann", "WAITING b.ts bob"]);
    let is_waiting = |finding: &&Finding| finding.relation == Relation::Waiting;
    let waiting = &found.findings.iter().find(is_waiting).unwrap().entry;
    assert_eq!(waiting.expiry, lock.own[0].expiry, "that of ann's lock");
    assert_eq!(waiting.status, Writing);
    let checks = async |agent: &Agent<'_>, mode, paths: &[&str]| in_short(&agent.checks(mode, paths).await.findings);
    // Reading beside a waiting reader is not waited for.
    assert_eq!(checks(&eve, Reading, &["b.ts"]).await, ["WAITING b.ts bob"]);
    assert_eq!(checks(&bob, Writing, &["a.ts", "b.ts"]).await, ["DIRECT! a.ts ann"]);
    assert_eq!(in_short(&eve.writes(&["b.ts"]).await.findings), [""; 0]);
    eve.abandons(&["b.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    // A check says what a claim would, and takes no place.
    for agent in [&ann, &eve] {
        let found = agent.checks(Writing, &["b.ts"]).await;
        assert_eq!(in_short(&found.findings), ["RESERVED! b.ts bob"]);
        let left = found.findings[0].entry.expiry - found.now;
        assert!((18..=20).contains(&left), "{left}");
        assert_eq!(checks(agent, Reading, &["b.ts"]).await, ["RESERVED! b.ts bob"]);
    }
    assert_eq!(checks(&bob, Writing, &["a.ts", "b.ts"]).await, [""; 0]);
    assert_eq!(row(&world).await, ["bob!"]);
}

// rule: locks#who-waits-for-a-ticket
async fn no_claim_waits_for_a_shared_file(world: World) {
    world.store_policy("shared = [\"s.lock\"]").await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts", "s.lock"]).await;
    for _ in 0..2 {
        let of_bob = queued(&bob, Writing, &["a.ts", "s.lock"]).await;
        assert_eq!(of_bob, "1: DIRECT s.lock ann, DIRECT! a.ts ann");
    }
    eve.writes(&["s.lock"]).await;
    eve.abandons(&["s.lock"]).await;
    // It is no part of what bob waits for.
    ann.abandons(&["s.lock"]).await;
    assert_eq!(row(&world).await, ["bob"]);
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    let of_eve = queued(&eve, Writing, &["a.ts", "s.lock"]).await;
    assert_eq!(of_eve, "2: RESERVED! a.ts bob");
    bob.writes(&["a.ts", "s.lock"]).await;
    assert_eq!(row(&world).await, ["eve"]);
    // A file that is shared from now on has no queue.
    world.store_policy("shared = [\"a.ts\", \"s.lock\"]").await;
    world.agent("joe").writes(&["a.ts"]).await;
    eve.writes(&["a.ts", "s.lock"]).await;
    assert_eq!(row(&world).await, [""; 0]);
}

async fn a_queue_position_names_the_claims_before_it(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts", "c.ts"]).await;
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    let survey = eve.is_refused(Writing, &["b.ts", "c.ts"]).await;
    assert_eq!(place(&survey).position, 2);
    assert_eq!(place(&survey).before[0].user, "bob");
    assert_eq!(in_short(&survey.findings), ["DIRECT! c.ts ann"]);
}

on_every_store! {
    a_claim_of_free_files_is_granted_despite_a_queued_claim,
    a_release_reserves_the_files_for_the_oldest_ticket_that_has_all,
    a_reservation_is_an_event,
    a_reservation_ends_after_20_seconds_and_the_next_one_is_first,
    an_expiry_reserves_as_a_release_does,
    readers_overtake_a_waiting_writer_and_a_reservation_stops_them,
    a_renewal_is_granted_beside_a_reservation,
    a_check_shows_waiting_and_reserved_and_when_the_lock_behind_it_ends,
    no_claim_waits_for_a_shared_file,
    a_queue_position_names_the_claims_before_it,
}
