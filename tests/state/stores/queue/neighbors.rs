//! Tickets and neighbors of their files.

use coord_domain::LockMode::Writing;
use coord_domain::NeighborPolicy;
use coord_protocol::InterfacePromise;
use serde_json::{Value as Json, json};

use super::{queued, row, tickets, waits};
use crate::stores::neighbors::store_graph;
use crate::world::{Agent, World, in_short};

async fn a_neighbor_that_blocked_is_held_back_by_the_reservation(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts", "c.ts"])]).await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["b.ts"]).await;
    waits(&bob, Writing, &["a.ts"]).await;
    ann.abandons(&["b.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    // The next one to write it would keep bob out again.
    assert_eq!(queued(&eve, Writing, &["b.ts"]).await, "2: RESERVED! b.ts bob");
    // Reading it keeps nobody out.
    eve.reads(&["b.ts"]).await;
    bob.writes(&["a.ts"]).await;
}

/// A caller that keeps the interfaces of its files.
fn keeping<'w>(agent: &Agent<'w>) -> Agent<'w> {
    Agent {
        interface: Some(InterfacePromise::Keeps),
        policy: NeighborPolicy::Interface,
        ..agent.clone()
    }
}

async fn a_claim_that_keeps_an_interface_passes_a_reservation_that_keeps_that_of_a_neighbor(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let (ann, eve) = (world.agent("ann"), world.agent("eve"));
    let bob = keeping(&world.agent("bob"));
    ann.writes(&["a.ts"]).await;
    assert_eq!(queued(&bob, Writing, &["b.ts"]).await, "1: NEIGHBOR! a.ts ann via b.ts");
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
    assert_eq!(queued(&eve, Writing, &["a.ts"]).await, "2: RESERVED! a.ts bob");
    // Neither a claim that keeps it, nor one that no neighbor stops, keeps bob from his file.
    keeping(&eve).writes(&["a.ts"]).await;
    eve.abandons(&["a.ts"]).await;
    for policy in [NeighborPolicy::Warn, NeighborPolicy::Off] {
        let mut joe = world.agent("joe");
        joe.policy = policy;
        joe.writes(&["a.ts"]).await;
        joe.abandons(&["a.ts"]).await;
    }
    bob.writes(&["b.ts"]).await;
    assert_eq!(row(&world).await, [""; 0]);
    bob.abandons(&["b.ts"]).await;
    // Between tickets it is the same.
    ann.writes(&["a.ts"]).await;
    waits(&bob, Writing, &["b.ts"]).await;
    waits(&keeping(&eve), Writing, &["a.ts"]).await;
    waits(&world.agent("joe"), Writing, &["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!", "eve!", "joe"]);
    keeping(&eve).writes(&["a.ts"]).await;
    bob.writes(&["b.ts"]).await;
}

async fn neighbors_of_a_ticket_are_forgotten_where_they_block_no_longer(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts"])]).await;
    let (ann, mut bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "c.ts"]).await;
    waits(&bob, Writing, &["b.ts", "c.ts"]).await;
    assert_eq!(tickets(&world).await[0]["near"], json!(["a.ts"]));
    bob.policy = NeighborPolicy::Off;
    waits(&bob, Writing, &["b.ts", "c.ts"]).await;
    assert_eq!(tickets(&world).await[0]["near"], Json::Null);
    ann.abandons(&["c.ts"]).await;
    assert_eq!(row(&world).await, ["bob!"]);
}

async fn a_check_of_a_neighbor_that_blocked_a_ticket_lists_waiting(world: World) {
    store_graph(&world, &[("a.ts", &["b.ts", "c.ts"])]).await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["b.ts", "d.ts"]).await;
    waits(&bob, Writing, &["a.ts", "d.ts"]).await;
    ann.abandons(&["b.ts"]).await;
    let found = eve.checks(Writing, &["b.ts"]).await.findings;
    assert_eq!(in_short(&found), ["WAITING b.ts bob"]);
    eve.writes(&["b.ts"]).await;
}

on_every_store! {
    a_neighbor_that_blocked_is_held_back_by_the_reservation,
    a_claim_that_keeps_an_interface_passes_a_reservation_that_keeps_that_of_a_neighbor,
    neighbors_of_a_ticket_are_forgotten_where_they_block_no_longer,
    a_check_of_a_neighbor_that_blocked_a_ticket_lists_waiting,
}
