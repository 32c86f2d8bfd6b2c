//! A holder that does anything else waits for nothing any more.

use coord_domain::LockMode::{Reading, Writing};

use super::{row, waits};
use crate::stores::ledger::record::end;
use crate::stores::ledger::{HASH, change};
use coord_state::locks::ClaimOutcome;

use crate::world::{NEXT, World};

/// ann writes a.ts; bob, who holds h.ts, waits for it and for b.ts, and eve after him for a.ts.
async fn bob_waits(world: &World) {
    world.agent("bob").writes(&["h.ts"]).await;
    world.agent("ann").writes(&["a.ts"]).await;
    waits(&world.agent("bob"), Writing, &["a.ts", "b.ts"]).await;
    waits(&world.agent("eve"), Writing, &["a.ts"]).await;
    assert_eq!(row(world).await, ["bob", "eve"]);
}

// rule: locks#giving-up-a-ticket
async fn a_claim_of_other_files_withdraws_the_ticket(world: World) {
    bob_waits(&world).await;
    let bob = world.agent("bob");
    bob.writes(&["c.ts"]).await;
    assert_eq!(row(&world).await, ["eve"]);
    // A refused one as well: its ticket takes the place of the other.
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    world.agent("joe").writes(&["d.ts"]).await;
    waits(&bob, Writing, &["d.ts"]).await;
    assert_eq!(row(&world).await, ["eve", "bob"]);
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    bob.reads(&["e.ts"]).await;
    assert_eq!(row(&world).await, ["eve"], "to read is to go elsewhere, too");
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    let behind = bob.clone().while_branch_is_at(NEXT).claim(Writing, &["f.ts"]).await;
    assert!(matches!(behind, ClaimOutcome::Stale(_)), "{behind:?}");
    assert_eq!(row(&world).await, ["eve"], "and a claim from behind the branch");
}

async fn a_claim_of_held_files_or_of_a_part_is_no_other_one(world: World) {
    bob_waits(&world).await;
    let bob = world.agent("bob");
    bob.writes(&["h.ts"]).await;
    bob.reads(&["h.ts"]).await;
    bob.writes(&["b.ts"]).await;
    bob.writes(&["b.ts", "h.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "eve"]);
    world.agent("ann").abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!", "eve"], "bob has the rest of his files");
    bob.writes(&["a.ts", "b.ts"]).await;
}

async fn a_check_of_other_files_withdraws_the_ticket(world: World) {
    bob_waits(&world).await;
    let bob = world.agent("bob");
    bob.checks(Writing, &["a.ts"]).await;
    bob.checks(Reading, &["a.ts", "b.ts", "h.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "eve"], "these he waits for, or has");
    world.agent("bob/two").checks(Writing, &["c.ts"]).await;
    bob.clone().on_branch("other").checks(Writing, &["c.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "eve"], "another agent, and another branch");
    bob.checks(Reading, &["c.ts"]).await;
    assert_eq!(row(&world).await, ["eve"]);
}

async fn a_reservation_that_is_withdrawn_is_the_next_ones(world: World) {
    bob_waits(&world).await;
    world.agent("ann").abandons(&["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob!", "eve"]);
    world.agent("bob").checks(Writing, &["c.ts"]).await;
    assert_eq!(row(&world).await, ["eve!"]);
    world.agent("joe").writes(&["b.ts"]).await;
    world.agent("eve").writes(&["a.ts"]).await;
}

async fn a_release_withdraws_all_tickets_of_the_branch(world: World) {
    bob_waits(&world).await;
    let bob = world.agent("bob");
    waits(&bob, Writing, &["a.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "eve", "bob"]);
    bob.clone().on_branch("other").abandons(&["h.ts"]).await;
    assert_eq!(row(&world).await, ["bob", "eve", "bob"]);
    bob.abandons(&["h.ts"]).await;
    assert_eq!(row(&world).await, ["eve"]);
    // A release of files that are not held does the same.
    waits(&bob, Writing, &["a.ts"]).await;
    const ALL: [&str; 0] = [];
    bob.abandons(&ALL).await;
    assert_eq!(row(&world).await, ["eve"]);
}

async fn a_recorded_change_of_another_file_or_the_end_of_the_session_withdraws_the_ticket(world: World) {
    bob_waits(&world).await;
    let bob = world.agent("bob");
    bob.records(&[change("t1", "h.ts", HASH, None), change("t2", "a.ts", HASH, None)])
        .await;
    assert_eq!(row(&world).await, ["bob", "eve"]);
    bob.records(&[change("t3", "c.ts", HASH, None)]).await;
    assert_eq!(row(&world).await, ["eve"]);
    waits(&bob, Writing, &["a.ts", "b.ts"]).await;
    bob.records(&[end("t4")]).await;
    assert_eq!(row(&world).await, ["eve"]);
}

on_every_store! {
    a_claim_of_other_files_withdraws_the_ticket,
    a_claim_of_held_files_or_of_a_part_is_no_other_one,
    a_check_of_other_files_withdraws_the_ticket,
    a_reservation_that_is_withdrawn_is_the_next_ones,
    a_release_withdraws_all_tickets_of_the_branch,
    a_recorded_change_of_another_file_or_the_end_of_the_session_withdraws_the_ticket,
}
