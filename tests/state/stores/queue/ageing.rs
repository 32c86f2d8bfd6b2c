//! A ticket that was overtaken for too long holds its files back from later claims.

use coord_domain::LockMode::{Reading, Writing};
use coord_state::locks::keys;
use serde_json::Value as Json;

use super::{pass, queued, row, waits};
use crate::world::{Agent, World, in_short};

/// `agent` claims the files again and again, for so many seconds.
async fn insists(agent: &Agent<'_>, paths: &[&str], seconds: i64) {
    const EACH: i64 = 9;
    for _ in 0..seconds / EACH {
        pass(agent.world, EACH).await;
        waits(agent, Writing, paths).await;
    }
}

/// bob has waited for a.ts, which ann had, and for b.ts, which eve claimed meanwhile; ann has released hers.
async fn bob_is_overtaken<'w>(world: &'w World) -> [Agent<'w>; 4] {
    let agents = ["ann", "bob", "eve", "joe"].map(|name| world.agent(name));
    let [ann, bob, eve, _] = &agents;
    ann.writes(&["a.ts"]).await;
    waits(bob, Writing, &FILES).await;
    pass(world, 2).await;
    eve.writes(&["b.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    agents
}

const FILES: [&str; 2] = ["a.ts", "b.ts"];

/// The finding that blocks a claim of a.ts while bob's ticket holds that file back.
const HELD_BACK: [&str; 1] = ["RESERVED! a.ts bob"];

/// Claims a file, and releases it.
async fn uses(agent: &Agent<'_>, path: &str) {
    agent.writes(&[path]).await;
    agent.abandons(&[path]).await;
}

// rule: locks#patience
async fn a_ticket_that_was_overtaken_for_180_seconds_holds_its_files_back(world: World) {
    let [_, bob, eve, joe] = bob_is_overtaken(&world).await;
    insists(&bob, &FILES, 180).await;
    uses(&joe, "a.ts").await;
    insists(&bob, &FILES, 18).await;
    assert_eq!(queued(&joe, Writing, &["a.ts"]).await, "2: RESERVED! a.ts bob");
    assert_eq!(waits(&joe, Reading, &["a.ts"]).await.1, HELD_BACK);
    let found = joe.checks(Writing, &["a.ts"]).await;
    assert_eq!(in_short(&found.findings), HELD_BACK);
    let lock = &world.stored("b.ts").await[0];
    assert_eq!(found.findings[0].entry.expiry, lock.expiry, "bob waits for eve's lock");
    // Nothing but its files.
    joe.writes(&["c.ts"]).await;
    assert_eq!(queued(&bob, Writing, &FILES).await, "1: DIRECT! b.ts eve");
    eve.abandons(&["b.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    bob.writes(&FILES).await;
}

async fn a_ticket_before_it_does_not_wait_for_it(world: World) {
    let [ann, max, bob, eve] = ["ann", "max", "bob", "eve"].map(|name| world.agent(name));
    ann.writes(&["a.ts"]).await;
    waits(&max, Writing, &["a.ts"]).await;
    waits(&bob, Writing, &FILES).await;
    pass(&world, 2).await;
    eve.writes(&["b.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    uses(&max, "a.ts").await;
    insists(&bob, &FILES, 258).await;
    assert_eq!(row(&world).await, ["bob"]);
    assert_eq!(waits(&max, Writing, &["a.ts"]).await.1, HELD_BACK);
}

async fn a_ticket_ages_only_while_its_claim_is_repeated_without_a_pause(world: World) {
    let [_, mut bob, _, joe] = bob_is_overtaken(&world).await;
    insists(&bob, &FILES, 258).await;
    // Eleven seconds of silence, and its files are free; then it begins anew.
    pass(&world, 11).await;
    uses(&joe, "a.ts").await;
    insists(&bob, &FILES, 180).await;
    uses(&joe, "a.ts").await;
    insists(&bob, &FILES, 18).await;
    assert_eq!(waits(&joe, Writing, &["a.ts"]).await.1, HELD_BACK);
    // A claim that the server makes again asks all the time.
    bob.wait = 20;
    waits(&bob, Writing, &FILES).await;
    pass(&world, 29).await;
    assert_eq!(waits(&joe, Writing, &["a.ts"]).await.1, HELD_BACK);
    pass(&world, 2).await;
    joe.writes(&["a.ts"]).await;
}

/// The lock on the file was granted so many seconds earlier.
async fn held_for(world: &World, path: &str, seconds: i64) {
    let edit = |locks: &mut Json| {
        let granted_at = locks[0]["granted_at"].as_i64().unwrap();
        locks[0]["granted_at"] = (granted_at - seconds).into();
    };
    world.edit_json(&keys::locks(&world.repo), path, edit).await;
}

async fn a_lock_from_before_the_ticket_overtakes_no_ticket(world: World) {
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| world.agent(name));
    ann.writes(&["a.ts"]).await;
    held_for(&world, "a.ts", 280).await;
    waits(&bob, Writing, &FILES).await;
    insists(&bob, &FILES, 252).await;
    // Holding b.ts back would not help bob as long as ann writes.
    uses(&eve, "b.ts").await;
}

// rule: locks#patience
async fn no_file_is_held_back_for_a_lock_of_more_than_five_minutes(world: World) {
    let [_, bob, _, joe] = bob_is_overtaken(&world).await;
    insists(&bob, &FILES, 310).await;
    assert_eq!(waits(&joe, Writing, &["a.ts"]).await.1, HELD_BACK);
    held_for(&world, "b.ts", 290).await;
    assert_eq!(waits(&joe, Writing, &["a.ts"]).await.1, HELD_BACK);
    held_for(&world, "b.ts", 20).await;
    joe.writes(&["a.ts"]).await;
}

async fn one_ticket_holds_a_file_back(world: World) {
    let [ann, bob, eve, joe] = bob_is_overtaken(&world).await;
    let kim = world.agent("kim");
    ann.writes(&["a.ts"]).await;
    waits(&kim, Writing, &["a.ts", "c.ts"]).await;
    pass(&world, 2).await;
    eve.writes(&["c.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    for _ in 0..30 {
        pass(&world, 9).await;
        waits(&bob, Writing, &FILES).await;
        waits(&kim, Writing, &["a.ts", "c.ts"]).await;
    }
    eve.abandons(&["c.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "kim"], "a.ts is held back from kim, too");
    joe.writes(&["c.ts"]).await;
    assert_eq!(waits(&joe, Writing, &["a.ts", "c.ts"]).await.1, HELD_BACK);
}

// rule: locks#no-rings
async fn a_holder_does_not_wait_for_a_ticket_that_waits_for_it(world: World) {
    let [ann, bob, eve, joe] = bob_is_overtaken(&world).await;
    insists(&bob, &FILES, 258).await;
    assert_eq!(waits(&joe, Writing, &["a.ts"]).await.1, HELD_BACK);
    uses(&eve, "a.ts").await;
    insists(&bob, &FILES, 9).await;
    // Nor through others: bob waits for eve, who waits for ann.
    eve.writes(&["b.ts"]).await;
    ann.writes(&["m.ts"]).await;
    waits(&bob, Writing, &FILES).await;
    eve.is_refused(Writing, &["m.ts"]).await;
    insists(&bob, &FILES, 258).await;
    eve.is_refused(Writing, &["m.ts"]).await;
    assert_eq!(waits(&joe, Writing, &["a.ts"]).await.1, HELD_BACK);
    ann.writes(&["a.ts"]).await;
}

on_every_store! {
    a_ticket_that_was_overtaken_for_180_seconds_holds_its_files_back,
    a_ticket_before_it_does_not_wait_for_it,
    a_ticket_ages_only_while_its_claim_is_repeated_without_a_pause,
    a_lock_from_before_the_ticket_overtakes_no_ticket,
    no_file_is_held_back_for_a_lock_of_more_than_five_minutes,
    one_ticket_holds_a_file_back,
    a_holder_does_not_wait_for_a_ticket_that_waits_for_it,
}
